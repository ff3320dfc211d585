#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm/demo.sh: the part of the demo that runs in the machine. What is to be
# plotted goes to $VM_OUT.
set -eu
. tools/vm/stat.sh

disk=nvme0n1
need_disk $disk
tmp=/run/vm/tmp
fio=(fio --name=x --filename="/dev/$disk" --direct=1 --size=64m --ioengine=libaio --time_based --output=/dev/null)
busy=tools/bpftrace/blk-busy

range()
{
	printf "%.$3f - %.$3f" "$1" "$2"
}

# row NAME OPTION...: a line of the table: a load in both modes, and the truth of
# each. In % of the time from its first I/O to its last, so without fio's start.
row()
{
	local name=$1 m ticks least most await lowest highest span true shown

	shift
	for m in 1 2; do
		read -r _ _ ticks least most await lowest highest _ span < <(
			tools/vm/measure.sh $disk $m "${fio[@]}" --runtime=1 "$@")
		least=$(calc "100 * $least / $span") most=$(calc "100 * $most / $span")
		true[m]=$(range "$least" "$most" 1) shown[m]=$(calc "100 * $ticks / $span" 1)
	done
	printf '%-32s %13s %6s  %13s %6s  %13s %6.0f\n' "$name" "${true[1]}" "${shown[1]}" "${true[2]}" "${shown[2]}" \
		"$(range "$lowest" "$highest" 0)" "$await"
}

# points MODE: %util in steps of a quarter of a second, for the plot, from the
# same counter as iostat's, as long as that runs
points()
{
	while kill -0 "$iostat" 2>/dev/null; do
		echo "$EPOCHREALTIME $(field $disk 10)"
		sleep 0.25
	done | awk 'NR > 1 { print $1 - t0, ($2 - b) / 10 / ($1 - t) } NR == 1 { t0 = $1 } { t = $1; b = $2 }' > "$VM_OUT/util$1"
}

# sample MODE: the aliasing load, with iostat once a second beside it, and the
# truth of that very run
sample()
{
	local m=$1 ios

	set_mode $disk "$m"
	$busy.sh start
	ios=$(field $disk 1)
	"${fio[@]}" --runtime=5 --rw=randread --bs=4k --rate_iops=250 &
	until [ "$(field $disk 1)" != "$ios" ]; do sleep 0.1; done
	LC_ALL=C iostat -dxy $disk 1 4 > $tmp/iostat &
	iostat=$!
	points "$m"
	wait
	$busy.sh stop > $tmp/events
	$busy.awk $tmp/events | awk -v disk="$(cat /sys/block/$disk/dev)" \
		'$1 == disk { print 0, 100 * $9 / $11, 100 * $3 / $11; print 4, 100 * $9 / $11, 100 * $3 / $11 }' > "$VM_OUT/truth$m"
	awk '/^Device/ { for (i = 1; i <= NF; i++) h[$i] = i }
	/^'$disk' / { printf "%8s %8s %8s %8s\n", $h["r/s"], $h["r_await"], $h["aqu-sz"], $h["%util"] }' $tmp/iostat
	awk 'NR == 1 { printf "%26s %.1f - %.1f (trace of the same run)\n", "truth:", $2, $3 }' "$VM_OUT/truth$m"
}

echo "Linux $(uname -r), an NVMe disk that QEMU emulates, $(nproc) CPUs"
echo
printf '%-32s %20s  %20s  %20s\n' '' '%util, iostats=1' '%util, iostats=2' 'await in us, 2' \
	'each load runs once in each mode' 'true    shown' 'true    shown' 'true    shown'
row '128k, 1 ms thinktime (the RFC)' --rw=randrw --bs=128k --thinktime=1000
row 'depth 32' --rw=randread --bs=4k --iodepth=32 --runtime=500ms

for m in 1 2; do
	echo
	echo "iostat on 250 reads/s at depth 1, iostats=$m"
	printf '%8s %8s %8s %8s\n' r/s r_await aqu-sz %util
	sample $m
done

cat <<'TEXT'

What this means:
- %util is the time during which the disk had something to do. iostats=1 samples it with a 4 ms tick,
  so a load in step with the tick, or of I/Os shorter than it, shows nearly anything.
- iostats=2 measures it: each start and end in ns, each moment counted once, whatever the load.
- 100 % means always busy, not saturated: a disk that serves many I/Os at once may have room left.
TEXT
