#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# demo.sh [KVER]: boots the patched kernel with an emulated NVMe disk, loads it
# with fio, and shows what iostat makes of it with iostats=1 and iostats=2 beside
# the truth. Writes build/demo.txt, and build/demo.png: %util over time.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/.." && pwd)
. "$TOP/tools/kernel/env.sh"

kver=${1:-$DEFAULT_KVER}
parse_kver "$kver"
need_cmd gnuplot gnuplot-nox
out=$TOP/build
mkdir -p "$out/demo"
"$TOP/tools/kernel/build.sh" "$kver" >/dev/null
step "the demo, in a virtual machine" "1 min"
"$TOP/tools/vm/run.sh" -k "$kver" -l 80000 -t 300 -o "$out/demo" -- tools/vm/demo.sh | tee "$out/demo.txt"
gnuplot <<EOF2
set terminal pngcairo size 900,420
set output "$out/demo.png"
set title "One load, 250 reads a second at queue depth 1: %util of every quarter of a second"
set xlabel "s"
set ylabel "%util"
set yrange [0:*]
set key outside right center
plot "$out/demo/truth1" using 1:2:3 with filledcurves fc "#c8e6c9" title "truth, first run", \\
     "$out/demo/util1" with linespoints lw 2 lc "#2e7d32" title "iostats=1", \\
     "$out/demo/truth2" using 1:2:3 with filledcurves fc "#bbdefb" title "truth, second run", \\
     "$out/demo/util2" with linespoints lw 2 lc "#1565c0" title "iostats=2"
EOF2
echo
echo "Saved: build/demo.txt, build/demo.png"
