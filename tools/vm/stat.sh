# SPDX-License-Identifier: GPL-2.0
# stat.sh: what the tests in tools/vm/tests share: source it. They run in the
# virtual machine; exit 0: passed, 1: failed, 4: skipped with a reason.
# shellcheck shell=bash

fail()
{
	echo "FAIL: $*" >&2
	exit 1
}

skip()
{
	echo "SKIP: $*"
	exit 4
}

# expect WHAT GOT WANTED
expect()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', not '$3'"
}

# check WHAT ARITHMETIC: in awk, since times do not fit integers of the shell
check()
{
	awk "BEGIN { exit !($2) }" || fail "$1: not $2"
}

calc()
{
	awk "BEGIN { printf \"%.${2:-3}f\", ($1) }"
}

need_disk()
{
	[ -b "/dev/$1" ] || fail "/dev/$1 is no block device"
}

set_mode()
{
	echo "$2" > "/sys/block/$1/queue/iostats"
}

mode()
{
	cat "/sys/block/$1/queue/iostats"
}

# field DISK N: field N, from 1, of the statistics of a disk or partition
field()
{
	local f

	read -ra f < "/sys/class/block/$1/stat"
	echo "${f[$2 - 1]}"
}

inflight()
{
	local f

	read -ra f < "/sys/class/block/$1/stat"
	echo "${f[8]}"
}

uptime_ms()
{
	local up

	read -r up _ < /proc/uptime
	echo $((10#${up/./} * 10))
}

# null_blk NAME ATTRIBUTE=VALUE...: a null_blk disk made through configfs
null_blk()
{
	local dir=/sys/kernel/config/nullb/$1 a

	[ -d /sys/kernel/config/nullb ] || modprobe null_blk nr_devices=0
	mkdir "$dir"
	shift
	for a in "$@"; do
		echo "${a#*=}" > "$dir/${a%%=*}"
	done
	echo 1 > "$dir/power"
}
