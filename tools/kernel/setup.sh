#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# setup.sh: install the Debian packages the commands here need, as far as they
# are missing; does nothing when all are there. Needs root only to install.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/kernel/env.sh"

packages()
{
	sed 's/#.*//' <<-'EOF' | xargs -n 1
	# Kernels, user mode and i386 objects included, and their source as git.
	build-essential gcc make flex bison bc libelf-dev libssl-dev dwarves
	kmod cpio rsync xz-utils zstd git patch perl python3 ccache
	# The virtual machine and what runs in it.
	qemu-system-x86 qemu-utils fio sysstat bpftrace dmsetup mdadm util-linux procps
	# make check; ply and git are for the kernel's spdxcheck, which checkpatch runs.
	shellcheck sparse python3-ply python3-git
	# Plots.
	gnuplot-nox
	EOF
}

missing()
{
	local p

	for p in $(packages); do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || echo "$p"
	done
}

# No daemon of theirs is to run on this machine: Debian asks this file.
without_daemons()
{
	local policy=/usr/sbin/policy-rc.d

	if [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' > "$policy"
		chmod 755 "$policy"
		# shellcheck disable=SC2064
		trap "rm -f $policy" EXIT
	fi
	DEBIAN_FRONTEND=noninteractive "$@"
}

install_packages()
{
	apt-get install -q=2 -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@" >&2
}

[ $# = 0 ] || die "usage: setup.sh"
[[ -x /usr/bin/apt-get && -x /usr/bin/dpkg-query ]] ||
	die "this is no Debian: install the packages of tools/kernel/setup.sh by your system's own means"
mapfile -t list < <(missing)
[ ${#list[@]} -gt 0 ] || exit 0
need_root "installing ${list[*]}"
step "installing ${list[*]}" "2 min"
apt-get update -q=2 >&2 || step "apt-get update fails: trying with the lists there are"
without_daemons install_packages "${list[@]}" ||
	die "apt cannot install ${list[*]}: see above, check the network and /etc/apt/sources.list"
