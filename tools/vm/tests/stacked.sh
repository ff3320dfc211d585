#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# dm and md take mode 2 when a disk below has it, and what the user writes to
# their iostats stays, also when the table is loaded anew. Members and stacked
# disk then agree about the I/Os.
# vm: -d 2
set -eu
. tools/vm/stat.sh

modprobe dm_mod
lin() { echo "0 1048576 linear /dev/$1 0"; }
dmsetup create --noudevsync a --table "$(lin nvme0n1)"
expect "dm over a disk in mode 1" "$(mode dm-0)" 1
dmsetup remove --noudevsync a

set_mode nvme0n1 2
dmsetup create --noudevsync a --table "$(lin nvme0n1)"
expect "dm over a disk in mode 2" "$(mode dm-0)" 2
dmsetup create --noudevsync b --table "$(lin dm-0)"
expect "dm over dm" "$(mode dm-1)" 2
dmsetup create --noudevsync c --table "0 1024 linear /dev/nvme1n1 0
1024 1024 linear /dev/nvme0n1 0"
expect "dm with one of two disks in mode 2" "$(mode dm-2)" 2

# the user overrides
set_mode dm-0 1
for m in 1 0 2; do
	set_mode dm-0 $m
	dmsetup suspend --noudevsync a
	lin nvme1n1 | dmsetup load a
	dmsetup resume --noudevsync a
	expect "user's mode after a new table" "$(mode dm-0)" $m
	dmsetup suspend --noudevsync a
	lin nvme0n1 | dmsetup load a
	dmsetup resume --noudevsync a
	expect "user's mode after a table with a disk in mode 2" "$(mode dm-0)" $m
done
expect "the disk below is as it was" "$(mode nvme0n1)" 2

# a stacked disk keeps its mode, and counts, when the disk below changes
set_mode dm-0 2
set_mode dm-1 2
set_mode nvme0n1 1
for d in dm-0 dm-1; do
	expect "$d after the disk below changed" "$(mode $d)" 2
done
set_mode nvme0n1 2
read -ra a < /sys/block/dm-1/stat
read -ra n < /sys/block/nvme0n1/stat
fio --name=x --filename=/dev/dm-1 --direct=1 --rw=randread --bs=4k --size=64m --ioengine=libaio --iodepth=4 \
	--number_ios=500 --output=/dev/null
read -ra a2 < /sys/block/dm-1/stat
read -ra n2 < /sys/block/nvme0n1/stat
expect "reads of dm" $((a2[0] - a[0])) 500
check "dm is busy when the disk is" "${a2[9]} - ${a[9]} >= ${n2[9]} - ${n[9]} - 1"
check "a read takes dm as long as the disk" "${a2[3]} - ${a[3]} >= ${n2[3]} - ${n[3]} - 1"
check "no await of 0 or whole ticks" "${a2[3]} - ${a[3]} > 0 && (${a2[3]} - ${a[3]}) % 4 != 0 || ${a2[3]} - ${a[3]} > 8"
for d in c b a; do dmsetup remove --noudevsync $d; done

modprobe raid0
modprobe raid1
for level in 0 1; do
	set_mode nvme0n1 1
	for m in 1 2; do
		set_mode nvme1n1 $m
		mdadm --create /dev/md0 --run --quiet --level=$level --raid-devices=2 --metadata=1.2 \
			/dev/nvme0n1 /dev/nvme1n1 2>/run/vm/tmp/err || fail "mdadm: $(cat /run/vm/tmp/err)"
		expect "md raid$level with a member in mode $m" "$(mode md0)" $m
		mdadm --stop --quiet /dev/md0
	done
done
