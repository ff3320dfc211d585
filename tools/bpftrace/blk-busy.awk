#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0
# blk-busy.awk: from the events of blk-busy.sh or blk-busy.bt, what the kernel's
# accounting should say. One line per disk:
#
#   disk window_ns busy_ns ios latency_ns queue_ns max_inflight inflight
#	inner_busy_ns inner_latency_ns span_ns
#
# busy_ns is the measure of the union of the intervals of its I/Os within the
# window, queue_ns the sum of their parts within it; ios is the number that ended
# in the window, latency_ns the sum of their whole latencies; inflight were still
# running when it closed; span_ns is the time from the first moment with an I/O
# in flight to the last. An I/O begins when it leaves the task that submitted it:
# at block_io_start or, if a plug held it, when the plug is flushed; it ends at
# block_io_done. The kernel reads its clock just after the one and before the
# other: these are upper bounds. The inner figures are lower bounds: from
# block_rq_insert or block_rq_issue to block_rq_complete, of the first request
# when several are completed in one go, since the kernel may read its clock once
# for all. What lies between is the waking of the submitter, and tracing itself:
# 3 us an event in an emulated machine.
# Bio-based disks begin at block_bio_queue, end at block_bio_complete.
#
# -v from= and -v to= limit the window: each a time of CLOCK_MONOTONIC in ns, or
# the text of a mark. Default: all events.
#
# The events do not name the request: disk and sector do, the oldest first. In
# bio-based disks the oldest bio ends first; the latency of a window that neither
# begins nor ends idle is then off when bios overtake each other.
#
# Example: awk -v from=begin -v to=end -f blk-busy.awk events
# Fails, with a message, when an I/O ended that never began, or events were lost.

function fail(message)
{
	print "blk-busy.awk: " message > "/dev/stderr"
	failed = 1
	exit 1
}

# "12.345678:", seconds, of ftrace, or "12345678901:", nanoseconds, of bpftrace.
function to_ns(text,	part)
{
	sub(/:$/, "", text)
	return split(text, part, ".") == 2 ? part[1] * 1e9 + part[2] * 1e3 : text + 0
}

function edge(disk, t, step, latency)
{
	edges++
	time[edges] = t
	where[edges] = disk
	delta[edges] = step
	took[edges] = latency
	order[edges] = edges
}

function before(a, b)
{
	return time[a] < time[b] || (time[a] == time[b] && a < b)
}

function sort(low, high,	i, j, pivot, swap)
{
	while (low < high) {
		i = low
		j = high
		pivot = order[int((low + high) / 2)]
		while (i <= j) {
			while (before(order[i], pivot))
				i++
			while (before(pivot, order[j]))
				j--
			if (i <= j) {
				swap = order[i]
				order[i++] = order[j]
				order[j--] = swap
			}
		}
		sort(low, j)
		low = i
	}
}

# The requests that are open at a place, oldest first, as " 12 15 ".
function add(place, id)
{
	if (!(place in open))
		open[place] = " "
	open[place] = open[place] id " "
}

function oldest(place, waiting,	ids, n, i)
{
	if (!(place in open))
		return 0
	n = split(open[place], ids, " ")
	for (i = 1; i <= n; i++)
		if (!waiting || !(ids[i] + 0 in start))
			return ids[i] + 0
	return 0
}

function take(place, id,	i)
{
	i = index(open[place], " " id " ")
	open[place] = substr(open[place], 1, i) substr(open[place], i + length(id) + 2)
	if (open[place] == " ")
		delete open[place]
}

function begin(id)
{
	if (!(id in start))
		start[id] = unplugged[task[id]] > born[id] ? unplugged[task[id]] : born[id]
}

function finish(disk, id, t, ios)
{
	begin(id)
	edge(disk, start[id], 1, -1)
	edge(disk, t, -1, ios ? t - start[id] : -1)
	if ((id in sent) && (id in received)) {
		edge("inner " disk, sent[id], 1, -1)
		edge("inner " disk, received[id], -1, received[id] - sent[id])
	}
	delete start[id]
	delete born[id]
	delete task[id]
	delete sent[id]
	delete received[id]
}

# A write that carries its own flush may end twice, the second time for good:
# it is kept until the place is used again.
function settle(place)
{
	if (place in flushed) {
		finish(disk, flushed[place], ended[place], 1)
		delete flushed[place]
	}
}

function request_start(flush)
{
	settle(place)
	request_based[disk] = 1
	born[++ids] = t
	task[ids] = pid
	if (flush)
		sequenced[ids] = 1
	add(place, ids)
}

function request_done(	id)
{
	id = oldest(place, 0)
	if (id) {
		take(place, id)
		if (id in sequenced) {
			flushed[place] = id
			ended[place] = t
		} else {
			finish(disk, id, t, 1)
		}
	} else if (place in flushed) {
		ended[place] = t
	} else {
		orphans[disk]++
	}
}

# Completions that follow each other on a CPU are one batch, until another event
# there: a submission, the next interrupt. In an interrupt nothing else may come
# between, however long the host holds up the machine; else 1 ms is the limit.
function batch_begin()
{
	if (!(cpu in batch) || (t - batch_last[cpu] > 1e6 && flags !~ /[hH]/))
		batch[cpu] = t
}

# What the device is done with is not done yet for its submitter.
function request_received(	ids, n, i)
{
	batch_begin()
	n = place in open ? split(open[place], ids, " ") : 0
	for (i = 1; i <= n; i++)
		if ((ids[i] + 0 in sent) && !(ids[i] + 0 in received)) {
			i = ids[i] + 0
			received[i] = batch[cpu] > sent[i] ? batch[cpu] : sent[i]
			return
		}
}

function request_merged(	id)
{
	id = oldest(place, 0)
	if (id) {
		take(place, id)
		finish(disk, id, t, 0)
	}
}

# The request that a bio is put in front of begins where the bio does.
function request_grows(sectors,	old, id)
{
	old = disk " " (sector + sectors)
	id = oldest(old, 1)
	if (id) {
		take(old, id)
		add(place, id)
	}
}

function bio_done(disk)
{
	if (bio_head[disk] < bio_tail[disk]) {
		start[++ids] = bio_start[disk, bio_head[disk]++]
		finish(disk, ids, t, 1)
	} else {
		orphans[disk]++
	}
}

BEGIN {
	number = "^[0-9]+$"
}

/^Lost [0-9]+ events/ {
	fail($0 ": raise BPFTRACE_PERF_RB_PAGES, or use blk-busy.sh")
}

# bpftrace counts the events apart from printing them.
/^@events: / {
	counted = $2
}

!match($0, /-[0-9]+ +\[[0-9]+\] /) {
	next
}

{
	pid = substr($0, RSTART + 1) + 0
	cpu = substr($0, RSTART, RLENGTH)
	sub(/^.*\[0*/, "", cpu)
	cpu += 0
	$0 = substr($0, RSTART + RLENGTH)
	flags = $1
	t = to_ns($2)
	event = $3
	if (sub(/^tracepoint:block:/, "", event))
		printed++
	if (!first_time)
		first_time = t
	last_time = t
}

event == "block_io_done:" {
	batch_last[cpu] = t
}

event != "block_io_done:" && event != "block_rq_complete:" {
	delete batch[cpu]
}

event == "tracing_mark_write:" {
	sub(/^.*tracing_mark_write: /, "")
	mark[$0] = t
	next
}

event == "flush_plug:" {
	probed = 1
}

event == "flush_plug:" || (event == "block_unplug:" && !probed) {
	unplugged[pid] = t
	next
}

event == "block_unplug:" {
	next
}

event == "irq_handler_entry:" || event == "hrtimer_expire_entry:" {
	next
}

# The rest names a disk. Commands that are not I/O, and the flushes the kernel
# itself issues on behalf of others, are not accounted.
$4 == "0,0" || $5 ~ /^F?N/ || $5 ~ /^FF/ {
	next
}

{
	disk = $4
	sub(/,/, ":", disk)
	sector = $6 == "()" ? $7 : $7 == "()" ? $8 : $6
	place = disk " " sector
}

event == "block_io_start:" {
	modern = 1
	request_start($5 ~ /F/ && $6 > 0)
}

# Linux before 6.5 has neither block_io_start nor block_io_done.
event == "block_getrq:" {
	request_start($5 ~ /F/ && $8 > 0)
}

event == "block_rq_insert:" || event == "block_rq_issue:" {
	id = oldest(place, 1)
	if (id) {
		begin(id)
		sent[id] = t
	}
}

event == "block_io_done:" || (event == "block_rq_complete:" && !modern) {
	request_done()
}

event == "block_rq_complete:" && modern {
	request_received()
}

event == "block_rq_merge:" {
	request_merged()
}

event == "block_bio_frontmerge:" {
	request_grows($8)
}

# A split adds a bio that completes, but for dm, which sends the rest of the bio
# around again and reports it as split where it begins.
event == "block_bio_queue:" || (event == "block_split:" && $6 != $8) {
	if (!(disk in request_based))
		bio_start[disk, bio_tail[disk]++] = t
}

event == "block_bio_complete:" {
	if (!(disk in request_based))
		bio_done(disk)
}

function boundary(text, otherwise)
{
	if (text == "")
		return otherwise
	if (text in mark)
		return mark[text]
	if (text !~ number)
		fail("no mark '" text "' among the events")
	return text + 0
}

# Account for the time since the last edge of the disk.
function advance(disk, t,	a, b)
{
	a = since[disk] > from ? since[disk] : from
	b = t < to ? t : to
	if (b > a && inflight[disk] > 0) {
		if (!(disk in first))
			first[disk] = a
		last[disk] = b
		busy[disk] += b - a
		queue[disk] += inflight[disk] * (b - a)
		if (inflight[disk] > most[disk])
			most[disk] = inflight[disk]
	}
	since[disk] = t
}

END {
	if (failed)
		exit 1
	if (printed != counted)
		fail("bpftrace printed " printed + 0 " of " counted + 0 " events: use blk-busy.sh")
	for (place in flushed) {
		disk = substr(place, 1, index(place, " ") - 1)
		settle(place)
	}
	for (disk in orphans)
		if (orphans[disk] && !((disk in bio_tail) && (disk in request_based)))
			fail(orphans[disk] " I/Os of disk " disk " ended that never began: events were lost, or it was busy already when the recording began")
	for (place in open) {
		disk = substr(place, 1, index(place, " ") - 1)
		n = split(open[place], left, " ")
		for (i = 1; i <= n; i++) {
			begin(left[i] + 0)
			edge(disk, start[left[i] + 0], 1, -1)
		}
	}
	for (disk in bio_tail)
		if (!(disk in request_based) && bio_head[disk])
			while (bio_head[disk] < bio_tail[disk])
				edge(disk, bio_start[disk, bio_head[disk]++], 1, -1)
	from = boundary(from, first_time)
	to = boundary(to, last_time)
	sort(1, edges)
	for (i = 1; i <= edges; i++) {
		e = order[i]
		disk = where[e]
		advance(disk, time[e])
		inflight[disk] += delta[e]
		if (time[e] <= to)
			running[disk] = inflight[disk]
		if (took[e] >= 0 && time[e] > from && time[e] <= to) {
			ios[disk]++
			latency[disk] += took[e]
		}
	}
	print "disk window_ns busy_ns ios latency_ns queue_ns max_inflight inflight inner_busy_ns inner_latency_ns span_ns"
	for (disk in since)
		advance(disk, to)
	for (disk in since)
		if (disk !~ /^inner/)
			printf "%s %.0f %.0f %d %.0f %.0f %d %d %.0f %.0f %.0f\n", disk, to - from, busy[disk],
				ios[disk], latency[disk], queue[disk], most[disk], running[disk],
				busy["inner " disk], latency["inner " disk], last[disk] - first[disk]
}
