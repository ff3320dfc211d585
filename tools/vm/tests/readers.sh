#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Those who read the text go on working, in every mode: iostat, sar and fio
# themselves, and the rules by which others parse (research: Tool contracts):
# node_exporter and telegraf fail on '-' or '.', psutil wants 7, 14, 15 or >= 18
# fields of diskstats, blktests takes field 9 and 12 by position.
# vm: -d 1
set -eu
. tools/vm/stat.sh

# Fields of each line: unsigned decimal integers, 17 in stat, 20 in diskstats
# (with a name as the third), times below 2^32.
check_text()
{
	awk -v n="$2" -v name="$3" '
	NF != n { exit 1 }
	{
		for (i = 1; i <= NF; i++)
			if (i != name && $i !~ /^[0-9]+$/)
				exit 1
		o = n - 17
		for (i = 4; i <= 17; i++)
			if ((i == 4 || i == 8 || i == 10 || i == 11 || i == 15 || i == 17) && $(o + i) >= 4294967296)
				exit 1
	}' "$1" || fail "$1: a line is not $2 unsigned integers: $(cat "$1")"
}

# fio takes its time to begin, and what is measured must not begin before it.
wait_busy()
{
	local _

	for _ in $(seq 300); do
		[ "$(inflight nullb0)" = 0 ] || return 0
		sleep 0.1
	done
	fail "fio does not begin"
}

null_blk nullb0 size=256 queue_mode=2 irqmode=2 completion_nsec=5000000
for m in 0 1 2; do
	set_mode nullb0 1	# mode 0 does not show that fio runs
	fio --name=x --filename=/dev/nullb0 --direct=1 --rw=randrw --bs=4k --ioengine=libaio --iodepth=8 \
		--runtime=60 --time_based --output=/run/vm/tmp/fio.json --output-format=json &
	fio=$!
	wait_busy
	set_mode nullb0 $m
	for _ in 1 2 3; do
		check_text /sys/block/nullb0/stat 17 0
		check_text /proc/diskstats 20 3
	done
	LC_ALL=C S_TIME_FORMAT=ISO iostat -dxy -o JSON nullb0 3 1 > /run/vm/tmp/iostat.json
	LC_ALL=C sar -d -p 2 1 > /run/vm/tmp/sar
	kill -TERM $fio
	wait $fio || :	# 128: it was told to end
	python3 - "$m" <<-'PY'
	import json, sys
	mode = int(sys.argv[1])
	d = json.load(open('/run/vm/tmp/iostat.json'))['sysstat']['hosts'][0]['statistics'][0]['disk'][0]
	head, sar = [l.split() for l in open('/run/vm/tmp/sar') if l.startswith('Average') and ('DEV' in l or 'nullb0' in l)]
	sar_util = float(sar[head.index('%util')])
	text = open('/run/vm/tmp/fio.json').read()
	fio = json.loads(text[text.index('{'):])	# after "terminating on signal"
	util = [u['util'] for u in fio['disk_util'] if u['name'] == 'nullb0'][0]
	# it ran for as long as iostat and sar did, also where they show nothing
	assert fio['jobs'][0]['read']['runtime'] >= 5000
	lat = fio['jobs'][0]['read']['lat_ns']['mean'] / 1e6
	print('mode', mode, 'iostat: r/s', d['r/s'], 'r_await', d['r_await'], 'aqu-sz', d['aqu-sz'],
	      '%util', d['util'], '| sar %util', sar_util, '| fio util', util, 'lat ms', round(lat, 3))
	if mode == 0:
	    assert d['r/s'] == 0 and d['util'] == 0 and sar_util == 0
	    sys.exit()
	assert d['r/s'] > 0 and d['w/s'] > 0
	for u in (d['util'], sar_util, util):
	    assert 80 < u <= 100.1, u
	if mode == 2:
	    assert 5.0 <= d['r_await'] <= lat * 1.02, (d['r_await'], lat)
	    assert 1 < d['aqu-sz'] <= 8.1, d['aqu-sz']
	PY
done
