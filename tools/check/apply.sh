#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# apply.sh KVER: the series applies with 'git am', with 'make apply' to a git
# tree and to plain files; what cannot be patched is refused with one line and
# stays as it is. All of it on the few files that matter.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

APPLY=$TOP/tools/kernel/apply.sh

# plain DIR: the released kernel's Makefile and touched files.
plain()
{
	local files

	mapfile -t files < <({ printf '%s\n' Makefile block/blk-core.c; touched "$base"; } | sort -u)
	rm -rf "$1"
	mkdir -p "$1"
	git --git-dir="$repo" archive "$base" -- "${files[@]}" | tar -x -C "$1"
}

in_git()
{
	git -C "$1" -c init.defaultBranch=main init -q
	git -C "$1" add -A -f
	git -C "$1" -c user.name=check -c user.email=check@localhost commit -q -m base
}

# Names and contents, and what git thinks.
state()
{
	find "$1" -name .git -prune -o -type f -printf '%p ' -exec sha256sum {} + -o -printf '%p\n' | sort
	git -C "$1" rev-parse HEAD 2>&1 || true
	git -C "$1" status --porcelain 2>&1 || true
}

# patched DIR WHAT: the files are the series' files, and nothing is left over.
patched()
{
	local files left other

	mapfile -t files < <(touched "$commit")
	other=$(cd "$1" && git hash-object --no-filters "${files[@]}" 2>&1 | paste - <(printf '%s\n' "${files[@]}") |
		comm -13 <(git --git-dir="$repo" ls-tree -r "$commit" -- "${files[@]}" | cut -d' ' -f3 | sort) <(sort))
	[ -z "$other" ] || fail "$2: not what the series makes of it:" "$other"
	left=$(find "$1" -name '*.orig' -o -name '*.rej')
	[ -z "$left" ] || fail "$2 leaves $left"
}

accepts()
{
	if "$APPLY" "$1" > "$tmp/out" 2>&1; then
		patched "$1" "$2"
	else
		fail "$2: $(cat "$tmp/out")"
	fi
}

# refuses DIR REGEX WHAT [RUNNER...]
refuses()
{
	local before rc=0 dir=$1 regex=$2 what=$3

	shift 3
	before=$(state "$dir" 2>&1)
	"$@" "$APPLY" "$dir" > "$tmp/out" 2>&1 || rc=$?
	[ "$rc" = 2 ] || fail "$what: exit code $rc instead of 2"
	[[ $(wc -l < "$tmp/out") = 1 && $(cat "$tmp/out") =~ $regex ]] ||
		fail "$what: not one line with '$regex':" "$(cat "$tmp/out")"
	[ "$(state "$dir" 2>&1)" = "$before" ] || fail "$what: the tree has changed"
}

apply_to_git()
{
	plain "$tmp/git"
	in_git "$tmp/git"
	cp -r "$tmp/git" "$tmp/am"
	if git -C "$tmp/am" -c user.name=check -c user.email=check@localhost am -q "${patches[@]}" > "$tmp/out" 2>&1; then
		patched "$tmp/am" "git am"
	else
		fail "git am: $(cat "$tmp/out")"
	fi
	cp -r "$tmp/git" "$tmp/other"
	accepts "$tmp/git" "in a git tree"
	[ "$(git -C "$tmp/git" rev-list --count HEAD)" = $((${#patches[@]} + 1)) ] ||
		fail "in a git tree: not one commit per patch"
	refuses "$tmp/git" 'has the series .* already' "patched git tree"
}

refuse_git()
{
	echo >> "$tmp/other/Makefile"
	refuses "$tmp/other" 'uncommitted changes' "git tree with changes"
	git -C "$tmp/other" checkout -q Makefile
	mkdir "$tmp/other/.git/rebase-apply"
	refuses "$tmp/other" 'in the middle of' "git tree amid git am"
	rmdir "$tmp/other/.git/rebase-apply"
	printf '#!/bin/sh\nexit 1\n' > "$tmp/other/.git/hooks/applypatch-msg"
	chmod +x "$tmp/other/.git/hooks/applypatch-msg"
	refuses "$tmp/other" 'nothing was changed' "git tree whose hook refuses"
	rm -rf "$tmp/other/.git"
	git -C "$tmp/other" init -q
	refuses "$tmp/other" 'has no commit' "git tree without a commit"
}

# The second: files inside another repository, where 'git apply' does nothing.
apply_to_files()
{
	plain "$tmp/plain"
	accepts "$tmp/plain" "to plain files"
	refuses "$tmp/plain" 'has the series .* already' "patched files"
	git -C "$tmp" init -q "$tmp/outer"
	plain "$tmp/outer/linux"
	accepts "$tmp/outer/linux" "inside another repository"
	plain "$tmp/my linux"
	accepts "$tmp/my linux" "to a name with a space"
}

refuse_files()
{
	refuses "$tmp/nothing" 'there is no directory' "missing directory"
	refuses "" 'usage' "empty KSRC"
	mkdir "$tmp/empty"
	refuses "$tmp/empty" 'not the top of a Linux source tree' "empty directory"
	plain "$tmp/plain"
	sed -i -e 's/^VERSION = .*/VERSION = 5/' -e 's/^PATCHLEVEL = .*/PATCHLEVEL = 10/' "$tmp/plain/Makefile"
	refuses "$tmp/plain" 'no series for Linux 5\.10: the nearest is for [67]\.' "another version"
	plain "$tmp/plain"
	patch -s -d "$tmp/plain" -p1 < "${patches[0]}"
	[ "${#patches[@]}" = 1 ] || refuses "$tmp/plain" "has the first 1 of" "files with the first patch"
	plain "$tmp/plain"
	echo > "$tmp/plain/$(touched "$base" '*.c' | tail -n 1)"
	refuses "$tmp/plain" 'does not apply' "files of another kernel"
	refuse_read_only
}

# Root may write everywhere: so as somebody else, who must see the checkout.
refuse_read_only()
{
	local as=(env)

	[ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	plain "$tmp/plain"
	chmod a+rx "$tmp"
	chmod a-w "$tmp/plain/block"
	if "${as[@]}" test -r "$APPLY"; then
		refuses "$tmp/plain" 'cannot be written' "files one cannot write" "${as[@]}"
	fi
	chmod u+w "$tmp/plain/block"
}

[ $# = 1 ] || die "usage: apply.sh KVER"
check_series "$1"
mapfile -t patches < <(series)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# A user who has not told git who they are.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
apply_to_git
refuse_git
apply_to_files
refuse_files
[ "$bad" != 0 ] || echo "${#patches[@]} patches apply"
exit "$bad"
