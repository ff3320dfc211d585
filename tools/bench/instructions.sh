#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# instructions.sh: instructions per I/O on null_blk, which completes at once, for
# the stock and the patched kernel in modes 0, 1 and 2, at depth 1 and 16. The
# machine counts instructions (-icount): guest ns are instructions, repeatable to
# a few in 4000. Table on stdout, DIR/instructions.tsv.
# Usage: instructions.sh KVER DIR
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/kernel/env.sh"

kver=$1 out=$2
step "instructions per I/O" "6 min"
for k in "$kver+stock" "$kver"; do
	"$TOP/tools/vm/run.sh" -k "$k" -i -d 0 -t 1500 -- tools/bench/instructions-vm.sh |
		sed "s/^/$k\t/"
done > "$out/instructions.tsv"
awk -F '\t' '
{ k = $1 " mode " $2; if (!(k in seen)) { seen[k] = 1; key[++n] = k } v[k, $3, $4] = $5 }
END {
	printf "%-22s %10s %10s %10s %10s\n", "instructions per I/O", "depth 1", "again", "depth 16", "again"
	for (i = 1; i <= n; i++)
		printf "%-22s %10.1f %10.1f %10.1f %10.1f\n", key[i], v[key[i], 1, 1], v[key[i], 1, 2], v[key[i], 16, 1], v[key[i], 16, 2]
}' "$out/instructions.tsv"
