# SPDX-License-Identifier: GPL-2.0
# Paths, messages and the version table, for the scripts of tools/. Source it
# with TOP set to the top of the checkout.
# shellcheck shell=bash disable=SC2034

DEFAULT_KVER=7.3
CACHE=${XDG_CACHE_HOME:-${HOME:?is not set: set it or XDG_CACHE_HOME}/.cache}/blk-lathist
JOBS=${JOBS:-$(nproc)}

# Set by git for its hooks: they name another repository than the kernel's.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX

die()
{
	echo "${0##*/}: $*" >&2
	exit 2
}

# step WHAT EXPECTED-TIME: one line of progress, to stderr so that the output
# of a command stays its own.
step()
{
	echo "[$(date +%H:%M:%S)] $1${2:+ (about $2)}" >&2
}

need_root()
{
	[ "$(id -u)" = 0 ] || die "$1 needs root: run it as root or with sudo"
}

need_cmd()
{
	command -v "$1" >/dev/null ||
		die "$1 is not installed: run 'make setup' (package ${2:-$1})"
}

# need_space DIR GIB WHAT
need_space()
{
	local free

	mkdir -p "$1" || die "cannot create $1"
	free=$(df -Pk "$1" | awk 'NR == 2 { print int($4 / 1048576) }')
	[ "$free" -ge "$2" ] ||
		die "$3 needs $2 GiB in $1, only $free GiB are free: make room or set XDG_CACHE_HOME"
}

# KVER is VERSION or VERSION+FLAVOUR; sets version, flavour, package, suite,
# src (work tree the build uses), obj (its build directory), repo.
parse_kver()
{
	local known

	version=${1%%+*}
	flavour=
	[ "$version" = "$1" ] || flavour=${1#*+}
	known=$(awk '!/^#/ { printf "%s%s", sep, $1; sep = ", " }' "$TOP/tools/kernel/versions")
	read -r package suite < <(awk -v v="$version" '$1 == v { print $2, $3 }' \
		"$TOP/tools/kernel/versions") ||
		die "unknown KVER '$1': use one of $known"
	case $flavour in
	''|stock) ;;
	*)	[ -e "$TOP/tools/vm/$flavour.config" ] ||
			die "unknown flavour '$flavour' of KVER '$1': use ${version} or ${version}+stock" ;;
	esac
	{ mkdir -p "$CACHE" && [ -w "$CACHE" ]; } 2>/dev/null ||
		die "cannot write to $CACHE: set XDG_CACHE_HOME to a directory where you can"
	repo=$CACHE/linux-$version.git
	src=$CACHE/src/$1
	obj=$CACHE/build/$1
	patches=$TOP/patches/$version
}

# The patches of a version, in order; none for the stock kernel.
series()
{
	[ "$flavour" != stock ] || return 0
	set -- "$patches"/*.patch
	[ -e "$1" ] || die "patches/$version has no patches: take another KVER"
	printf '%s\n' "$@"
}
