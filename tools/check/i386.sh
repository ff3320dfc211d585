#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# i386.sh KVER: the touched files compile for 32 bits with W=1, without a
# warning the released kernel does not have, and without a call that only a
# linker would miss: 64-bit division, atomics of a size the machine lacks.
set -euo pipefail
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

MISSING='__(u?div(mod)?|u?mod)di[34]$|_wrong_size$|_bad_(size|pointer)$'

build()
{
	local objects

	objects=$(touched_objects "$1")
	# shellcheck disable=SC2086
	build_objects i386 W=1 $objects
}

[ $# = 1 ] || die "usage: i386.sh KVER"
check_series "$1"
log=$CACHE/check/$version-i386.log
known=$(baseline i386 "$(touched_objects "$base")" build "$base")
tree_at "$commit"
build "$commit" > "$log" || fail "does not build for i386:" "$(grep -m5 -E 'error|Error|\*\*\*' "$log" || tail -n 5 "$log")"
new_findings "$known" "$log" "new for i386"
for f in $(touched_objects "$commit"); do
	calls=$(nm -u "$(objects_dir i386)/$f" | grep -E "$MISSING") || continue
	fail "${f%o}c calls what a 32-bit kernel lacks:" "$calls"
done
exit "$bad"
