#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# I/Os that start at the same moment on an idle disk: none of them may take the
# time that the disk was idle for busy time. In mode 1 it could, up to 7.3: the
# number of I/Os in flight was looked at after the stamp had moved, when another
# one, which needed not move it any more, could be in flight.
# vm: -d 1
set -eu
. tools/vm/stat.sh

race=/run/vm/tmp/start-race
rounds=${ROUNDS:-200}
gcc -O2 -pthread -o $race tools/vm/tests/start-race.c
null_blk nullb0 size=256 queue_mode=2 irqmode=2 completion_nsec=100000
for m in 1 2; do
	set_mode nullb0 $m
	ios=$(field nullb0 1) busy=$(field nullb0 10)
	up=$(uptime_ms)
	$race /dev/nullb0 "$rounds" 50000
	up=$(($(uptime_ms) - up))
	busy=$(($(field nullb0 10) - busy))
	echo "mode $m: busy $busy of $up ms, idle for at least $((rounds * 50))"
	# in mode 1 every fourth pair of start and end may take a tick of 4 ms
	check "mode $m: idle time is not busy time" "$busy <= $up - $rounds * 50 + 20 + ($m == 1) * $rounds"
	expect "mode $m: reads" $(($(field nullb0 1) - ios)) $((rounds * $(nproc)))
	# mode 1 may see none of them, they are shorter than a tick
	[ $m = 1 ] || check "mode $m: something was counted" "$busy > 0"
done
