#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# checkpatch.sh: the newest kernel's checkpatch --strict says nothing about any
# patch, nor about the C files here.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

# FILE_PATH_CHANGES asks for a line in MAINTAINERS for each new file: who takes
# care of it is for the maintainers to say. GIT_COMMIT_ID and UNKNOWN_COMMIT_ID
# need the kernel's history, which this one commit is not.
IGNORE=FILE_PATH_CHANGES,UNKNOWN_COMMIT_ID
# A sign-off is for the person who submits a patch to give.
OPTIONS=(--strict --no-signoff --show-types --terse --no-summary --color=never)

run()
{
	perl "$tree/scripts/checkpatch.pl" --root="$tree" "${OPTIONS[@]}" "$@" || bad=1
}

cd "$TOP"
check_series "$DEFAULT_KVER"
tree_at "$commit"
# A linked patch is checked where it is a file.
mapfile -t patches < <(find patches -name '*.patch' -type f | sort)
# From elsewhere: a patch that git knows would be checked as a source file.
(cd / && run --ignore "$IGNORE" "${patches[@]/#/$TOP/}" && exit "$bad") || bad=1
mapfile -t files < <(git ls-files -co --exclude-standard -- '*.[ch]')
for f in "${files[@]}"; do
	ignore=$IGNORE
	[ "$f" != module/compat.h ] || ignore+=,LINUX_VERSION_CODE
	run --ignore "$ignore" -f "$f"
done
[ "$bad" != 0 ] || echo "${#patches[@]} patches, ${#files[@]} files"
exit "$bad"
