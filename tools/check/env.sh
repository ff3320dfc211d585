# SPDX-License-Identifier: GPL-2.0
# What the checks of tools/check/ share. Source it with TOP set. A check prints
# what went wrong and exits 0 (fine), 1 (not) or 4 (skipped, the reason last).
# shellcheck shell=bash disable=SC2034

. "$TOP/tools/kernel/env.sh"

bad=0

# fail LINE...: note a finding and go on.
fail()
{
	printf '%s\n' "$@"
	bad=1
}

# check_series KVER: sets base and commit, and tree, a source tree of the checks'
# own that is locked until the script ends.
check_series()
{
	parse_kver "$1"
	tree=$CACHE/src/check-$version
	mkdir -p "$CACHE/check" "$CACHE/src"
	exec 7> "$CACHE/lock.check.$version"
	flock 7
	commit=$("$TOP/tools/kernel/tree.sh" --commit "$version")
	base=$(git --git-dir="$repo" rev-parse base)
	[ -e "$tree/.git" ] || "$TOP/tools/kernel/tree.sh" --checkout "$version" "$tree" >/dev/null
}

# Only files that differ get a new time stamp.
tree_at()
{
	git -C "$tree" checkout -q -f --detach "$1"
}

# touched COMMIT [PATHSPEC...]: the files the series touches, as far as COMMIT has them.
touched()
{
	local at=$1

	shift
	git --git-dir="$repo" diff --name-only --no-renames "$base" "$commit" -- "$@" |
		xargs -r git --git-dir="$repo" ls-tree -r --name-only "$at" --
}

# The touched C files that are part of a kernel, as objects.
touched_objects()
{
	touched "$1" '*.c' ':!tools' ':!samples' | sed 's/c$/o/'
}

# objects_make ARCH ARG...: kbuild in a build directory of that architecture.
objects_make()
{
	local arch=$1

	shift
	# KERNELDOC: W=1 would run it on every file; kernel-doc.sh does.
	CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=5G CCACHE_SLOPPINESS=time_macros \
		make -s -O -j"$JOBS" -C "$tree" O="$(objects_dir "$arch")" ARCH="$arch" \
		CC="ccache gcc" HOSTCC="ccache gcc" KERNELDOC="-c pass" "$@" 2>&1
}

objects_dir()
{
	echo "$CACHE/build/check-$version-$1"
}

# configure_objects ARCH: as long as what it depends on is the same, once.
configure_objects()
{
	local dir fragment=$TOP/tools/check/objects.config key

	dir=$(objects_dir "$1")
	key=$({
		git -C "$tree" ls-files -s -- '*Kconfig*'
		cat "$fragment"
		gcc --version
	} | sha256sum)
	[ "$(cat "$dir/key" 2>/dev/null)" != "$key" ] || return 0
	mkdir -p "$dir"
	rm -f "$dir/key"
	objects_make "$1" KCONFIG_ALLCONFIG="$fragment" allnoconfig || return
	echo "$key" > "$dir/key"
}

# build_objects ARCH ARG...: compile what is named again, so that an old warning
# shows again (ccache replays it).
build_objects()
{
	local arch=$1 dir

	dir=$(objects_dir "$arch")
	configure_objects "$arch" || return
	find "$dir/block" "$dir/drivers" "$dir/lib" -name '*.o' -delete 2>/dev/null || true
	shift
	objects_make "$arch" "$@"
}

# The messages of a log without line numbers, so that two trees compare. One
# in a header comes once per file that includes it: counted once.
findings()
{
	sed -E -n -e "s#^$tree/##" -e 's/^([^ :]+):[0-9]+:([0-9]+:)? /\1: /p; t' \
		-e '/(warning|error|WARNING|ERROR|undefined): /p' | sort | awk '!/^[^ ]*\.h:/ || !seen[$0]++'
}

# baseline NAME INPUT CMD...: the findings of CMD on the base, from the cache
# when it ran before with the same INPUT, tools and scripts. Prints the file.
baseline()
{
	local name=$1 input=$2 key file

	shift 2
	key=$({
		echo "$base $input $*"
		cat "$TOP"/tools/check/{env.sh,objects.config} "$0"
		gcc --version
		sparse --version
	} | sha256sum | cut -c1-16)
	file=$CACHE/check/$version-$name-$key
	if [ ! -e "$file" ]; then
		tree_at "$base"
		"$@" > "$file.log" || { cat "$file.log"; die "$name fails on Linux $version as released"; } >&2
		findings < "$file.log" > "$file.tmp"
		mv "$file.tmp" "$file"
	fi
	echo "$file"
}

# new_findings BASELINE LOG WHERE: fail with the lines only LOG has.
new_findings()
{
	local new

	new=$(comm -13 "$1" <(findings < "$2"))
	[ -z "$new" ] || fail "$3:" "$new"
}
