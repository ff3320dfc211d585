#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A partition and its disk: the same I/Os give the same busy time and latencies;
# another partition has none; the disk is busy for as long as either is.
# vm: -d 1
set -eu
. tools/vm/stat.sh

null_blk nullb0 memory_backed=0 size=64 queue_mode=2 irqmode=2 completion_nsec=3000000 hw_queue_depth=64
need_disk nullb0
printf ',16M\n,16M\n' | sfdisk -q --no-reread /dev/nullb0 >/dev/null 2>&1 || :
# null_blk stores nothing: the partitions are added by hand
partx -q -a /dev/nullb0 2>/dev/null || :
addpart /dev/nullb0 1 2048 32768 2>/dev/null || :
addpart /dev/nullb0 2 40960 32768 2>/dev/null || :
need_disk nullb0p1
need_disk nullb0p2
set_mode nullb0 2

for f in 4 10 11; do eval "d$f=$(field nullb0 $f) p$f=$(field nullb0p1 $f)"; done
fio --name=x --filename=/dev/nullb0p1 --direct=1 --rw=randread --bs=4k --ioengine=libaio \
	--iodepth=4 --number_ios=400 --output=/dev/null
# shellcheck disable=SC2154
for f in 4 10 11; do
	eval "d=$(field nullb0 $f)-d$f p=$(field nullb0p1 $f)-p$f"
	check "field $f of the disk and its partition" "($((d))) - ($((p))) <= 2 && ($((p))) - ($((d))) <= 2"
done
check "the partition was busy" "$(field nullb0p1 10) >= 250"
expect "I/Os of the other partition" "$(field nullb0p2 1)" 0
expect "busy time of the other partition" "$(field nullb0p2 10)" 0

# both partitions at once, one after the other, and the disk itself
before=$(field nullb0 10) b1=$(field nullb0p1 10) b2=$(field nullb0p2 10)
for p in nullb0p1 nullb0p2; do
	fio --name=$p --filename=/dev/$p --direct=1 --rw=randwrite --bs=4k --ioengine=libaio \
		--iodepth=2 --rate_iops=100 --number_ios=150 --output=/dev/null &
done
wait
disk=$(($(field nullb0 10) - before)) one=$(($(field nullb0p1 10) - b1)) two=$(($(field nullb0p2 10) - b2))
check "the disk is busy when either partition is" "$disk >= $one - 1 && $disk >= $two - 1"
check "the disk is busy no longer than both" "$disk <= $one + $two + 1"
for d in nullb0 nullb0p1 nullb0p2; do
	expect "in flight on $d at the end" "$(inflight $d)" 0
done
