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
	echo "$1" | tee $run/lost
	exit 1
}

# wait_until CMD...: for 10 s at most
wait_until()
{
	n=0
	until "$@"; do
		n=$((n + 1))
		[ $n -lt 100 ] || return 0
		sleep 0.1
	done
}

# The kernel measures the TSC for a second before it takes it for a clock.
clock_settled()
{
	read -r clock < /sys/devices/system/clocksource/clocksource0/current_clocksource
	[ "$clock" != tsc-early ]
}

# Other clocks are jiffies of 4 ms, or take an exit for each reading. With
# -icount it is the TSC as well: it counts instructions, as all timers of that
# machine do.
check_clock()
{
	wait_until clock_settled
	case $clock in
	tsc|kvm-clock)	;;
	*)	lost "its clock is $clock, not tsc: no time would be right" ;;
	esac
}

disks_in_order()
{
	for d in /sys/class/nvme/nvme*; do
		read -r serial < "$d/serial"
		[ "vm${d##*nvme}" = "$serial" ] || return 1
	done
}

disks_present()
{
	set -- /sys/block/nvme*n1
	[ $# = "$VM_DISKS" ]
}

# The kernel probes the disks side by side: bind them again one by one if their
# names do not follow the numbers that QEMU gave them.
check_disks()
{
	cd /sys/bus/pci/drivers/nvme
	wait_until disks_present
	if ! disks_in_order; then
		devices=$(echo ????:??:*)
		for d in $devices; do echo "$d" > unbind; done
		for d in $devices; do echo "$d" > bind; done
		wait_until disks_present
	fi
	disks_present || lost "it does not have $VM_DISKS disks"
}

# What the command left running holds its output open.
kill_rest()
{
	for p in /proc/[0-9]*; do
		case ${p#/proc/} in
		1|"$copy")	;;
		*)		kill -9 "${p#/proc/}" 2>/dev/null || : ;;
		esac
	done
}

copied()
{
	! kill -0 "$copy" 2>/dev/null
}

# The output takes a pipe, which programs expect and may open again, and a file
# on the host, which is faster than an emulated serial port.
run_command()
{
	mkfifo $vm/pipe
	cat < $vm/pipe > $run/out &
	copy=$!
	bash $run/cmd < /dev/null > $vm/pipe 2>&1 || rc=$?
	kill_rest
	wait_until copied
}

# On a terminal of its own, with job control.
run_shell()
{
	exec < /dev/ttyS1 > /dev/ttyS1 2>&1
	stty sane cols "$VM_COLS" rows "$VM_ROWS"
	setsid -c bash $run/cmd || rc=$?
}

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
vm=/run/vm
run=$vm/run
mount -t proc proc /proc
trap reset EXIT
# shellcheck source=/dev/null
. "$1/env"
mount -aT "$1/fstab"
mkdir /run/lock $vm/tmp
# udev makes it elsewhere; the <() of the shell needs it
ln -s /proc/self/fd /dev/fd
check_clock
[ "$VM_DISKS" = 0 ] || check_disks
rc=0
if [ -n "$VM_TTY" ]; then
	run_shell
else
	run_command
fi
echo $rc > $run/rc
