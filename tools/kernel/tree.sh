#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tree.sh KVER [DIR]: Debian's kernel source as a git repository outside the
# checkout, and a work tree with the series applied on the branch "series" to
# edit, commit to, and hand back with 'make refresh'. Prints the work tree.
# tree.sh --fetch KVER: only the repository. tree.sh --commit KVER: the commit
# with the series on top. tree.sh --checkout KVER [DIR]: a tree for builds; DIR
# is the one build.sh uses if not given.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/kernel/env.sh"

mirror()
{
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Identifier: Packages' |
		awk '$1 ~ /\/debian\/?$/ { print $1; exit }'
}

# apt as usual, or for a suite the system does not know with a private sources
# list and state, which leaves the system's own apt as it is.
apt_private()
{
	local state=$CACHE/apt/$suite uri

	if [ "$suite" = - ]; then
		apt-get -o APT::Sandbox::User=root "$@"
		return
	fi
	if [ ! -e "$state/sources.list" ]; then
		uri=$(mirror)
		[ -n "$uri" ] || die "apt knows no Debian mirror: run 'apt-get update' first"
		mkdir -p "$state/lists/partial" "$state/archives/partial"
		: > "$state/status"
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main" \
			> "$state/sources.list"
	fi
	apt-get -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State="$state" -o Dir::State::status="$state/status" \
		-o Dir::Cache="$state" -o APT::Sandbox::User=root "$@"
}

# Fill the repository: one commit, Debian's source as it is, with the package
# and its version as the message.
fetch_source()
{
	local tmp=$repo.tmp deb

	[ ! -e "$repo/complete" ] || return 0
	need_cmd git
	need_cmd xz xz-utils
	need_space "$CACHE" 12 "the source of Linux $version and its builds"
	rm -rf "$tmp"
	mkdir -p "$tmp/deb"
	step "fetching $package with apt" "1 min"
	(
		cd "$tmp/deb"
		apt_private update -q=2
		apt_private download -q=2 "$package"
	) >&2 || die "package $package cannot be had (suite $suite): check the network and the apt sources"
	deb=$(echo "$tmp"/deb/*.deb)
	step "unpacking it into a git repository" "2 min"
	mkdir "$tmp/tree"
	dpkg-deb --fsys-tarfile "$deb" |
		tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
		tar -xJ -C "$tmp/tree" --strip-components=1
	git init -q --bare "$tmp/git"
	git -C "$tmp/git" config gc.auto 0
	git -C "$tmp/git" config core.compression 0
	git -C "$tmp/git" config core.bare false
	git --git-dir="$tmp/git" --work-tree="$tmp/tree" add -A -f
	commit_tree "$tmp/git" "$(git --git-dir="$tmp/git" write-tree)" "" \
		"$package $(dpkg-deb -f "$deb" Version)" > "$tmp/base"
	git -C "$tmp/git" config core.bare true
	git -C "$tmp/git" tag base "$(cat "$tmp/base")"
	rm -f "$tmp/git/index"
	touch "$tmp/git/complete"
	rm -rf "$repo"
	mv "$tmp/git" "$repo"
	rm -rf "$tmp"
}

# commit_tree GITDIR TREE PARENT MESSAGE: with fixed names and dates, so that
# the same series always gives the same commit.
commit_tree()
{
	GIT_AUTHOR_NAME=${author_name:-blk-lathist} GIT_AUTHOR_EMAIL=${author_email:-blk-lathist@localhost} \
	GIT_COMMITTER_NAME=blk-lathist GIT_COMMITTER_EMAIL=blk-lathist@localhost \
	GIT_AUTHOR_DATE=${author_date:-'2026-01-01T00:00:00Z'} GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' \
		git --git-dir="$1" commit-tree "$2" ${3:+-p "$3"} -F - <<< "$4"
}

# The commit with the series on top of the base. Works in an index alone:
# files that do not change keep their time stamps, and builds stay incremental.
series_commit()
{
	local head list p

	list=$(series) || exit
	head=$(git --git-dir="$repo" rev-parse base)
	export GIT_INDEX_FILE=$tmp/index
	git --git-dir="$repo" read-tree base
	for p in $list; do
		git mailinfo "$tmp/msg" "$tmp/diff" < "$p" > "$tmp/info"
		author_name=$(sed -n 's/^Author: //p' "$tmp/info")
		author_email=$(sed -n 's/^Email: //p' "$tmp/info")
		author_date=$(sed -n 's/^Date: //p' "$tmp/info")
		(cd "$tmp" && git --git-dir="$repo" apply --cached --whitespace=nowarn "$p") ||
			die "patches/$version/${p##*/} does not apply to $package"
		head=$(commit_tree "$repo" "$(git --git-dir="$repo" write-tree)" "$head" \
			"$(sed -n 's/^Subject: //p' "$tmp/info")"$'\n\n'"$(cat "$tmp/msg")")
	done
	unset GIT_INDEX_FILE
	echo "$head"
}

# checkout DIR COMMIT BRANCH-OPTION...
checkout()
{
	local dir=$1 commit=$2

	shift 2
	if [ ! -e "$dir/.git" ]; then
		step "checking out $dir" "30 s"
		rm -rf "$dir"
		git --git-dir="$repo" worktree prune
		git --git-dir="$repo" worktree add -q -f --detach "$dir" "$commit"
	fi
	git -C "$dir" checkout -q "$@" "$commit"
}

edit_tree()
{
	local dir=$1 commit

	# A new kernel starts without patches.
	if [ -e "$patches" ]; then
		commit=$(series_commit)
	else
		commit=$(git --git-dir="$repo" rev-parse base)
	fi
	if [ -e "$dir/.git" ]; then
		[ -z "$(git -C "$dir" status --porcelain)" ] ||
			die "$dir has uncommitted changes: commit them and 'make refresh', or remove the tree"
		[ "$(git -C "$dir" rev-parse HEAD)" = "$(git -C "$dir" rev-parse -q --verify refs/worktree/applied)" ] ||
			die "$dir has commits of yours: 'make refresh' hands them to patches/, removing the tree drops them"
	fi
	checkout "$dir" "$commit" -B "series-$version"
	git -C "$dir" update-ref refs/worktree/applied "$commit"
	echo "$dir"
}

mode=edit
case ${1-} in
--*)	mode=${1#--}; shift ;;
esac
[ $# -ge 1 ] || die "usage: tree.sh [--fetch|--commit|--checkout] KVER [DIR]"
parse_kver "$1"
mkdir -p "$CACHE"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
exec 9> "$CACHE/lock.tree.$version"
flock 9
fetch_source
case $mode in
fetch)		echo "$repo" ;;
commit)		series_commit ;;
checkout)	commit=$(series_commit)
		checkout "${2:-$src}" "$commit" --detach -f
		echo "${2:-$src}" ;;
edit)		edit_tree "${2:-$CACHE/tree/$1}" ;;
*)		die "unknown option --$mode" ;;
esac
