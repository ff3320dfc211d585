#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sparse.sh KVER: sparse finds nothing in the touched files that it does not
# find in the released kernel.
set -euo pipefail
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

run_sparse()
{
	local objects

	objects=$(touched_objects "$1")
	# shellcheck disable=SC2086
	build_objects x86_64 W=1 C=2 CHECK=sparse $objects
}

[ $# = 1 ] || die "usage: sparse.sh KVER"
need_cmd sparse
check_series "$1"
log=$CACHE/check/$version-sparse.log
known=$(baseline sparse "$(touched_objects "$base")" run_sparse "$base")
tree_at "$commit"
run_sparse "$commit" > "$log" || fail "make C=2 fails:" "$(tail -n 5 "$log")"
new_findings "$known" "$log" "new from sparse"
exit "$bad"
