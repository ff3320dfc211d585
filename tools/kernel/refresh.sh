#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# refresh.sh KVER: hand the commits of the work tree that 'make tree' set up
# back to patches/KVER: what changed is written, what is gone is removed. A
# patch that says the same as that of a newer kernel becomes a link to it.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/kernel/env.sh"

tree_git()
{
	git -C "$tree" "$@"
}

# Only commits are handed over, in a line on top of the base.
check_tree()
{
	local dir

	[ -e "$tree/.git" ] || die "there is no work tree: run 'make tree KVER=$version' first"
	[ -z "$(tree_git status --porcelain)" ] || die "$tree has uncommitted changes: commit them first"
	for dir in rebase-merge rebase-apply; do
		[ ! -e "$(tree_git rev-parse --path-format=absolute --git-path "$dir")" ] ||
			die "$tree is in the middle of a rebase or 'git am': finish it first"
	done
	tree_git merge-base --is-ancestor base HEAD || die "$tree is not on top of the tag 'base': rebase it"
	[ "$(tree_git rev-list --count base..HEAD)" -gt 0 ] || die "$tree has no commits on top of the tag 'base'"
	[ "$(tree_git rev-list --count --merges base..HEAD)" -eq 0 ] ||
		die "$tree has a merge on top of the tag 'base': rebase it into a line"
}

# The user's own settings must not show in the patches.
format_patches()
{
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null tree_git format-patch -q --zero-commit \
		--no-signature --no-numbered --abbrev=12 -o "$new" "base..$head"
}

# A patch without that in which two kernels differ although the change is the
# same: hashes, line numbers with the function's name, and the date.
essence()
{
	sed -e '/^index [0-9a-f]*\.\./d' -e '/^Date: /d' -e 's/^@@ -.*/@@/' "$1"
}

# twin NAME: the patch of a newer kernel that says the same, seen from patches/KVER.
twin()
{
	local v other

	while read -r v _; do
		[ "$v" != "$version" ] || return 0
		for other in "$TOP/patches/$v"/*-"${1#*-}"; do
			if [ -f "$other" ] && cmp -s <(essence "$other") <(essence "$new/$1"); then
				echo "../$v/${other##*/}"
				return
			fi
		done
	done < <(sed '/^#/d' "$TOP/tools/kernel/versions")
}

# The staged series, links followed from where they will be, gives HEAD's tree.
gives_tree()
{
	local p target

	export GIT_INDEX_FILE=$tmp/index
	tree_git read-tree base
	for p in "$new"/*.patch; do
		target=$p
		if [ -L "$p" ]; then
			target=$(readlink "$p")
			target=$TOP/patches/${target#../}
		fi
		(cd "$tmp" && git --git-dir="$repo" apply --cached --whitespace=nowarn "$target") 2>/dev/null || break
	done
	[ "$(git --git-dir="$repo" write-tree)" = "$(tree_git rev-parse "$head^{tree}")" ]
}

# A twin may apply elsewhere than it should: then all patches stay files.
link_twins()
{
	local p target

	for p in "$new"/*.patch; do
		target=$(twin "${p##*/}")
		[ -z "$target" ] || ln -sf "$target" "$p"
	done
	gives_tree || { rm -rf "$new"; format_patches; }
}

same()
{
	if [ -L "$1" ]; then
		[ "$(readlink "$1")" = "$(readlink "$2")" ]
	else
		[ -f "$2" ] && cmp -s "$1" "$2"
	fi
}

# Never through a link: that would write into the patch of another kernel.
install_patches()
{
	local p old changes=0

	mkdir -p "$patches"
	for p in "$new"/*.patch; do
		old=$patches/${p##*/}
		same "$p" "$old" && continue
		[ -e "$old" ] && echo "changed ${old#"$TOP/"}" || echo "new     ${old#"$TOP/"}"
		rm -f "$old"
		cp -P "$p" "$old"
		changes=1
	done
	for old in "$patches"/*.patch; do
		[ -L "$new/${old##*/}" ] || [ -e "$new/${old##*/}" ] && continue
		echo "removed ${old#"$TOP/"}"
		rm -f "$old"
		changes=1
	done
	[ "$changes" = 1 ] || echo "patches/$version is up to date"
}

[ $# = 1 ] || die "usage: refresh.sh KVER"
parse_kver "$1"
[ -z "$flavour" ] || die "KVER is a version without a flavour: $version"
need_cmd git
tree=$CACHE/tree/$version
check_tree
head=$(tree_git rev-parse HEAD)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
new=$tmp/patches
format_patches
link_twins
gives_tree || die "the patches of $tree do not give its content: nothing was written"
install_patches
unset GIT_INDEX_FILE
tree_git update-ref refs/worktree/applied "$head"
