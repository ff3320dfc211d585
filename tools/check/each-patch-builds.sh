#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# each-patch-builds.sh KVER: after each patch of the series every file that any
# of them touches compiles with W=1, after the last the whole block layer and
# the drivers that account their own I/O, without a warning the released kernel
# does not have.
set -euo pipefail
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

DIRS=(block/ drivers/md/ drivers/block/ drivers/nvdimm/ drivers/nvme/)

# build COMMIT [DIR...]: the directories, and the touched files.
build()
{
	local objects at=$1

	shift
	objects=$(touched_objects "$at")
	# shellcheck disable=SC2086
	build_objects x86_64 W=1 "$@" $objects
}

# check_patch COMMIT [DIR...]
check_patch()
{
	local subject

	subject=$(git --git-dir="$repo" log -1 --format=%s "$1")
	tree_at "$1"
	if build "$@" > "$log"; then
		new_findings "$known" "$log" "new after \"$subject\""
	else
		fail "does not build after \"$subject\":" "$(grep -m5 -E 'error|Error|\*\*\*' "$log" || tail -n 5 "$log")"
	fi
}

[ $# = 1 ] || die "usage: each-patch-builds.sh KVER"
check_series "$1"
log=$CACHE/check/$version-each-patch-builds.log
known=$(baseline each-patch-builds "$(touched_objects "$base")" build "$base" "${DIRS[@]}")
count=1
for c in $(git --git-dir="$repo" rev-list --reverse "$base..$commit^"); do
	check_patch "$c"
	count=$((count + 1))
done
check_patch "$commit" "${DIRS[@]}"
for f in $(touched_objects "$commit"); do
	[ -e "$(objects_dir x86_64)/$f" ] || fail "${f%o}c was not compiled: tools/check/objects.config lacks its option"
done
[ "$bad" = 0 ] && echo "$count patches build"
exit "$bad"
