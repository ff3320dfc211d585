# SPDX-License-Identifier: GPL-2.0
# User Mode Linux with the series' KUnit suites, for kunit-uml.sh and mutate.sh.
# Source it after env.sh; call check_series and tree_at first.
# shellcheck shell=bash

UML_CPUS=2

# Sets uml, the build directory, and smp. Exits if the series has no suites.
# shellcheck disable=SC2154
uml_init()
{
	if [ ! -e "$tree/block/.kunitconfig" ]; then
		echo "the series for $version has no block/.kunitconfig"
		exit 4
	fi
	need_cmd ccache
	uml=$CACHE/build/$version+uml
	smp=no
	! grep -q '^config SMP' "$tree/arch/um/Kconfig" || smp=yes
	mkdir -p "$uml"
	export CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=5G PYTHONDONTWRITEBYTECODE=1
}

kunit()
{
	local verb=$1

	shift
	python3 "$tree/tools/testing/kunit/kunit.py" "$verb" --build_dir="$uml" \
		--kunitconfig=block/.kunitconfig "$@"
}

uml_build()
{
	local options=(--jobs="$JOBS" --make_options="CC=ccache gcc")

	[ "$smp" = no ] || options+=(--kconfig_add=CONFIG_SMP=y)
	kunit build "${options[@]}"
}

# uml_rebuild: after a change of a C file, without kunit.py's extras.
uml_rebuild()
{
	make -s -C "$tree" O="$uml" ARCH=um CC="ccache gcc" -j"$JOBS" vmlinux linux 2>&1
}

# uml_run SECONDS: the suites; what the kernel said is in $uml/test.log. With
# several CPUs its user space cannot be traced by ptrace, the default.
uml_run()
{
	local options=(--timeout="$1")

	[ "$smp" = no ] || options+=(--kernel_args="ncpus=$UML_CPUS" --kernel_args=seccomp=on)
	kunit exec "${options[@]}"
}

uml_has_cpus()
{
	[ "$smp" = no ] || grep -qE "Brought up 1 node, $UML_CPUS CPUs" "$uml/test.log"
}
