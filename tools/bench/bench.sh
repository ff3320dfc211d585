#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench.sh [KVER]: what the accounting costs: ns per start and end of an I/O, and
# instructions per I/O. Ratios within one run count, not the figures: the machine
# may be busy and emulated. Tables on stdout and in build/bench.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/kernel/env.sh"

kver=${1:-$DEFAULT_KVER}
parse_kver "$kver"
out=$TOP/build/bench
mkdir -p "$out"
{
	"$TOP/tools/bench/pairs.sh" "$kver" "$out"
	echo
	"$TOP/tools/bench/instructions.sh" "$kver" "$out"
} | tee "$out/bench.txt"
