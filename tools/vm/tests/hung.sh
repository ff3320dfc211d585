#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A disk that hangs is 100 % busy and its queue holds all the I/Os, in every
# sample, not only when they end: null_blk that takes a minute, a suspended dm
# device. Public reports: 11, 45, 52 of the accounting research.
# vm: -d 1
set -eu
. tools/vm/stat.sh

# sample DISK DEPTH: two samples of a disk with DEPTH I/Os that do not end
sample()
{
	local t0 t1 b0 b1 q0 q1

	while [ "$(inflight "$1")" -lt "$2" ]; do sleep 0.1; done
	t0=$(uptime_ms) b0=$(field "$1" 10) q0=$(field "$1" 11)
	sleep 1.5
	t1=$(uptime_ms) b1=$(field "$1" 10) q1=$(field "$1" 11)
	expect "in flight on $1" "$(inflight "$1")" "$2"
	echo "$1: %util $(calc "100 * ($b1 - $b0) / ($t1 - $t0)" 1)  aqu-sz $(calc "($q1 - $q0) / ($t1 - $t0)" 2)"
	# /proc/uptime has steps of 10 ms, and the fields are not read at once
	check "$1 is busy all the time" "$b1 - $b0 >= 0.97 * ($t1 - $t0) - 40 && $b1 - $b0 <= 1.03 * ($t1 - $t0) + 40"
	check "the queue of $1 holds $2" \
		"$q1 - $q0 >= $2 * ($b1 - $b0) * 0.97 - 40 * $2 && $q1 - $q0 <= $2 * ($b1 - $b0) * 1.03 + 40 * $2"
}

# hang DISK DEPTH: that many I/Os at once, in the background
hang()
{
	fio --name=hang --filename=/dev/"$1" --direct=1 --rw=randwrite --bs=4k --ioengine=libaio --size=16m \
		--iodepth="$2" --iodepth_batch="$2" --number_ios="$2" --output=/dev/null &
}

# Below the time-out of null_blk, 5 s, which cannot be set: on a slow host they
# may end during the sample, so try again.
null_blk nullb0 size=64 queue_mode=2 irqmode=2 completion_nsec=4800000000 hw_queue_depth=64
set_mode nullb0 2
for try in 1 2 3; do
	hang nullb0 8
	(sample nullb0 8) && break
	[ $try != 3 ] || fail "no sample of nullb0 while it hung"
	wait
done
last=$(field nullb0 11)
while [ "$(inflight nullb0)" -gt 0 ]; do
	now=$(field nullb0 11)
	[ "$now" -ge "$last" ] || fail "field 11 went back from $last to $now when the I/Os ended"
	last=$now
done
wait
check "what was seen is in the end the time of the I/Os" \
	"$(field nullb0 11) >= $last && $(field nullb0 11) - $(field nullb0 4) - $(field nullb0 8) <= 1"

# bio based: dm over a suspended dm
modprobe dm_mod
dmsetup create --noudevsync lower --table "0 65536 linear /dev/nvme0n1 0"
dmsetup create --noudevsync upper --table "0 65536 linear /dev/dm-0 0"
set_mode dm-1 2
dmsetup suspend --noudevsync --nolockfs lower
hang dm-1 3
sample dm-1 3
dmsetup resume --noudevsync lower
wait
expect "in flight on dm-1 at the end" "$(inflight dm-1)" 0
last=$(field dm-1 10)
sleep 0.5
expect "busy time of the idle dm-1" "$(field dm-1 10)" "$last"
