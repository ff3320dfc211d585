#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# build.sh KVER: build the VM's kernel of that version, patched with the series
# (or "+stock", as it came), incrementally. Prints the build directory: bzImage
# in arch/x86/boot, modules below root/. Does nothing when it is up to date.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/kernel/env.sh"

kmake()
{
	make -C "$src" O="$obj" -j"$JOBS" CC="ccache gcc" HOSTCC="ccache gcc" \
		KBUILD_BUILD_TIMESTAMP=2026-01-01 KBUILD_BUILD_USER=vm KBUILD_BUILD_HOST=vm "$@"
}

fragments()
{
	echo "$TOP/tools/vm/kernel.config"
	[ "$flavour" = '' ] || [ "$flavour" = stock ] || echo "$TOP/tools/vm/$flavour.config"
}

# What the build depends on: the source with its patches, the configuration,
# the compiler.
build_key()
{
	{
		echo "$commit"
		# shellcheck disable=SC2046
		cat $(fragments)
		gcc --version
		pahole --version
	} | sha256sum
}

# A symbol of the fragment that did not make it into .config is one the kernel
# does not have (any more), or one whose dependencies are missing. The stock
# kernel lacks those the series adds.
check_config()
{
	# shellcheck disable=SC2046
	sed -n '/^CONFIG_/p' $(fragments) | sed 's/^\(CONFIG_[A-Z0-9_a-z]*\)=n$/# \1 is not set/' |
		grep -vxFf "$obj/.config" | grep -v 'is not set' |
		{ [ "$flavour" != stock ] && cat || grep -v KUNIT_TEST; } || true
}

configure()
{
	local missing

	# shellcheck disable=SC2046
	cat $(fragments) > "$obj/fragment.config"
	kmake -s KCONFIG_ALLCONFIG="$obj/fragment.config" allnoconfig > "$obj/build.log" 2>&1 ||
		die "the kernel cannot be configured: see $obj/build.log"
	missing=$(check_config)
	[ -z "$missing" ] || die "not taken by Linux $version: $(echo "$missing" | tr '\n' ' ')"
}

[ $# = 1 ] || die "usage: build.sh KVER"
parse_kver "$1"
for c in ccache gcc flex bison bc pahole:dwarves; do
	need_cmd "${c%:*}" "${c#*:}"
done
commit=$("$TOP/tools/kernel/tree.sh" --commit "$1")
mkdir -p "$obj"
exec 8> "$CACHE/lock.build.$1"
flock 8
key=$(build_key)
if [ "$(cat "$obj/key" 2>/dev/null)" != "$key" ]; then
	need_space "$CACHE" 8 "a kernel build"
	export CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=5G CCACHE_SLOPPINESS=time_macros
	"$TOP/tools/kernel/tree.sh" --checkout "$1" >/dev/null
	rm -f "$obj/key"
	step "building Linux $1, log in $obj/build.log" \
		"15 min the first time on two cores, 2 min after a change"
	configure
	start=$SECONDS
	kmake bzImage modules >> "$obj/build.log" 2>&1 ||
		die "Linux $1 does not build: $(grep -m1 -iE 'error[: ]' "$obj/build.log" || true) (see $obj/build.log)"
	rm -rf "$obj/root"
	kmake -s INSTALL_MOD_PATH="$obj/root" INSTALL_MOD_STRIP=1 modules_install >> "$obj/build.log" 2>&1 ||
		die "modules cannot be installed: see $obj/build.log"
	echo "$key" > "$obj/key"
	step "built in $(((SECONDS - start) / 60)) min $(((SECONDS - start) % 60)) s"
fi
echo "$obj"
