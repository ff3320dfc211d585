#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernel-doc.sh KVER: kernel-doc says nothing about the touched files that it
# does not say about the released kernel.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

# messages COMMIT: of the C files the series touches, as they are there.
messages()
{
	local dir=$tmp/$1 files

	mkdir "$dir"
	mapfile -t files < <(touched "$1" '*.[ch]')
	git --git-dir="$repo" archive "$1" -- "${files[@]}" | tar -x -C "$dir"
	(cd "$dir" && "${kernel_doc[@]}" "${files[@]}" 2>&1) | findings
}

[ $# = 1 ] || die "usage: kernel-doc.sh KVER"
check_series "$1"
tree_at "$commit"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
kernel_doc=("$tree/scripts/kernel-doc" -none)
[ ! -e "$tree/tools/docs/kernel-doc" ] || kernel_doc=("$tree/tools/docs/kernel-doc" -none -Wall)
export PYTHONDONTWRITEBYTECODE=1
new=$(comm -13 <(messages "$base") <(messages "$commit"))
[ -z "$new" ] || fail "$new"
exit "$bad"
