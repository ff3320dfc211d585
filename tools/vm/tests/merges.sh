#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Merged requests: the counts are right, nothing stays in flight, and the busy
# time does not outrun the clock; bios merged in a plug, requests in a scheduler.
# vm: -d 1
set -eu
. tools/vm/stat.sh

null_blk nullb0 size=256 queue_mode=2 irqmode=2 completion_nsec=2000000 hw_queue_depth=4 submit_queues=1
for sched in none mq-deadline kyber bfq; do
	echo $sched > /sys/block/nullb0/queue/scheduler
	for m in 1 2; do
		set_mode nullb0 $m
		read -ra a < /sys/block/nullb0/stat
		up=$(uptime_ms)
		fio --name=seq --filename=/dev/nullb0 --direct=1 --rw=write --bs=4k --size=8m \
			--ioengine=libaio --iodepth=64 --iodepth_batch=32 --numjobs=2 \
			--offset_increment=8m --output=/dev/null
		read -ra b < /sys/block/nullb0/stat
		up=$(($(uptime_ms) - up))
		n=$((b[4] - a[4])) merged=$((b[5] - a[5]))
		echo "$sched, mode $m: $n writes, $merged merged, busy $((b[9] - a[9])) of $up ms"
		expect "$sched: writes and merges" $((n + merged)) 4096
		expect "$sched: sectors" $((b[6] - a[6])) 32768
		check "$sched: something was merged" "$merged > 0"
		expect "$sched: in flight at the end" "${b[8]}" 0
		check "$sched: busy no longer than the time that passed" "${b[9]} - ${a[9]} <= $up + 10"
		# each write spends at least the device's time in the queue
		[ $m = 1 ] || check "$sched: time in queue" "${b[10]} - ${a[10]} >= $n * 1.99"
		[ $m = 1 ] || expect "$sched: time in queue is that of the writes" \
			$((b[10] - a[10] - (b[7] - a[7]) <= 1)) 1
	done
done
