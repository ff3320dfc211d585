#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# blk-busy.sh: record the events between which disks are busy, in the ring buffer
# of ftrace: in the running kernel, without bpftrace, at little cost to the load.
#
#   blk-busy.sh start [bio] [inner]   begin; with the bios of bio-based disks (dm,
#                                     md, zram), with an event more per request
#                                     for the inner figures of blk-busy.awk
#   blk-busy.sh mark TEXT             put a mark among the events
#   blk-busy.sh stop                  end, and print the events for blk-busy.awk
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

events()
{
	echo block_rq_insert block_rq_issue block_rq_merge block_bio_frontmerge block_unplug
	if [ -d $tracing/events/block/block_io_start ]; then
		echo block_io_start block_io_done
	else
		echo block_getrq block_rq_complete
	fi
	for kind; do
		case $kind in
		bio)	echo block_bio_queue block_split block_bio_complete ;;
		inner)	echo block_rq_complete ;;
		*)	die "start takes bio and inner, not '$kind'" ;;
		esac
	done
}

start()
{
	events=$(events "$@")
	[ -w $tracing/trace ] || die "needs root, and tracefs in $tracing"
	[ ! -e $dir ] || die "is recording already"
	mkdir $dir
	trap 'rmdir $dir' EXIT
	echo mono > $dir/trace_clock
	echo 0 > $dir/options/overwrite
	echo "${BUSY_KB:-16384}" > $dir/buffer_size_kb
	for e in $events; do
		echo 1 > "$dir/events/block/$e/enable"
	done
	trap - EXIT
}

stop()
{
	echo 0 > $dir/tracing_on
	lost=$(awk '/^(overrun|commit overrun|dropped events):/ { n += $NF } END { print n + 0 }' $dir/per_cpu/cpu*/stats)
	cat $dir/trace
	rmdir $dir
	[ "$lost" = 0 ] || die "$lost events were lost: set BUSY_KB above ${BUSY_KB:-16384}"
}

verb=${1-}
[ $# = 0 ] || shift
case $verb/$# in
start/*)	start "$@" ;;
mark/1)		[ -e $dir ] || die "is not recording"
		echo "$1" > $dir/trace_marker ;;
stop/0)		[ -e $dir ] || die "is not recording"
		stop ;;
*)		die "usage: blk-busy.sh start [bio] [inner] | mark TEXT | stop" ;;
esac
