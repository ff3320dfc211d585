#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# measure.sh DISK MODE CMD...: run the load CMD on an idle DISK with iostats=MODE
# and print what the kernel says of it beside the truth from tracepoints, on one
# line:
#   window_ms ios busy_ms least_ms most_ms await_us least_us most_us aqu_sz span_ms
# where the truth lies between least and most, and the span is the part of the
# window from the first I/O to the last, see blk-busy.awk.
# Runs in the virtual machine, on idle disks: what is in flight at the edges of
# the window would be a matter of taste. Disks without requests (dm, md, zram)
# are measured by their bios.
set -eu

busy=$(dirname "$0")/../bpftrace/blk-busy
disk=$1 mode=$2
shift 2
kind=
[ -d "/sys/block/$disk/mq" ] || kind=bio
events=$(mktemp)
trap 'rm -f "$events"' EXIT

echo "$mode" > "/sys/block/$disk/queue/iostats"
"$busy.sh" start $kind
"$busy.sh" mark begin
read -ra a < "/sys/block/$disk/stat"
"$@" >&2 || { "$busy.sh" stop >/dev/null; exit 1; }
read -ra b < "/sys/block/$disk/stat"
"$busy.sh" mark end
"$busy.sh" stop > "$events"
[ "${b[8]}" = 0 ] || { echo "measure.sh: $disk is not idle after the load" >&2; exit 1; }
awk -v from=begin -v to=end -f "$busy.awk" "$events" > "$events.truth"
awk -v disk="$(cat "/sys/block/$disk/dev")" -v a="${a[*]}" -v b="${b[*]}" '
BEGIN { split(a, x); split(b, y) }
$1 == disk {
	n = y[1] - x[1] + y[5] - x[5] + y[12] - x[12]
	if (!n || $4 != n) {
		print "measure.sh: " n " I/Os in the statistics, " $4 " in the trace" > "/dev/stderr"
		exit 1
	}
	shown = (y[4] - x[4] + y[8] - x[8] + y[15] - x[15]) * 1000 / n
	printf "%.3f %d %d %.3f %.3f %.3f %.3f %.3f %.3f %.3f\n", $2 / 1e6, n, y[10] - x[10], $9 / 1e6, $3 / 1e6,
		shown, $10 / 1e3 / n, $5 / 1e3 / n, (y[11] - x[11]) / ($2 / 1e6), $11 / 1e6
	found = 1
}
END { if (!found) { print "measure.sh: nothing in the trace for " disk > "/dev/stderr"; exit 1 } }' "$events.truth"
rm -f "$events.truth"
