#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [OPTION...] [-- CMD...]: run CMD as root in a fresh virtual machine. Its
# output appears on stdout, its exit code is returned; 125: the machine was lost
# (a panic, a timeout, QEMU died), with the end of its console on stderr. Without
# CMD: a shell on the terminal. The machine sees the files of the host, read-only,
# and starts in the checkout; $TMPDIR is its own.
#   -k KVER       kernel (DEFAULT_KVER of env.sh); is built if need be
#   -c CPUS       CPUs (2)
#   -m MEM        memory (2G)
#   -d DISKS      NVMe disks nvme0n1 ... of 4 GiB (1)
#   -q QUEUES     I/O queues of each (2)
#   -l LATENCY_NS disks that store nothing and answer after that time (0: at once;
#                 any other is rounded up to the host's timer tick), not in a file
#   -i            count instructions: 1 CPU, 1 ns per instruction
#   -t TIMEOUT_S  after this the machine is lost (600; 0: never)
#   -a ARGS       more kernel arguments
#   -o DIR        shared with the machine, which has it as $VM_OUT
#   -p SOCKET     QMP; disk N is the device nvmeN
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/kernel/env.sh"

# number OPTION VALUE MIN MAX
number()
{
	[[ $2 =~ ^(0|[1-9][0-9]{0,11})$ && $2 -ge $3 && $2 -le $4 ]] ||
		die "-$1 takes a number from $3 to $4, not '$2'"
}

parse_options()
{
	local opt

	kver=$DEFAULT_KVER cpus=2 mem=2G disks=1 queues=2 latency='' icount='' limit=600 append='' share='' qmp=''
	while getopts :k:c:m:d:q:l:it:a:o:p: opt; do
		case $opt in
		k)	kver=$OPTARG ;;
		c)	number c "$OPTARG" 1 16; cpus=$OPTARG ;;
		m)	[[ $OPTARG =~ ^[1-9][0-9]*[MG]$ ]] || die "-m takes a size such as 2G, not '$OPTARG'"
			mem=$OPTARG ;;
		d)	number d "$OPTARG" 0 16; disks=$OPTARG ;;
		q)	number q "$OPTARG" 1 128; queues=$OPTARG ;;
		l)	number l "$OPTARG" 0 999999999999; latency=$OPTARG ;;
		i)	icount=yes ;;
		t)	number t "$OPTARG" 0 999999; limit=$OPTARG ;;
		a)	append=$OPTARG ;;
		o)	[[ -d $OPTARG && -w $OPTARG ]] || die "-o takes a directory that can be written, not '$OPTARG'"
			share=$(cd "$OPTARG" && pwd) ;;
		p)	qmp=$OPTARG ;;
		:)	die "-$OPTARG takes a value" ;;
		*)	die "unknown option -$OPTARG: see the top of tools/vm/run.sh" ;;
		esac
	done
	[ -z "$icount" ] || cpus=1
}

# share_dir TAG DIR [OPTION]: a comma in a path is written twice for QEMU.
share_dir()
{
	qemu+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none,multidevs=remap${3-}"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

# Each disk has a port of its own, so that it can be unplugged.
add_disk()
{
	local back="driver=null-co,size=4294967296,latency-ns=$latency,read-zeroes=on"

	if [ -z "$latency" ]; then
		truncate -s 4G "$run/disk$1"
		back="driver=raw,discard=unmap,cache.no-flush=on,file.driver=file,file.discard=unmap,file.filename=${run//,/,,}/disk$1"
	fi
	qemu+=(-blockdev "node-name=disk$1,$back"
		-device "pcie-root-port,id=port$1,chassis=$1,slot=$1"
		-device "nvme,id=nvme$1,bus=port$1,drive=disk$1,serial=vm$1,max_ioqpairs=$queues,msix_qsize=$((queues + 1))")
}

# A /dev/kvm without a CPU that can virtualize opens, and then hangs. The root is
# cached without asking the host again: nobody should change what the machine
# uses while it runs. The time-outs of NVMe allow for emulation.
qemu_command()
{
	local root="root=host rootfstype=9p rootflags=trans=virtio,version=9p2000.L,msize=512000,cache=loose ro" n

	qemu=(qemu-system-x86_64 -machine q35 -cpu max -smp "$cpus" -m "$mem" -nodefaults -no-user-config
		-display none -no-reboot -kernel "$obj/arch/x86/boot/bzImage"
		-append "panic=-1 oops=panic console=ttyS0 loglevel=5 tsc=reliable no_timer_check pcie_ports=native nvme_core.io_timeout=255 nvme_core.admin_timeout=255 $root $append init=\"$TOP/tools/vm/init.sh\" -- \"$run\""
		-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
		-chardev "file,id=console,path=${run//,/,,}/console" -serial chardev:console)
	if [ -n "$icount" ]; then
		qemu+=(-accel tcg -icount 'shift=0,sleep=off')
	elif [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; then
		qemu+=(-accel kvm -accel tcg)
	else
		qemu+=(-accel tcg)
	fi
	[ -z "$tty" ] || qemu+=(-chardev 'stdio,id=tty,signal=off' -serial chardev:tty)
	[ -z "$qmp" ] || qemu+=(-qmp "unix:${qmp//,/,,},server=on,wait=off")
	share_dir host / ,readonly=on
	share_dir run "$run"
	[ -z "$share" ] || share_dir out "$share"
	for ((n = 0; n < disks; n++)); do
		add_disk "$n"
	done
}

# The mounts of the machine. Not over /tmp: the checkout or CMD may be there. The
# host may have no /lib/modules to mount over: the kernel's come on top of the
# host's /lib, less the link to the build directory, for which bpftrace would
# leave BTF alone.
write_fstab()
{
	local shared=trans=virtio,version=9p2000.L,msize=512000,cache=none,X-mount.mkdir

	mkdir -p "$run/lib/modules"
	cp -rs "$obj/root/lib/modules/." "$run/lib/modules"
	rm -f "$run"/lib/modules/*/build
	cat > "$run/fstab" <<-EOF
		sysfs /sys sysfs
		devtmpfs /dev devtmpfs
		devpts /dev/pts devpts X-mount.mkdir
		tmpfs /dev/shm tmpfs X-mount.mkdir
		tmpfs /run tmpfs
		debugfs /sys/kernel/debug debugfs
		tracefs /sys/kernel/tracing tracefs
		configfs /sys/kernel/config configfs
		overlay /lib overlay ro,lowerdir=$run/lib:/lib
		run /run/vm/run 9p $shared
		${share:+out /run/vm/out 9p $shared}
	EOF
}

# What init.sh reads, and the command with its arguments as they are.
write_command()
{
	local size

	size=$(stty size 2>/dev/null) || size='24 80'
	printf '%s=%s\n' VM_DISKS "$disks" VM_TTY "$tty" VM_ROWS "${size% *}" VM_COLS "${size#* }" > "$run/env"
	printf 'export %s=%q\n' HOME "$HOME" LANG C.UTF-8 TERM "${TERM:-dumb}" TMPDIR /run/vm/tmp \
		DM_DISABLE_UDEV 1 VM_KVER "$kver" VM_OBJ "$obj" VM_OUT "${share:+/run/vm/out}" > "$run/cmd"
	printf 'cd %q\nexec' "$TOP" >> "$run/cmd"
	printf ' %q' "$@" >> "$run/cmd"
	: > "$run/out"
}

lost()
{
	local why="no exit code, QEMU ended with $1"

	case $1 in
	124|137) why="not finished after $limit s" ;;
	esac
	if [ -e "$run/lost" ]; then
		why=$(cat "$run/lost")
	elif grep -q 'Kernel panic' "$run/console" 2>/dev/null; then
		why=$(grep -m1 -o 'Kernel panic.*' "$run/console" | tr -d '\r')
	fi
	tail -qn 30 "$run/console" "$run/qemu" >&2 2>/dev/null || :
	echo "run.sh: the machine was lost: $why" >&2
	exit 125
}

# In the background: a signal to this script is then seen at once.
run_machine()
{
	local status=0

	timeout ${tty:+--foreground} -k 5 "$limit" "${qemu[@]}" < "${tty:-/dev/null}" 2> "$run/qemu" &
	pids=$!
	if [ -z "$tty" ]; then
		tail -s 0.1 -n +1 -f --pid=$pids "$run/out" 2>/dev/null &
		pids+=" $!"
	fi
	wait "${pids% *}" || status=$?
	wait
	pids=
	[ -e "$run/rc" ] || lost "$status"
}

# shellcheck disable=SC2317
finish()
{
	# shellcheck disable=SC2086
	[ -z "$pids" ] || { kill $pids 2>/dev/null; wait; } || :
	rm -rf "$run"
}

parse_options "$@"
shift $((OPTIND - 1))
tty=
if [ $# = 0 ]; then
	[ -t 0 ] || die "no command, and no terminal for a shell: run.sh [OPTION...] -- CMD..."
	tty=/dev/tty limit=0
	set -- bash
fi
need_cmd qemu-system-x86_64 qemu-system-x86
obj=$("$TOP/tools/kernel/build.sh" "$kver") || exit
pids=
run=$(mktemp -d)
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
write_fstab
write_command "$@"
qemu_command
run_machine
exit "$(cat "$run/rc")"
