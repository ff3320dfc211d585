#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# iostats takes 0, 1 and 2 and reads back the same; anything else is -EINVAL and
# changes nothing. The default is 1.
# vm: -d 1
set -eu
. tools/vm/stat.sh

attr=/sys/block/nvme0n1/queue/iostats
need_disk nvme0n1
expect "the default" "$(mode nvme0n1)" 1
for good in 0 1 2 2 0 2 1; do
	set_mode nvme0n1 $good
	expect "after writing $good" "$(mode nvme0n1)" $good
done
for before in 0 1 2; do
	set_mode nvme0n1 $before
	for bad in 3 -1 2x x '' ' ' 0x2 2.0 '1 2' 4294967295 4294967296 18446744073709551616 \
		99999999999999999999999999; do
		error=$(LC_ALL=C bash -c "echo '$bad' > $attr" 2>&1) &&
			fail "'$bad' is taken"
		case $error in
		*'Invalid argument'*) ;;
		*)	fail "'$bad' is refused with: $error" ;;
		esac
		expect "after '$bad'" "$(mode nvme0n1)" $before
	done
done
# written with and without a newline
printf 2 > $attr
expect "without a newline" "$(mode nvme0n1)" 2

# 0 counts nothing, 1 and 2 count
for m in 0 1 2; do
	set_mode nvme0n1 $m
	before=$(field nvme0n1 1)
	dd if=/dev/nvme0n1 of=/dev/null bs=4k count=7 iflag=direct status=none
	expect "reads counted in mode $m" $(($(field nvme0n1 1) - before)) $((m ? 7 : 0))
done
