#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm/demo.sh: the part of the demo that runs in the machine. What is to be
# plotted goes to $VM_OUT.
set -eu
. tools/vm/stat.sh

disk=nvme0n1
need_disk $disk
tmp=/run/vm/tmp

# sample MODE OPTION...: fio on the disk and iostat once a second beside it; the
# points of the plot, four a second, are read from the same counter as iostat's.
sample()
{
	local m=$1 i

	shift
	fio --name=x --filename=/dev/$disk --direct=1 --bs=4k --size=64m --ioengine=libaio --time_based \
		--runtime=7 --output=/dev/null "$@" &
	sleep 1
	LC_ALL=C iostat -dxy $disk 1 5 > $tmp/iostat &
	for ((i = 0; i < 20; i++)); do
		echo "$EPOCHREALTIME $(field $disk 10)"
		sleep 0.25
	done | awk 'NR > 1 { print $1 - t0, ($2 - b) / 10 / ($1 - t) } NR == 1 { t0 = $1 } { t = $1; b = $2 }' > "$VM_OUT/util$m"
	wait
}

# row NAME OPTION...: a line of the table. Sets window, truth and busy of mode 2.
row()
{
	local name=$1 m window busy least most await lowest highest shown

	shift
	for m in 1 2; do
		read -r window _ busy least most await lowest highest _ < <(tools/vm/measure.sh $disk $m \
			fio --name=x --filename=/dev/$disk --direct=1 --size=64m --ioengine=libaio \
			--time_based --runtime=1 --output=/dev/null "$@")
		shown[m]="$(calc "50 * ($least + $most) / $window" 1) -> $(calc "100 * $busy / $window" 1) %"
	done
	printf '%-38s %18s %18s %10.1f %10.1f\n' "$name" "${shown[1]}" "${shown[2]}" "$(calc "($lowest + $highest) / 2")" "$await"
}

echo "Linux $(uname -r), an NVMe disk that QEMU emulates, $(nproc) CPUs"
echo
printf '%-38s %18s %18s %21s\n' '' 'iostats=1: %util' 'iostats=2: %util' 'await, us (mode 2)'
printf '%-38s %18s %18s %10s %10s\n' 'load' 'true -> shown' 'true -> shown' true shown
row '250 reads/s, depth 1 (aliasing)' --rw=randread --bs=4k --rate_iops=250
row '1000 reads/s, depth 1' --rw=randread --bs=4k --rate_iops=1000
row '128k, depth 1, 1 ms thinktime (the RFC)' --rw=randrw --bs=128k --thinktime=1000
row 'saturated, depth 32' --rw=randread --bs=4k --iodepth=32

for m in 1 2; do
	set_mode $disk $m
	echo
	echo "iostat while the same load runs, 250 reads/s at depth 1, iostats=$m"
	sample $m --rw=randread --rate_iops=250
	awk '/^Device/ && !n++ { for (i = 1; i <= NF; i++) h[$i] = i; printf "%8s %8s %8s %8s\n", "r/s", "r_await", "aqu-sz", "%util" }
	$1 == "'$disk'" { printf "%8s %8s %8s %8s\n", $h["r/s"], $h["r_await"], $h["aqu-sz"], $h["%util"] }' $tmp/iostat
done
tools/vm/measure.sh $disk 2 fio --name=x --filename=/dev/$disk --direct=1 --bs=4k --size=64m --ioengine=libaio \
	--time_based --runtime=2 --rw=randread --rate_iops=250 --output=/dev/null |
	awk '{ u = 50 * ($4 + $5) / $1; print 0, u; print 5, u }' > "$VM_OUT/truth"

cat <<'TEXT'

What this means:
- %util is the time during which the disk had something to do. iostats=1 samples it with a 4 ms tick,
  so a load in step with the tick, or of I/Os shorter than it, shows nearly anything.
- iostats=2 measures it: each start and end in ns, each moment counted once, whatever the load.
- 100 % means always busy, not saturated: a disk that serves many I/Os at once may have room left.
TEXT
