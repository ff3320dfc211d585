#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# instructions-vm.sh: the part of instructions.sh that runs in the machine. One
# line per run: mode, depth, round, instructions per I/O.
set -eu

ios=${IOS:-300000}
modprobe null_blk nr_devices=1 queue_mode=2 irqmode=0 submit_queues=1 hw_queue_depth=64 gb=4
[ -b /dev/nullb0 ] || { echo "no /dev/nullb0" >&2; exit 1; }
echo 2 > /sys/block/nullb0/queue/nomerges

# run DEPTH: the wall clock of the guest is its count of instructions
run()
{
	fio --name=x --filename=/dev/nullb0 --direct=1 --rw=randread --bs=4k --ioengine=io_uring \
		--iodepth="$1" --iodepth_batch_submit="$1" --iodepth_batch_complete_min="$1" \
		--norandommap --randrepeat=1 --gtod_reduce=1 --number_ios="$ios" --output-format=json |
		python3 -c 'import json, sys
r = json.load(sys.stdin)["jobs"][0]["read"]
print("%.1f" % (r["runtime"] * 1e6 / r["total_ios"]))'
}

modes=${MODES:-0 1 2}
echo 2 > /sys/block/nullb0/queue/iostats 2>/dev/null || :
[ "$(cat /sys/block/nullb0/queue/iostats)" = 2 ] || modes="0 1"
for round in $(seq "${ROUNDS:-1}"); do
	for mode in $modes; do
		echo "$mode" > /sys/block/nullb0/queue/iostats
		for depth in 1 16; do
			printf '%s\t%s\t%s\t%s\n' "$mode" "$depth" "$round" "$(run $depth)"
		done
	done
done
