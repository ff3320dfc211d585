#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# hygiene.sh: what must not be in this repository is not.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

# found WHAT REGEX FILE...: fail with every line that matches.
found()
{
	local what=$1 regex=$2 lines

	shift 2
	[ $# -gt 0 ] || return 0
	lines=$(grep -nHIE -e "$regex" -- "$@" | cut -c1-160) || true
	[ -z "$lines" ] || fail "$what:" "$lines"
}

# files [PATHSPEC...]: what is or would be in git.
files()
{
	git ls-files -co --exclude-standard -- "$@" | while read -r f; do
		[ ! -f "$f" ] || echo "$f"
	done
}

cd "$TOP"
mapfile -t all < <(files)
mapfile -t patches < <(files 'patches/*.patch')
mapfile -t c_files < <(files '*.[ch]' ':!module/compat.h')
found "a trailer in a person's name, which only that person may give" \
	'^([A-Z][a-z]+(-[a-z]+)*-by|Cc): ' "${patches[@]}"
found "not the hash 'make refresh' writes" '^From [0-9a-f]*[1-9a-f][0-9a-f]* ' "${patches[@]}"
found "a path of one machine" '(^|[^A-Za-z])/(work|srv|root)/' "${all[@]}"
found "a test of the kernel's version outside module/compat.h" \
	'LINUX_VERSION_CODE|KERNEL_VERSION\(' "${c_files[@]}"
found "a test of the kernel's version in a patch" \
	'^\+.*(LINUX_VERSION_CODE|KERNEL_VERSION\()' "${patches[@]}"
big=$(find "${all[@]}" -prune -size +400k)
[ -z "$big" ] || fail "larger than 400 KiB:" "$big"
dangling=$(find patches -xtype l)
[ -z "$dangling" ] || fail "a link to nothing: 'make refresh' for that kernel:" "$dangling"
stray=$(printf '%s\n' "${all[@]}" | grep -E '\.(orig|rej|patch~)$|/0000-.*\.patch$' || true)
[ -z "$stray" ] || fail "does not belong here:" "$stray"
exit "$bad"
