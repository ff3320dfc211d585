#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# %util and await against the truth from tracepoints (tools/bpftrace/blk-busy.*),
# with fio's latency as the upper bound, for loads that mode 1 gets wrong and
# some that it gets right; its errors are printed beside those of mode 2.
# vm: -d 1 -m 3G -t 1200
set -eu
. tools/vm/stat.sh

tmp=/run/vm/tmp
plug_compute=$tmp/plug-compute
gcc -O2 -o "$plug_compute" tools/vm/tests/plug-compute.c
null_blk nullb0 size=4096 queue_mode=2 irqmode=2 completion_nsec=430000 hw_queue_depth=128
null_blk nullb1 size=4096 queue_mode=2 irqmode=2 completion_nsec=100000
null_blk nullb2 size=4096 queue_mode=2 irqmode=2 completion_nsec=1000000
null_blk nullb3 size=4096 queue_mode=2 irqmode=2 completion_nsec=4000000
modprobe zram num_devices=1
echo 256M > /sys/block/zram0/disksize
dd if=/dev/urandom of=/dev/zram0 bs=1M count=64 oflag=direct status=none
modprobe dm_mod
dmsetup create --noudevsync lin --table "0 1048576 linear /dev/nullb2 0"
head -c 48M /dev/zero > $tmp/file
worst1=0 worst2=0 qd1=

# fio_on DISK OPTION...: 3 s of a load; its mean latency in us goes to $tmp/lat
fio_on()
{
	local disk=$1

	shift
	fio --name=x --filename=/dev/"$disk" --direct=1 --size=64m --bs=4k --ioengine=libaio --time_based \
		--runtime=3 --randrepeat=1 --output=$tmp/json --output-format=json "$@"
	python3 -c 'import json
ios = lat = 0
for job in json.load(open("'$tmp'/json"))["jobs"]:
    for op in ("read", "write"):
        ios += job[op]["total_ios"]
        lat += job[op]["total_ios"] * job[op]["lat_ns"]["mean"]
print("%.3f" % (lat / ios / 1000))' > $tmp/lat
}

plug_compute_on()
{
	"$plug_compute" "/dev/$1" $tmp/file 60
	echo 1e9 > $tmp/lat	# measures nothing
}

# outside VALUE LEAST MOST: by how much a value is below or above what is true
outside()
{
	calc "$1 < $2 ? $1 - $2 : ($1 > $3 ? $1 - $3 : 0)"
}

larger()
{
	calc "($1 < 0 ? -($1) : $1) > $2 ? ($1 < 0 ? -($1) : $1) : $2" 2
}

# load NAME DISK FUNCTION ARG..., with qd1 set if no two requests overlap
load()
{
	local name=$1 disk=$2 m window ios busy least most await lowest highest aqu lat error

	shift 2
	need_disk "$disk"
	for m in 1 2; do
		tools/vm/measure.sh "$disk" $m bash -c '"$@"' - "$1" "$disk" "${@:2}" > $tmp/result || fail "$name: no measurement"
		read -r window ios busy least most await lowest highest aqu _ < $tmp/result
		lat=$(cat $tmp/lat)
		# Bios have no lower bound in the trace. For dm it is what its disk
		# takes, 1 ms; for zram there is none, so only 0 is too little.
		case $disk in
		dm-*)	least=$(calc "$ios * 1") lowest=1000 ;;
		zram*)	check "$name: something was counted" "$busy > 0 && $await > 0" ;;
		esac
		error=$(calc "100 * $(outside "$busy" "$least" "$most") / $window" 2)
		printf '%-22s %d %6d %6.2f-%-6.2f %6.2f %6.2f %9.1f-%-9.1f %9.1f %9.1f %7.3f\n' "$name" $m "$ios" \
			"$(calc "100 * $least / $window")" "$(calc "100 * $most / $window")" \
			"$(calc "100 * $busy / $window")" "$error" "$lowest" "$highest" "$await" "$lat" "$aqu"
		if [ $m = 1 ]; then
			worst1=$(larger "$error" "$worst1")
			continue
		fi
		worst2=$(larger "$error" "$worst2")
		# the text rounds each field down to whole ms
		error=$(outside "$busy" "$least" "$most")
		check "$name: %util" "$error >= -1 - 0.001 * $window && $error <= 1 + 0.001 * $window"
		check "$name: await" "$await <= $highest * 1.01 + 2 + 2000 / $ios && $await >= $lowest * 0.99 - 2 - 2000 / $ios"
		check "$name: await is not above fio's latency" "$await <= $lat"
		[ -z "$qd1" ] || check "$name: at depth 1 the busy time is the sum of the latencies" \
			"$busy >= $await * $ios / 1000 - 2 && $busy <= $await * $ios / 1000 + 2"
	done
}

export -f fio_on plug_compute_on
export tmp plug_compute
printf '%-22s m %6s %13s %6s %6s %19s %9s %9s %7s\n' load ios true% shown% error true-us await-us fio-us aqu-sz
qd1=yes load "RFC job, nvme" nvme0n1 fio_on --rw=randrw --bs=128k --thinktime=1000
qd1=yes load "rate_iops=250" nullb0 fio_on --rw=randread --rate_iops=250
qd1=yes load "rate_iops=1000" nullb0 fio_on --rw=randread --rate_iops=1000
qd1=yes load "100 us, rate=4m" nullb1 fio_on --rw=write --rate=4m
qd1=yes load "125 x 1 ms" nullb2 fio_on --rw=randread --rate_iops=125
load "QD32 saturated, nvme" nvme0n1 fio_on --rw=randread --iodepth=32
load "QD32 saturated" nullb3 fio_on --rw=randread --iodepth=32
load "two bursts a second" nullb0 fio_on --rw=randread --iodepth=16 --thinktime=500000 --thinktime_blocks=64
load "4 jobs" nullb3 fio_on --rw=randrw --numjobs=4 --iodepth=2
load "plugged batches" nullb3 fio_on --rw=randread --ioengine=io_uring --iodepth=16 --iodepth_batch_submit=16 --iodepth_batch_complete_min=16
load "computes in a plug" nullb2 plug_compute_on
load "zram, QD1" zram0 fio_on --rw=randread --thinktime=500
load "dm-linear, QD1" dm-0 fio_on --rw=randread --rate_iops=300
echo "worst error of %util: mode 1 $worst1 points, mode 2 $worst2 points"
check "mode 1 is off by more on these loads" "$worst1 > $worst2"
