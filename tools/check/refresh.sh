#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# refresh.sh: 'make tree' and 'make refresh' hand commits to patches/ and back
# without a loss, link what two kernels share, and refuse what would lose work.
# With two kernels of two files, in a copy of tools/kernel.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

# fake_kernel VERSION LINE...: a repository as tree.sh fetches it; the lines go
# ahead of those that are changed here.
fake_kernel()
{
	local git=$CACHE/linux-$1.git dir=$tmp/import

	rm -rf "$dir"
	mkdir -p "$dir/block" "$CACHE"
	printf '%s\n' "VERSION = ${1%.*}" "PATCHLEVEL = ${1#*.}" > "$dir/Makefile"
	shift
	printf '%s\n' "$@" {a..z} > "$dir/block/blk-core.c"
	git init -q --bare "$git"
	git --git-dir="$git" --work-tree="$dir" add -A
	git -C "$git" tag base "$(git -C "$git" commit-tree -m base "$(git -C "$git" write-tree)")"
	touch "$git/complete"
}

# change KVER FROM TO SUBJECT: a commit in its work tree.
change()
{
	sed -i "s/^$2\$/$3/" "$CACHE/tree/$1/block/blk-core.c"
	git -C "$CACHE/tree/$1" commit -q -a -m "$4"
}

tree()
{
	"$top/tools/kernel/tree.sh" "$1" >/dev/null 2>"$tmp/err" || fail "make tree KVER=$1: $(cat "$tmp/err")"
}

# gives KVER WHAT: after a refresh patches/ make the content of the work tree.
gives()
{
	local made

	"$top/tools/kernel/refresh.sh" "$1" > "$tmp/out" 2>&1 || fail "$2: $(cat "$tmp/out")"
	made=$("$top/tools/kernel/tree.sh" --commit "$1")
	git -C "$CACHE/tree/$1" diff --quiet HEAD "$made" || fail "$2: patches/$1 give something else"
	tree "$1"
}

# says REGEX: the last refresh did.
says()
{
	grep -q "$1" "$tmp/out" || fail "no '$1' in:" "$(cat "$tmp/out")"
}

content()
{
	find "$top/patches" -type f -exec sha256sum {} +
}

# refuses KVER REGEX: one line, exit code 2, nothing written.
refuses()
{
	local before rc=0

	before=$(content)
	"$top/tools/kernel/refresh.sh" "$1" > "$tmp/out" 2>&1 || rc=$?
	[[ $rc = 2 && $(wc -l < "$tmp/out") = 1 ]] || fail "not refused with one line: $(cat "$tmp/out")"
	says "$2"
	[ "$before" = "$(content)" ] || fail "refused, yet patches/$1 changed"
}

there_and_back()
{
	refuses 7.3 "run 'make tree"
	tree 7.3
	refuses 7.3 'no commits'
	change 7.3 h H 'block: one'
	change 7.3 p P 'block: two'
	gives 7.3 "two commits"
	says '^new  *patches/7.3/0002-block-two.patch'
	gives 7.3 "no change"
	says 'is up to date'
	change 7.3 H HH 'block: one again'
	git -C "$CACHE/tree/7.3" rebase -q --onto HEAD~2 HEAD~1 2>/dev/null
	gives 7.3 "a commit dropped"
	says '^removed .*0002-block-two'
}

what_would_lose_work()
{
	echo dirt >> "$CACHE/tree/7.3/Makefile"
	refuses 7.3 'uncommitted'
	git -C "$CACHE/tree/7.3" checkout -q Makefile
	git -C "$CACHE/tree/7.3" merge -q -m merge --no-ff "$(git -C "$CACHE/tree/7.3" commit-tree -p base -m side 'base^{tree}')"
	refuses 7.3 'merge'
	git -C "$CACHE/tree/7.3" reset -q --hard HEAD^
	change 7.3 x X 'block: three'
	! "$top/tools/kernel/tree.sh" 7.3 >/dev/null 2>&1 || fail "make tree drops a commit"
	gives 7.3 "one more commit"
}

# The same change elsewhere in the file is the same patch; another is not, and
# must not be written into the other kernel's.
two_kernels()
{
	local newer=$top/patches/7.3/0001-block-one.patch older=$top/patches/6.12/0001-block-one.patch before

	before=$(sha256sum "$newer")
	tree 6.12
	change 6.12 h H 'block: one'
	gives 6.12 "the same commit"
	[ "$(readlink "$older")" = ../7.3/0001-block-one.patch ] || fail "a patch that says the same is no link"
	gives 6.12 "the same commit again"
	says 'is up to date'
	change 6.12 i I 'block: fix up'
	git -C "$CACHE/tree/6.12" reset -q --soft HEAD~2
	git -C "$CACHE/tree/6.12" commit -q -m 'block: one'
	gives 6.12 "another commit of that name"
	[ ! -L "$older" ] || fail "a patch that says something else is a link"
	[ "$before" = "$(sha256sum "$newer")" ] || fail "the newer kernel's patch was written to"
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
top=$tmp/top
mkdir -p "$top/tools" "$top/patches"
cp -r "$TOP/tools/kernel" "$top/tools"
export XDG_CACHE_HOME=$tmp/cache GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=check GIT_AUTHOR_EMAIL=check@localhost
export GIT_COMMITTER_NAME=check GIT_COMMITTER_EMAIL=check@localhost
CACHE=$XDG_CACHE_HOME/blk-lathist
fake_kernel 7.3
fake_kernel 6.12 older code
there_and_back
what_would_lose_work
two_kernels
exit "$bad"
