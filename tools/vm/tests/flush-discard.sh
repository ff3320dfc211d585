#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Flushes and discards are counted with their time, once, and make the disk busy.
# vm: -d 1
set -eu
. tools/vm/stat.sh

null_blk nullb0 size=256 memory_backed=1 discard=1 cache_size=4 queue_mode=2 irqmode=2 completion_nsec=2000000
for d in nvme0n1 nullb0; do
	for m in 1 2; do
		need_disk $d
		set_mode $d $m
		read -ra a < /sys/block/$d/stat
		for i in $(seq 7); do
			dd if=/dev/zero of=/dev/$d bs=4k count=1 seek="$i" oflag=direct conv=notrunc,fsync status=none
		done
		blkdiscard -o 1M -l 64K /dev/$d
		blkdiscard -o 2M -l 64K /dev/$d
		read -ra b < /sys/block/$d/stat
		echo "$d, mode $m: writes $((b[4] - a[4])) flushes $((b[15] - a[15])) discards $((b[11] - a[11]))"
		# a flush without data is a write of nothing as well, as it ever was
		expect "$d, mode $m: writes" $((b[4] - a[4])) 14
		expect "$d, mode $m: sectors written" $((b[6] - a[6])) 56
		expect "$d, mode $m: flushes" $((b[15] - a[15])) 7
		expect "$d, mode $m: discards" $((b[11] - a[11])) 2
		expect "$d, mode $m: sectors discarded" $((b[13] - a[13])) 256
		expect "$d, mode $m: in flight" "${b[8]}" 0
	done
done
# 7 writes and 2 discards of 2 ms one after the other; flushes take 2 ms as well
check "time of the writes" "${b[7]} - ${a[7]} >= 13"
check "time of the discards" "${b[14]} - ${a[14]} >= 3"
check "the disk was busy with them" "${b[9]} - ${a[9]} >= 17"

# O_DSYNC writes, each with the flush it needs: as many in mode 2 as in mode 1
for m in 1 2; do
	set_mode nullb0 $m
	read -ra a < /sys/block/nullb0/stat
	dd if=/dev/zero of=/dev/nullb0 bs=4k count=20 oflag=direct,dsync conv=notrunc status=none
	read -ra b < /sys/block/nullb0/stat
	counts[m]="$((b[4] - a[4])) writes, $((b[6] - a[6])) sectors, $((b[15] - a[15])) flushes"
	echo "O_DSYNC, mode $m: ${counts[m]}"
	expect "sectors of O_DSYNC writes" $((b[6] - a[6])) 160
	expect "in flight" "${b[8]}" 0
done
expect "O_DSYNC in mode 2" "${counts[2]}" "${counts[1]}"
