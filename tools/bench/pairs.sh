#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pairs.sh: ns per start and end of an I/O in User Mode Linux on two CPUs, for
# the stock kernel and for the patched one in modes 1 and 2, and for two schemes
# that are not in the series (blk_bench_kunit.c). Medians of the rounds, lowest
# and highest in brackets, go to stdout as a table and to DIR/pairs.tsv.
# Usage: pairs.sh KVER DIR
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

# run COMMIT: the lines that blk_bench_kunit.c prints in that kernel
run()
{
	tree_at "$1"
	mkdir -p "$tree/block/tests"
	cp "$TOP/tools/bench/blk_bench_kunit.c" "$tree/block/tests/"
	echo 'obj-y += tests/blk_bench_kunit.o' >> "$tree/block/Makefile"
	# One instruction on x86, but in UML two system calls, to keep interrupts
	# out. There are none here that account I/O.
	[ ! -e "$tree/block/blk-busy.c" ] || sed -i 's/\bthis_cpu_\(inc\|add\|dec\)(/raw_cpu_\1(/' "$tree/block/blk-busy.c"
	(cd "$tree" && python3 tools/testing/kunit/kunit.py run --kunitconfig="$out/kunitconfig" \
		--build_dir="$uml" --jobs="$JOBS" --make_options="CC=ccache gcc" \
		--kernel_args=seccomp=on --kernel_args=ncpus=2 --timeout=600 blk_bench) > "$out/pairs.log" 2>&1 ||
		die "the bench kernel fails: see $out/pairs.log"
	rm -f "$tree/block/tests/blk_bench_kunit.c"
	tree_at "$1"
	sed -n 's/^.*\(BENCH[-A-Z]* \)/\1/p' "$uml/test.log"
}

[ $# = 2 ] || die "usage: pairs.sh KVER DIR"
out=$(cd "$2" && pwd)
check_series "$1"
uml=$CACHE/build/$version+uml-bench
export CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=5G PYTHONDONTWRITEBYTECODE=1
printf 'CONFIG_KUNIT=y\nCONFIG_BLOCK=y\nCONFIG_SMP=y\n' > "$out/kunitconfig"
step "pairs of start and end in User Mode Linux" "15 min the first time, 1 min after that"
{
	run "$base" | sed 's/^/stock /'
	run "$commit" | sed 's/^/patched /'
} > "$out/pairs.raw"
awk '
$2 == "BENCH" { k = $1 " " $3 " " $4 " " $5; v[k, ++n[k]] = $6 / 1000 }
END {
	for (k in n) {
		for (i = 1; i <= n[k]; i++)
			for (j = i; j > 1 && v[k, j] < v[k, j - 1]; j--) {
				t = v[k, j]; v[k, j] = v[k, j - 1]; v[k, j - 1] = t
			}
		split(k, f, " ")
		printf "%s\t%s\t%d\t%d\t%.1f\t%.1f\t%.1f\n", f[1], f[2], f[3], f[4], v[k, int((n[k] + 1) / 2)], v[k, 1], v[k, n[k]]
	}
}' "$out/pairs.raw" | sort > "$out/pairs.tsv"
awk -F '\t' '
function cell(key, c) { return sprintf("%s [%s %s]", m[key, c], lo[key, c], hi[key, c]) }
{ k = $1 " " $2; c = $3 " " $4; m[k, c] = $5; lo[k, c] = $6; hi[k, c] = $7 }
END {
	printf "%-22s %-22s %-22s %-22s %-22s\n", "ns per pair", "1 CPU, depth 1", "1 CPU, depth 2", "2 CPUs, depth 1", "2 CPUs, depth 2"
	n = split("stock none,stock jiffies,patched jiffies,patched busy,patched rfc,patched rounded", row, ",")
	for (i = 1; i <= n; i++)
		printf "%-22s %-22s %-22s %-22s %-22s\n", row[i], cell(row[i], "1 1"), cell(row[i], "1 2"), cell(row[i], "2 1"), cell(row[i], "2 2")
}' "$out/pairs.tsv"
awk '$2 == "BENCH-BYTES" { print $1 ": " $3 " bytes of statistics per disk and CPU, " $4 " per disk" }' "$out/pairs.raw"
