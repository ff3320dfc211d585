#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# init.sh RUN: process 1 of the machine that run.sh starts. Mounts what RUN/fstab
# says on top of the host's read-only root, runs RUN/cmd, leaves its exit code in
# RUN/rc, and resets the machine, which ends QEMU. There is no exit code when
# anything here fails: its message is on the console, and run.sh reports the
# machine as lost. Few programs are started: without KVM each costs 0.1 s.
set -eu

# Also after a failed command. Nothing is written back: the disks end with the
# machine, and a hung one would hold this up.
reset()
{
	echo b > /proc/sysrq-trigger
}

lost()
{
	echo "$1" | tee "$run/lost"
	exit 1
}

# Other clocks are jiffies of 4 ms, or take an exit for each reading. With
# -icount it is the TSC as well: it counts instructions, as all timers of that
# machine do. The kernel measures the TSC for a second, as tsc-early, first.
check_clock()
{
	file=/sys/devices/system/clocksource/clocksource0/current_clocksource
	n=0
	while read -r clock < $file && [ "$clock" = tsc-early ] && [ $n -lt 50 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	case $clock in
	tsc|kvm-clock)	;;
	*)	lost "its clock is $clock, not tsc: no time would be right" ;;
	esac
}

in_order()
{
	for d in /sys/class/nvme/nvme*; do
		read -r serial < "$d/serial"
		[ "vm${d##*nvme}" = "$serial" ] || return 1
	done
}

# The kernel probes the disks side by side: bind them again, one by one, when
# their names do not follow the numbers in QEMU. Then wait for the last one.
check_disks()
{
	cd /sys/bus/pci/drivers/nvme
	if ! in_order; then
		devices=$(echo ????:??:*)
		for d in $devices; do echo "$d" > unbind; done
		for d in $devices; do echo "$d" > bind; done
	fi
	n=0
	for d in $VM_DISKS; do
		until [ -e "/sys/block/$d" ]; do
			n=$((n + 1))
			[ $n -lt 100 ] || lost "it has no disk $d"
			sleep 0.1
		done
	done
}

# What the command left running holds its output open.
kill_rest()
{
	for p in /proc/[0-9]*; do
		case ${p#/proc/} in
		1|"$1")	;;
		*)	kill -9 "${p#/proc/}" 2>/dev/null || : ;;
		esac
	done
}

# The output takes a pipe, which programs expect and may open again, and a file
# on the host, which is faster than an emulated serial port.
run_command()
{
	mkfifo $vm/pipe
	cat < $vm/pipe > "$run/out" &
	copy=$!
	bash "$run/cmd" < /dev/null > $vm/pipe 2>&1 || rc=$?
	kill_rest $copy
	n=0
	while kill -0 $copy 2>/dev/null && [ $n -lt 50 ]; do
		sleep 0.1
		n=$((n + 1))
	done
}

# On a terminal of its own, with job control.
run_shell()
{
	exec < /dev/ttyS1 > /dev/ttyS1 2>&1
	stty sane cols "$VM_COLS" rows "$VM_ROWS"
	setsid -c bash "$run/cmd" || rc=$?
}

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
vm=/run/vm
mount -t proc proc /proc
trap reset EXIT
# shellcheck source=/dev/null
. "$1/env"
mount -aT "$1/fstab"
run=$vm/run
mkdir /run/lock $vm/tmp
ln -s /proc/self/fd /dev/fd
check_clock
[ -z "$VM_DISKS" ] || check_disks
rc=0
if [ "$VM_TTY" = yes ]; then
	run_shell
else
	run_command
fi
echo $rc > $run/rc
