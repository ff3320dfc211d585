#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sparse.sh KVER: sparse finds nothing in the touched files that it does not
# find in the released kernel.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

# kbuild leaves out a sparse that does not know __typeof_unqual__, as 0.6.4 does
# not. To gcc before 14 the kernel says __typeof__ instead, so that will do.
CHECK='sparse -D__typeof_unqual__=__typeof__'

run_sparse()
{
	local objects

	objects=$(touched_objects "$1")
	# shellcheck disable=SC2086
	build_objects x86_64 W=1 C=2 CHECK="$CHECK" $objects
}

[ $# = 1 ] || die "usage: sparse.sh KVER"
need_cmd sparse
check_series "$1"
log=$CACHE/check/$version-sparse.log
known=$(baseline sparse "$(touched_objects "$base")" run_sparse "$base")
tree_at "$commit"
run_sparse "$commit" > "$log" || fail "make C=2 fails:" "$(tail -n 5 "$log")"
! grep 'is not available or not up to date' "$log" || fail "sparse was not run"
new_findings "$known" "$log" "new from sparse"
exit "$bad"
