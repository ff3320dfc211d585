#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# apply.sh KSRC: put the series of patches/ that fits onto the Linux source in
# KSRC, whole or not at all: with 'git am' if KSRC is the top of a git work
# tree, with patch if not. Needs no root.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/kernel/env.sh"

# The versions there is a series for.
available()
{
	local p

	for p in "$TOP"/patches/*/0001-*.patch; do
		[ ! -e "$p" ] || basename "$(dirname "$p")"
	done | sort -V
}

# Since 2011 a major version has had about twenty minor ones.
nearest()
{
	available | awk -F. -v want="$1" '
		BEGIN { split(want, w) }
		{ d = ($1 - w[1]) * 20 + $2 - w[2]; d = d < 0 ? -d : d }
		NR == 1 || d < least { least = d; best = $0 }
		END { print best }'
}

# Sets version and list, the patches to apply.
choose_series()
{
	[ -d "$ksrc" ] || die "there is no directory $ksrc: KSRC is the top of a Linux source tree"
	version=$(sed -n 's/^\(VERSION\|PATCHLEVEL\) *= *\([0-9][0-9]*\)$/\2/p' "$ksrc/Makefile" 2>/dev/null |
		head -n 2 | paste -sd .) || true
	[[ $version == *.* && -e $ksrc/block/blk-core.c ]] ||
		die "$ksrc is not the top of a Linux source tree: it lacks the kernel's Makefile or block/"
	list=("$TOP/patches/$version"/*.patch)
	[ -e "${list[0]}" ] ||
		die "no series for Linux $version: the nearest is for $(nearest "$version") (there are: $(available | paste -sd ' '))"
}

is_git()
{
	local top

	[ -e "$ksrc/.git" ] || return 1
	command -v git >/dev/null || die "$ksrc is a git tree and git is not installed: run 'make setup'"
	top=$(git -C "$ksrc" rev-parse --show-toplevel 2>/dev/null) ||
		die "git cannot read $ksrc: it is broken, or another user's (git config --global --add safe.directory)"
	[ "$top" -ef "$ksrc" ]
}

check_git()
{
	local dir

	git -C "$ksrc" rev-parse -q --verify HEAD >/dev/null ||
		die "$ksrc has no commit yet: commit the source first, or remove its .git"
	for dir in rebase-apply rebase-merge MERGE_HEAD CHERRY_PICK_HEAD; do
		[ ! -e "$(git -C "$ksrc" rev-parse --path-format=absolute --git-path "$dir")" ] ||
			die "$ksrc is in the middle of a git am, rebase or merge: finish it first"
	done
	[ -z "$(git -C "$ksrc" status --porcelain --untracked-files=no)" ] ||
		die "$ksrc has uncommitted changes: commit or stash them first"
}

# Every file the series changes, adds or removes.
touched()
{
	sed -n -e 's/^\(---\|+++\) [ab]\///p' -e 's/^rename \(from\|to\) //p' "${list[@]}" | sort -u
}

# copy_touched DIR: those of them that there are now.
copy_touched()
{
	local f

	rm -rf "$1"
	mkdir -p "$1"
	touched | while read -r f; do
		[ -e "$ksrc/$f" ] || continue
		mkdir -p "$1/$(dirname "$f")"
		cp -p "$ksrc/$f" "$1/$f"
	done
}

# patch_files DIR PATCH...: no fuzz, ever.
patch_files()
{
	local dir=$1

	shift
	for failed; do
		patch -d "$dir" -p1 -F0 -f -s -r - --no-backup-if-mismatch "${reverse[@]}" < "$failed" >/dev/null 2>&1 || return 1
	done
}

# How many patches, from the first, KSRC has: the most that can be taken off.
count_applied()
{
	local reverse=(-R) k i last_first

	for ((k = ${#list[@]}; k > 0; k--)); do
		last_first=()
		for ((i = k - 1; i >= 0; i--)); do
			last_first+=("${list[i]}")
		done
		copy_touched "$tmp/copy"
		! patch_files "$tmp/copy" "${last_first[@]}" || break
	done
	echo "$k"
}

# Patches of a series build on each other, so all are tried, on a copy.
try_series()
{
	local first k

	copy_touched "$tmp/copy"
	! patch_files "$tmp/copy" "${list[@]}" || return 0
	first=${failed##*/}
	k=$(count_applied)
	[ "$k" != "${#list[@]}" ] || die "$ksrc has the series for Linux $version already: nothing to do"
	[ "$k" = 0 ] || die "$ksrc has the first $k of ${#list[@]} patches already: start from a source without them"
	die "patches/$version/$first does not apply to $ksrc: it is not Linux $version as it was released, or half patched"
}

# The nearest directory that exists, for each touched file.
check_writable()
{
	local f dir

	while read -r f; do
		dir=$ksrc/$(dirname "$f")
		while [ ! -d "$dir" ]; do
			dir=$(dirname "$dir")
		done
		[ -w "$dir" ] || die "$dir cannot be written: KSRC must be a source tree of your own"
	done < <(touched)
}

apply_git()
{
	local who=()

	[ -n "${GIT_COMMITTER_NAME-}$(git -C "$ksrc" config user.name)" ] || who+=(-c user.name=blk-lathist)
	[ -n "${GIT_COMMITTER_EMAIL-}$(git -C "$ksrc" config user.email)" ] || who+=(-c user.email=blk-lathist@localhost)
	undo=undo_git
	git -C "$ksrc" "${who[@]}" am -q --no-3way --whitespace=nowarn "${list[@]}" > "$tmp/log" 2>&1
}

undo_git()
{
	git -C "$ksrc" am -q --abort >/dev/null 2>&1 || true
}

apply_patch()
{
	copy_touched "$tmp/before"
	undo=undo_patch
	patch_files "$ksrc" "${list[@]}"
}

undo_patch()
{
	local f

	touched | while read -r f; do
		if [ ! -e "$tmp/before/$f" ]; then
			rm -f "$ksrc/$f"
			(cd "$ksrc" && rmdir -p --ignore-fail-on-non-empty "$(dirname "$f")") 2>/dev/null || true
		elif ! cmp -s "$tmp/before/$f" "$ksrc/$f"; then
			cp -p "$tmp/before/$f" "$ksrc/$f"
		fi
	done
}

cleanup()
{
	$undo
	rm -rf "$tmp"
}

[[ $# = 1 && -n $1 ]] || die "usage: make apply KSRC=DIR, the top of the Linux source to patch"
ksrc=$1
reverse=()
undo=:
tmp=$(mktemp -d)
trap cleanup EXIT
need_cmd patch
choose_series
method='patch'
if is_git; then
	method=git
	check_git
fi
try_series
check_writable
"apply_$method" ||
	die "nothing was changed: $(grep -sm1 . "$tmp/log" || echo "$method fails in $ksrc (a hook? no space?)")"
undo=:
echo "applied ${#list[@]} patches for Linux $version to $ksrc ($([ $method = git ] && echo 'git am' || echo 'patch -F0'))"
