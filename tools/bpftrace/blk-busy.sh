#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# blk-busy.sh: record the events between which disks are busy, in the ring buffer
# of ftrace: in the running kernel, without bpftrace, at little cost to the load.
#
#   blk-busy.sh start [bio]   begin; with the bios of bio-based disks (dm, md, zram)
#   blk-busy.sh mark TEXT     put a mark among the events
#   blk-busy.sh stop          end, and print the events for blk-busy.awk
#
# Example:  blk-busy.sh start; fio job.fio; blk-busy.sh stop | blk-busy.awk
# Requires: root, tracefs. Buffer: BUSY_KB KiB a CPU (16384); an I/O takes about
# 500 bytes. Fails when events were lost. Times are rounded to microseconds.
set -eu

tracing=/sys/kernel/tracing
dir=$tracing/instances/blk-busy

die()
{
	echo "blk-busy.sh: $*" >&2
	exit 2
}

# block_io_start and block_io_done are there since Linux 6.5. The interrupts tell
# batches of completions apart.
events()
{
	set -- ${1+block_bio_queue block_split block_bio_complete}
	set -- "$@" block_rq_insert block_rq_issue block_rq_merge block_rq_complete block_bio_frontmerge block_unplug
	if [ -d $tracing/events/block/block_io_start ]; then
		set -- "$@" block_io_start block_io_done
	else
		set -- "$@" block_getrq
	fi
	printf 'block/%s\n' "$@"
	echo irq/irq_handler_entry timer/hrtimer_expire_entry
}

# Plugged requests start when blk_mq_flush_plug_list() reads the clock, which is
# before it reports the unplug. Without kprobes the unplug has to do, and the
# start is late by what lies between.
probe()
{
	echo 'p:blk_busy/flush_plug blk_mq_flush_plug_list' >> $tracing/kprobe_events 2>/dev/null || return 0
	echo blk_busy/flush_plug
}

unprobe()
{
	[ ! -e $tracing/events/blk_busy ] || echo '-:blk_busy/flush_plug' >> $tracing/kprobe_events
}

start()
{
	[ -w $tracing/trace ] || die "needs root, and tracefs in $tracing"
	[ ! -e $dir ] || die "is recording already"
	mkdir $dir
	trap 'rmdir $dir; unprobe' EXIT
	events=$(events "$@"; probe)
	echo mono > $dir/trace_clock
	echo 0 > $dir/options/overwrite
	echo "${BUSY_KB:-16384}" > $dir/buffer_size_kb
	for e in $events; do
		echo 1 > "$dir/events/$e/enable"
	done
	trap - EXIT
}

stop()
{
	echo 0 > $dir/tracing_on
	lost=$(awk '/^(overrun|commit overrun|dropped events):/ { n += $NF } END { print n + 0 }' $dir/per_cpu/cpu*/stats)
	cat $dir/trace
	rmdir $dir
	unprobe
	[ "$lost" = 0 ] || die "$lost events were lost: set BUSY_KB above ${BUSY_KB:-16384}"
}

verb=${1-}
[ $# = 0 ] || shift
case $verb/${*:+$1} in
start/|start/bio)
		start "$@" ;;
mark/?*)	[ -e $dir ] || die "is not recording"
		echo "$1" > $dir/trace_marker ;;
stop/)		[ -e $dir ] || die "is not recording"
		stop ;;
*)		die "usage: blk-busy.sh start [bio] | mark TEXT | stop" ;;
esac
