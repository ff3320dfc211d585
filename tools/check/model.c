// SPDX-License-Identifier: GPL-2.0
/*
 * Model checker of the busy time of a disk: block/blk-busy.c in user space, with
 * every interleaving of a few I/Os and readers.
 *
 * The source is the kernel's, included below; what it uses of the kernel is
 * here.  Each access to memory that CPUs share is a step.  The CPUs' threads are
 * coroutines, and before a step any of them may be the next to run: explore()
 * goes through all schedules, depth first, each from the start, up to a number
 * of preemptions (Musuvathi and Qadeer, CHESS, PLDI 2007).  Memory is
 * sequentially consistent: a missing barrier is not found.
 *
 * The clock advances by one unit with each step.  So a time is a small number,
 * a set of times fits into a word, and for each unit it is known whether it was
 * busy, whether it was added to io_ticks and by whom it was read.  An event is
 * the start or the end of an I/O; its delay goes from its reading of the clock to
 * its taking effect, which is the step that changes the root, or the leaf if the
 * root stays as it is.  What must hold in each schedule, for a disk and for a
 * partition:
 *
 * - At the end, the units added are those in which an I/O was in flight, but for
 *   units within the delay of an event.  So the length differs by no more than
 *   the sum of the delays, and that whatever the length of the steps is.
 * - A reader sees of the units before its clock those that were busy, but for
 *   units within the delay of an event, which need not have taken effect yet.
 *   It may see later ones, up to the time it returns, that were busy or within
 *   the delay of an event.
 * - A reader sees all that another saw who returned before it began.
 * - No unit is added twice; none before the first start, though the disk was
 *   idle for long; none is seen that is still to come.
 * - At the end, the leaves and the count in the root are 0, and no CPU adds.
 *
 * I/Os in jiffies may have added what they like between their first tick and
 * their end, and nothing has to be.
 *
 * usage: model [-q] [-b PREEMPTIONS] [SCENARIO...]
 *
 * Prints for each scenario the number of schedules and the largest errors found.
 * Exits 1 if one fails, with the schedule that has the fewest preemptions; with
 * -q only with the name and the reason, at the first that fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

typedef uint64_t u64;
typedef int64_t s64;
typedef unsigned __int128 units_t;	/* a set of units of time, see units() */

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define BIT(n)		(1U << (n))

#define NR_CPUS		4
#define NR_BDEVS	2	/* the disk and its partition */
#define NR_IOS		6
#define NR_THREADS	5
#define NR_READINGS	4
#define NR_STEPS	128	/* bits of units_t */
#define STACK_SIZE	(64 * 1024)
#define COLUMN		28	/* of a printed schedule, for each thread */

#define IDLE		1000000ULL	/* for how long the disk was idle before */
#define TICK		4		/* units of the coarse clock */
#define NEVER		(~0ULL)
#define NO_BOUND	NR_STEPS	/* of preemptions */

static u64 now;			/* steps so far; the clock is IDLE ahead of that */

/*
 * What block/blk-busy.c uses of the kernel.
 */
#define __init
#define __ro_after_init
#define EXPORT_SYMBOL_IF_KUNIT(symbol)	extern int no_symbol
#define NSEC_PER_SEC	1000000000L
#define BIT_ULL(n)	(1ULL << (n))

typedef struct {
	s64 counter;
} atomic64_t;

struct disk_stats {
	u64 io_ticks;
	unsigned int in_flight;
	atomic64_t leaf;
	unsigned int adding;
};

struct block_device {
	atomic64_t bd_busy;
	struct disk_stats *bd_stats;
};

static struct disk_stats stats[NR_BDEVS][NR_CPUS];
static struct block_device bdevs[NR_BDEVS] = {
	{ .bd_stats = stats[0] },
	{ .bd_stats = stats[1] },
};

static unsigned int nr_cpu_ids;

static bool bdev_is_partition(struct block_device *bdev)
{
	return bdev != bdevs;
}

static struct block_device *bdev_whole(struct block_device *bdev)
{
	(void)bdev;
	return bdevs;
}

static unsigned int order_base_2(unsigned int n)
{
	unsigned int order = 0;

	while (BIT(order) < n)
		order++;
	return order;
}

/* The checker's side of what follows, see there. */
static void step(const char *what, const void *where, unsigned int how);
static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static unsigned int this_cpu(void);
static bool is_event(void);
static void wait_while(const unsigned int *flag);
static void root_moved(const atomic64_t *root);
static void leaf_changed(const atomic64_t *leaf, bool is_start);
static void ticks_added(const u64 *io_ticks, u64 ticks);
static void ticks_seen(const u64 *io_ticks);

static const unsigned int *last_flag;	/* that was read */

/* How a step accesses memory, see depends(). */
#define READS		0
#define WRITES		1
#define TIMED		2	/* its time matters for what is checked */

#define for_each_possible_cpu(cpu)					\
	for ((cpu) = 0; (unsigned int)(cpu) < nr_cpu_ids; (cpu)++)

/* A macro that does not mind the type of the counter. */
#define this_cpu_slot(pcp)						\
	(*(__typeof__(&(pcp)))((char *)&(pcp) +				\
			       this_cpu() * sizeof(struct disk_stats)))

#define this_cpu_inc(pcp) do {						\
	step(#pcp " + 1", &this_cpu_slot(pcp), WRITES);			\
	this_cpu_slot(pcp)++;						\
} while (0)

#define this_cpu_dec(pcp) do {						\
	step(#pcp " - 1", &this_cpu_slot(pcp), WRITES);			\
	this_cpu_slot(pcp)--;						\
} while (0)

#define this_cpu_add(pcp, n) do {					\
	step(#pcp " + n", &this_cpu_slot(pcp), WRITES);			\
	this_cpu_slot(pcp) += (n);						\
	ticks_added(&this_cpu_slot(pcp), n);					\
} while (0)

#define part_stat_get_cpu(part, field, cpu)	((part)->bd_stats[cpu].field)

#define part_stat_read_u64_cpu(part, field, cpu)			\
({									\
	const u64 *_p = &part_stat_get_cpu(part, field, cpu);		\
									\
	/* with the last one a reader is done */			\
	step("read " #field, _p,					\
	     (cpu) + 1 == (int)nr_cpu_ids ? READS | TIMED : READS);	\
	say("%llu", (unsigned long long)*_p);				\
	ticks_seen(_p);							\
	*_p;								\
})

/* Only for disk_stats.adding, which is waited for to become 0. */
#define READ_ONCE(x)							\
({									\
	step("read " #x, &(x), READS);					\
	say("%u", x);							\
	last_flag = &(x);						\
	x;								\
})

#define smp_mb()	do { } while (0)
#define smp_rmb()	do { } while (0)
#define smp_wmb()	do { } while (0)
#define cpu_relax()	wait_while(last_flag)

static s64 atomic64_read(const atomic64_t *v)
{
	step("atomic read", v, READS);
	return v->counter;
}

static bool atomic64_try_cmpxchg(atomic64_t *v, s64 *old, s64 new)
{
	step("cmpxchg", v, is_event() ? WRITES | TIMED : WRITES);
	if (v->counter != *old) {
		say("fails");
		*old = v->counter;
		return false;
	}
	v->counter = new;
	root_moved(v);
	return true;
}

static s64 atomic64_add_return(s64 i, atomic64_t *v)
{
	step("leaf + 1", v, WRITES | TIMED);
	v->counter += i;
	leaf_changed(v, true);
	return v->counter;
}

static s64 atomic64_sub_return(s64 i, atomic64_t *v)
{
	step("leaf - 1", v, WRITES | TIMED);
	v->counter -= i;
	leaf_changed(v, false);
	return v->counter;
}

#include "blk-busy.c"

/*
 * Scenarios.  A program is a list of two letters each: what to do with which I/O
 *
 *	s	start		e	end
 *	j	start		k	end, accounted in jiffies
 *	r	read the statistics of a disk (0) or of its partition (1)
 */
struct program {
	unsigned int cpu;
	/*
	 * Of the interrupt it runs in, 0 if in a task.  Where an interrupt has
	 * come in, it runs to its end before what it interrupts goes on.  Tasks
	 * are not interrupted by other tasks, but where a letter ends.
	 */
	unsigned int level;
	const char *ops;
};

static const struct scenario {
	const char *name;
	unsigned int cpus;
	unsigned int bound;	/* of preemptions, 0 for the default */
	const char *leaves;	/* for each I/O, the CPU that it counts for */
	const char *parts;	/* for each I/O, 1 if for the partition */
	const char *before;	/* a program run first, in one schedule only */
	struct program threads[NR_THREADS];
} scenarios[] = {
	{
		.name = "two CPUs", .cpus = 2, .bound = NO_BOUND, .leaves = "01",
		.threads = { { 0, 0, "s0e0" }, { 1, 0, "s1e1" } },
	}, {
		.name = "two CPUs, one leaf", .cpus = 2, .leaves = "00",
		.bound = NO_BOUND,
		.threads = { { 0, 0, "s0e0" }, { 1, 0, "s1e1" } },
	}, {
		.name = "back to back", .cpus = 2, .leaves = "00",
		.bound = NO_BOUND,
		.threads = { { 0, 0, "s0s1" }, { 1, 0, "e0e1" } },
	}, {
		.name = "three CPUs", .cpus = 3, .leaves = "012",
		.threads = {
			{ 0, 0, "s0e0" }, { 1, 0, "s1e1" }, { 2, 0, "s2e2" },
		},
	}, {
		.name = "end in a start", .cpus = 2, .leaves = "001",
		.before = "s0",
		.threads = {
			{ 0, 0, "s1e1" }, { 0, 1, "e0" }, { 1, 0, "s2e2" },
		},
	}, {
		.name = "start in an end", .cpus = 2, .leaves = "001",
		.before = "s0",
		.threads = {
			{ 0, 0, "e0e1" }, { 0, 1, "s1" }, { 1, 0, "s2e2" },
		},
	}, {
		.name = "one CPU and a reader", .cpus = 2, .leaves = "0",
		.bound = NO_BOUND,
		.threads = { { 0, 0, "s0e0" }, { 1, 0, "r0" } },
	}, {
		.name = "two CPUs and a reader", .cpus = 3, .leaves = "01",
		.threads = {
			{ 0, 0, "s0e0" }, { 1, 0, "s1e1" }, { 2, 0, "r0" },
		},
	}, {
		.name = "back to back and a reader", .cpus = 3, .leaves = "00",
		.threads = {
			{ 0, 0, "s0s1" }, { 1, 0, "e0e1" }, { 2, 0, "r0" },
		},
	}, {
		.name = "three CPUs and a reader", .cpus = 4, .leaves = "012",
		.threads = {
			{ 0, 0, "s0e0" }, { 1, 0, "s1e1" }, { 2, 0, "s2e2" },
			{ 3, 0, "r0" },
		},
	}, {
		.name = "end in a start and a reader", .cpus = 3, .leaves = "00",
		.before = "s0",
		.threads = {
			{ 0, 0, "s1e1" }, { 0, 1, "e0" }, { 2, 0, "r0" },
		},
	}, {
		.name = "end in a reader", .cpus = 2, .leaves = "01",
		.before = "s0",
		.threads = {
			{ 0, 0, "r0r0" }, { 0, 1, "e0" }, { 1, 0, "s1e1" },
		},
	}, {
		.name = "a reader twice", .cpus = 2, .leaves = "0",
		.threads = { { 0, 0, "s0e0" }, { 1, 0, "r0r0" } },
	}, {
		.name = "two readers", .cpus = 3, .leaves = "0",
		.threads = {
			{ 0, 0, "s0e0" }, { 1, 0, "r0" }, { 2, 0, "r0" },
		},
	}, {
		.name = "two readers, one twice", .cpus = 3, .leaves = "0",
		.before = "s0",
		.threads = {
			{ 0, 0, "e0" }, { 1, 0, "r0r0" }, { 2, 0, "r0" },
		},
	}, {
		.name = "partition", .cpus = 3, .leaves = "01", .parts = "10",
		.threads = {
			{ 0, 0, "s0e0" }, { 1, 0, "s1e1" }, { 2, 0, "r0" },
		},
	}, {
		.name = "partition read", .cpus = 3, .leaves = "01", .parts = "11",
		.threads = {
			{ 0, 0, "s0e0" }, { 1, 0, "s1e1" }, { 2, 0, "r1" },
		},
	}, {
		.name = "jiffies", .cpus = 2, .leaves = "01", .bound = NO_BOUND,
		.threads = { { 0, 0, "s0e0" }, { 1, 0, "j1k1" } },
	}, {
		.name = "jiffies and a reader", .cpus = 3, .leaves = "01",
		.threads = {
			{ 0, 0, "s0e0" }, { 1, 0, "j1k1" }, { 2, 0, "r0" },
		},
	}, {
		/* The count of the root goes beyond the number of CPUs. */
		.name = "ends in ends", .cpus = 2, .leaves = "01110",
		.before = "s0s1",
		.threads = {
			{ 0, 0, "e0" }, { 0, 1, "e1" }, { 0, 2, "e2" },
			{ 1, 0, "s2s3s4e4e3" },
		},
	}, {
		.name = "end in an end and a reader", .cpus = 2, .leaves = "0110",
		.before = "s0s1",
		.threads = {
			{ 0, 0, "e0e2" }, { 0, 1, "e1" }, { 1, 0, "s2s3r0e3" },
		},
	}, {
		.name = "start in an end in an end", .cpus = 1, .leaves = "000",
		.before = "s0",
		.threads = {
			{ 0, 0, "e0e2" }, { 0, 1, "s1e1" }, { 0, 2, "s2" },
		},
	},
};

/*
 * What there is to know about a schedule while it runs.
 */
struct event {
	u64 clock;		/* NEVER if not read yet */
	u64 effect[NR_BDEVS];	/* NEVER if not there yet */
};

struct io {
	unsigned int cpu;
	bool part;
	bool jiffies;
	struct event start;
	struct event end;
	unsigned int not_started;
	u64 gone;		/* when it was no longer in flight */
};

struct reading {
	struct block_device *bdev;
	u64 begin;
	u64 clock;
	u64 end;
	u64 value;
	units_t seen;
};

struct thread {
	const struct program *program;
	unsigned int cpu;
	unsigned int bit;	/* in a mask of threads */
	bool running;		/* it has its CPU */
	bool done;
	struct thread *below;	/* who had the CPU before */
	const unsigned int *wait;	/* does not go on while this is not 0 */
	const void *where;	/* the access of the next step */
	unsigned int how;
	struct event *event;	/* the one that goes on */
	u64 moved_to;		/* where it has moved the root */
	units_t seen;		/* the units it has read */
	jmp_buf begin;		/* at the begin of thread_main() */
	jmp_buf regs;
	ucontext_t context;
	char stack[STACK_SIZE];
};

static const struct scenario *scenario;
static struct thread threads[NR_THREADS];
static struct thread main_thread;
static struct thread *self = &main_thread;
static struct thread *on_cpu[NR_CPUS];
static unsigned int nr_threads;
static unsigned int nr_done;

static struct io ios[NR_IOS];
static unsigned int nr_ios;
static struct reading readings[NR_READINGS];
static unsigned int nr_readings;
static units_t added[NR_BDEVS][NR_CPUS];

/* The largest errors, in units. */
static struct worst {
	u64 end;		/* at the end */
	u64 under;		/* of a reader */
	u64 over;
	u64 growth;		/* between two readings, beyond the clock's */
} worst;

static bool verbose;		/* print each step */
static jmp_buf on_failure;
static char failure[256];

static void say(const char *fmt, ...)
{
	va_list args;

	if (!verbose)
		return;
	va_start(args, fmt);
	printf(": ");
	vprintf(fmt, args);
	va_end(args);
}

static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(failure, sizeof(failure), fmt, args);
	va_end(args);
	_longjmp(on_failure, 1);
}

/*
 * Sets of units, the time since the model began.
 */
static units_t units_before(u64 end)
{
	return end < NR_STEPS ? ((units_t)1 << end) - 1 : ~(units_t)0;
}

static units_t units(u64 begin, u64 end)
{
	return begin < end ? units_before(end) & ~units_before(begin) : 0;
}

static u64 length(units_t set)
{
	return __builtin_popcountll(set) + __builtin_popcountll(set >> 64);
}

static u64 difference(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* The first of a set, for messages. */
static unsigned int first(units_t set)
{
	return (u64)set ? __builtin_ctzll(set) : 64 + __builtin_ctzll(set >> 64);
}

static bool io_is_for(const struct io *io, const struct block_device *bdev)
{
	return bdev == bdevs || io->part;
}

/* The units up to @at in which an I/O was in flight. */
static units_t busy_units(const struct block_device *bdev, u64 at)
{
	units_t set = 0;
	unsigned int i;

	for (i = 0; i < nr_ios; i++)
		if (io_is_for(&ios[i], bdev) && !ios[i].jiffies)
			set |= units(ios[i].start.clock, min(ios[i].end.clock, at));
	return set;
}

static u64 tick_of(u64 time)
{
	return time / TICK * TICK;
}

/* The same for I/Os in jiffies, more or less. */
static units_t jiffies_units(const struct block_device *bdev, u64 at)
{
	units_t set = 0;
	unsigned int i;

	for (i = 0; i < nr_ios; i++)
		if (io_is_for(&ios[i], bdev) && ios[i].jiffies &&
		    ios[i].start.clock != NEVER)
			set |= units(tick_of(ios[i].start.clock), min(ios[i].gone, at));
	return set;
}

/* The units up to @at within the delay of an event; adds the delays to @sum. */
static units_t delay_units(const struct block_device *bdev, u64 at, u64 *sum)
{
	units_t set = 0, delay;
	unsigned int i, j;

	for (i = 0; i < nr_ios; i++) {
		if (!io_is_for(&ios[i], bdev) || ios[i].jiffies)
			continue;
		for (j = 0; j < 2; j++) {
			struct event *e = j ? &ios[i].end : &ios[i].start;

			delay = units(e->clock, min(e->effect[bdev - bdevs], at));
			*sum += length(delay);
			set |= delay;
		}
	}
	return set;
}

/*
 * Called where the kernel's code changes what is checked.
 */
static void takes_effect(const struct block_device *bdev)
{
	if (self->event)
		self->event->effect[bdev - bdevs] = now;
}

static void root_moved(const atomic64_t *root)
{
	const struct block_device *bdev = (const void *)root;

	takes_effect(bdev);
	self->moved_to = ((u64)root->counter >> blk_busy_bits) - IDLE;
	say("count %u, time %lld", blk_busy_count(root->counter),
	    (long long)self->moved_to);
}

static unsigned int stats_index(const void *field)
{
	return ((const char *)field - (const char *)stats) /
	       sizeof(struct disk_stats);
}

/* The event goes on at the root if it was the first start or the last end. */
static void leaf_changed(const atomic64_t *leaf, bool is_start)
{
	unsigned int index = stats_index(leaf);
	unsigned int count = leaf->counter & BLK_BUSY_LEAF_MASK;

	say("%u in CPU %u", count, index % NR_CPUS);
	if (count != is_start)
		takes_effect(&bdevs[index / NR_CPUS]);
}

static void ticks_added(const u64 *io_ticks, u64 ticks)
{
	unsigned int index = stats_index(io_ticks);
	units_t *of_bdev = added[index / NR_CPUS], set;
	unsigned int cpu;

	say("%llu", (unsigned long long)ticks);
	if (!ticks)
		return;
	if (ticks > self->moved_to || self->moved_to > now)
		fail("%llu are added up to %lld: time that was idle or is to come",
		     (unsigned long long)ticks, (long long)self->moved_to);
	set = units(self->moved_to - ticks, self->moved_to);
	for_each_possible_cpu(cpu)
		if (of_bdev[cpu] & set)
			fail("unit %u is added twice", first(of_bdev[cpu] & set));
	of_bdev[index % NR_CPUS] |= set;
}

static void ticks_seen(const u64 *io_ticks)
{
	unsigned int index = stats_index(io_ticks);

	self->seen |= added[index / NR_CPUS][index % NR_CPUS];
}

/*
 * What must hold.
 */

/* @set, known at @at, holds what was busy before @until. */
static void check_units(const struct block_device *bdev, units_t set, u64 until,
			u64 at)
{
	units_t busy = busy_units(bdev, at), delay, wrong;
	u64 sum = 0;

	delay = delay_units(bdev, at, &sum);
	wrong = busy & ~set & ~delay & units_before(until);
	if (wrong)
		fail("unit %u was busy, and is not counted", first(wrong));
	wrong = set & ~busy & ~delay & ~jiffies_units(bdev, at);
	if (wrong)
		fail("unit %u was idle, and is counted", first(wrong));
}

static bool has_jiffies(void)
{
	unsigned int i;

	for (i = 0; i < nr_ios; i++)
		if (ios[i].jiffies)
			return true;
	return false;
}

static void note(u64 *largest, u64 value)
{
	*largest = max(*largest, value);
}

/* The numbers, where no I/O in jiffies blurs them. */
static void note_reading(const struct reading *r)
{
	u64 busy = length(busy_units(r->bdev, r->clock)), sum = 0;
	units_t delay = delay_units(r->bdev, r->end, &sum);

	if (r->value < busy)
		note(&worst.under, busy - r->value);
	else
		note(&worst.over, r->value - busy);
	if (r->value + length(delay & units_before(r->clock)) < busy)
		fail("a reader at %llu finds %llu of %llu units, and the delays are shorter",
		     (unsigned long long)r->clock, (unsigned long long)r->value,
		     (unsigned long long)busy);
	if (r->value > busy + length(delay) + r->end - r->clock)
		fail("a reader at %llu finds %llu for %llu units, and the delays are shorter",
		     (unsigned long long)r->clock, (unsigned long long)r->value,
		     (unsigned long long)busy);
}

static u64 first_start(const struct block_device *bdev)
{
	u64 time = NEVER;
	unsigned int i;

	for (i = 0; i < nr_ios; i++)
		if (io_is_for(&ios[i], bdev) && ios[i].start.clock != NEVER)
			time = min(time, ios[i].jiffies ?
					 tick_of(ios[i].start.clock) :
					 ios[i].start.clock);
	return time;
}

/* The reader of @r began after the one of @before had returned. */
static void check_order(const struct reading *before, const struct reading *r)
{
	u64 passed = r->end - before->clock, sum = 0;
	units_t delay = delay_units(r->bdev, r->end, &sum);

	if (r->value < before->value || before->seen & ~r->seen)
		fail("a reader finds %llu units, and the next %llu",
		     (unsigned long long)before->value,
		     (unsigned long long)r->value);
	if (has_jiffies() || r->value - before->value <= passed)
		return;
	note(&worst.growth, r->value - before->value - passed);
	if (r->value - before->value >
	    passed + length(delay & units_before(before->clock)))
		fail("within %llu the readings grow by %llu, and the delays are shorter",
		     (unsigned long long)passed,
		     (unsigned long long)(r->value - before->value));
}

static void check_reading(const struct reading *r)
{
	u64 start = first_start(r->bdev);
	unsigned int i;

	if (r->value != length(r->seen))
		fail("a reader finds %llu units of the %llu added",
		     (unsigned long long)r->value,
		     (unsigned long long)length(r->seen));
	if (start < r->end ? r->value > r->end - start : r->value)
		fail("a reader finds %llu units, more than have passed",
		     (unsigned long long)r->value);
	check_units(r->bdev, r->seen, r->clock, r->end);
	if (!has_jiffies())
		note_reading(r);
	for (i = 0; i < nr_readings; i++)
		if (readings[i].bdev == r->bdev && readings[i].end < r->begin)
			check_order(&readings[i], r);
}

static void check_idle(const struct block_device *bdev)
{
	unsigned int cpu;

	if (blk_busy_count(bdev->bd_busy.counter))
		fail("the root is left with a count of %u",
		     blk_busy_count(bdev->bd_busy.counter));
	for_each_possible_cpu(cpu) {
		if (bdev->bd_stats[cpu].leaf.counter)
			fail("the leaf of CPU %u is left with %llx", cpu,
			     (unsigned long long)bdev->bd_stats[cpu].leaf.counter);
		if (bdev->bd_stats[cpu].adding)
			fail("CPU %u is left adding", cpu);
	}
}

static void check_end(const struct block_device *bdev)
{
	u64 total = 0, busy = length(busy_units(bdev, NEVER)), sum = 0;
	units_t set = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		total += bdev->bd_stats[cpu].io_ticks;
		set |= added[bdev - bdevs][cpu];
	}
	check_idle(bdev);
	check_units(bdev, set, now, now);
	if (has_jiffies())
		return;
	delay_units(bdev, now, &sum);
	note(&worst.end, difference(total, busy));
	if (difference(total, busy) > sum)
		fail("%llu units were busy, %llu are counted, and the delays are shorter",
		     (unsigned long long)busy, (unsigned long long)total);
}

/*
 * Schedules.  A node is a step of the current one, with what else could have
 * come there.  explore() keeps the first nodes, up to prefix, and takes the
 * default from there on: no preemption.
 *
 * Without a bound, of schedules that differ in the order of independent steps
 * one is enough.  That is what the sleep sets are for (Godefroid, Partial-Order
 * Methods, LNCS 1032): a thread sleeps in a node if the schedules where it comes
 * next have all been seen, as only independent steps came since.  The lengths
 * of the steps differ between these schedules, and that is all.
 */
struct node {
	unsigned char enabled;	/* masks of threads */
	unsigned char tried;
	unsigned char asleep;
	unsigned char from;	/* the one that did the step before */
	unsigned char preemptions;	/* in the steps before */
	struct thread *chosen;
};

static struct node nodes[NR_STEPS];
static unsigned int depth;
static unsigned int prefix;
static unsigned int preemptions;
static unsigned int bound;
static unsigned int asleep;	/* in the node to come */
static bool exploring;

static bool all_schedules(void)
{
	return bound == NO_BOUND;
}

/* Whether it matters which of the next steps of two threads comes first. */
static bool depends(const struct thread *a, const struct thread *b)
{
	if (a->cpu == b->cpu)
		return true;	/* interrupts */
	if (a->where == b->where && (a->how | b->how) & WRITES)
		return true;
	return a->how & b->how & TIMED && (a->where == &now || b->where == &now);
}

static bool is_enabled(const struct thread *t)
{
	const struct thread *top = on_cpu[t->cpu];

	if (t->done || (t->wait && *t->wait))
		return false;
	return !top || top == t ||
	       (!t->running && t->program->level > top->program->level);
}

static unsigned int enabled_threads(void)
{
	unsigned int mask = 0, i;

	for (i = 0; i < nr_threads; i++)
		if (is_enabled(&threads[i]))
			mask |= threads[i].bit;
	return mask;
}

/* Those that slept, or were tried, in the node before, and still can sleep. */
static unsigned int asleep_after(const struct node *n)
{
	unsigned int mask = n->asleep | (n->tried & ~n->chosen->bit), i;

	for (i = 0; i < nr_threads; i++)
		if (mask & BIT(i) && depends(&threads[i], n->chosen))
			mask &= ~BIT(i);
	return mask;
}

static void new_node(struct node *n)
{
	unsigned int mask = enabled_threads();

	if (!mask)
		fail("no thread can go on");
	n->enabled = mask;
	n->asleep = asleep;
	n->from = self->bit;
	n->preemptions = preemptions;
	mask &= ~asleep;
	n->chosen = &main_thread;
	if (mask)
		n->chosen = mask & self->bit ? self : &threads[__builtin_ctz(mask)];
	n->tried = n->chosen->bit;
}

/* Who does the next step; the main thread if the rest has been seen. */
static struct thread *next_thread(void)
{
	struct node *n = &nodes[depth];

	if (depth == NR_STEPS)
		fail("more than %u steps", NR_STEPS);
	if (++depth > prefix)
		new_node(n);
	if (n->enabled & n->from & ~n->chosen->bit)
		preemptions++;
	if (depth >= prefix && all_schedules())
		asleep = asleep_after(n);
	return n->chosen;
}

/* Not inlined: it returns in another thread, which has other values in registers. */
static void __attribute__((noinline)) switch_to(struct thread *t)
{
	struct thread *old = self;

	self = t;
	if (!_setjmp(old->regs))
		_longjmp(t->regs, 1);
}

static void take_cpu(void)
{
	if (self->running)
		return;
	self->running = true;
	self->below = on_cpu[self->cpu];
	on_cpu[self->cpu] = self;
}

static void leave_cpu(void)
{
	self->running = false;
	on_cpu[self->cpu] = self->below;
}

/* Before each access to shared memory, and each reading of the clock. */
static void step(const char *what, const void *where, unsigned int how)
{
	struct thread *t;

	self->where = where;
	self->how = how;
	if (exploring) {
		t = next_thread();
		if (t != self)
			switch_to(t);
		self->wait = NULL;
		take_cpu();
	}
	if (++now == NR_STEPS)
		fail("more than %u steps", NR_STEPS);
	if (verbose)
		printf("\n%5llu  %*s%s", (unsigned long long)now,
		       exploring ? (int)(self - threads) * COLUMN : 0, "", what);
}

/* A loop that waits has nothing else to do. */
static void wait_while(const unsigned int *flag)
{
	self->wait = flag;
}

static unsigned int this_cpu(void)
{
	return self->cpu;
}

static bool is_event(void)
{
	return self->event;
}

/*
 * What the threads do, as the callers of block/blk-busy.c do it.
 */
static void read_clock(struct event *e)
{
	step("clock", &now, WRITES | TIMED);
	e->clock = now;
}

/* bdev_inc_in_flight() and bdev_dec_in_flight() */
static void add_in_flight(struct block_device *bdev, int n)
{
	step("in_flight", &bdev->bd_stats[self->cpu].in_flight, WRITES);
	bdev->bd_stats[self->cpu].in_flight += n;
	if (bdev_is_partition(bdev))
		add_in_flight(bdev_whole(bdev), n);
}

/* bdev_count_inflight(), as far as anyone wants to know */
static bool any_in_flight(struct block_device *bdev)
{
	unsigned int n = 0, cpu;

	for_each_possible_cpu(cpu) {
		step("read in_flight", &bdev->bd_stats[cpu].in_flight, READS);
		n += bdev->bd_stats[cpu].in_flight;
	}
	return (int)n > 0;
}

static void start_io(struct io *io)
{
	struct block_device *bdev = &bdevs[io->part];

	read_clock(&io->start);
	self->event = &io->start;
	blk_busy_start(bdev, io->cpu, IDLE + io->start.clock);
	self->event = NULL;
	add_in_flight(bdev, 1);
	io->not_started = false;
}

static void end_io(struct io *io)
{
	struct block_device *bdev = &bdevs[io->part];

	wait_while(&io->not_started);
	read_clock(&io->end);
	add_in_flight(bdev, -1);
	self->event = &io->end;
	blk_busy_end(bdev, io->cpu, IDLE + io->start.clock, IDLE + io->end.clock);
	self->event = NULL;
}

/* update_io_ticks(), but not only once in a jiffy */
static void jiffies_tick(struct event *e, bool end)
{
	read_clock(e);
	blk_busy_tick(bdevs, IDLE + tick_of(e->clock), end || any_in_flight(bdevs));
}

static void start_io_jiffies(struct io *io)
{
	jiffies_tick(&io->start, false);
	add_in_flight(bdevs, 1);
	io->not_started = false;
}

static void end_io_jiffies(struct io *io)
{
	wait_while(&io->not_started);
	jiffies_tick(&io->end, true);
	add_in_flight(bdevs, -1);
	io->gone = now;
}

/* part_stat_sync_all() */
static void read_stats(struct block_device *bdev)
{
	struct reading *r, reading = { .bdev = bdev };
	u64 tick;

	step("clock", &now, WRITES | TIMED);
	reading.begin = now;
	reading.clock = now;
	self->seen = 0;
	step("coarse clock", &now, WRITES | TIMED);
	tick = all_schedules() ? now : tick_of(now);
	blk_busy_read(bdev, IDLE + reading.clock, IDLE + tick, any_in_flight(bdev));
	reading.value = blk_busy_ticks(bdev);
	reading.end = now;
	reading.seen = self->seen;
	say("\n       %*sfinds %llu at clock %llu", (int)(self - threads) * COLUMN, "",
	    (unsigned long long)reading.value, (unsigned long long)reading.clock);
	check_reading(&reading);
	r = &readings[nr_readings++];
	*r = reading;
}

static void run_op(char what, unsigned int which)
{
	switch (what) {
	case 's':
		start_io(&ios[which]);
		break;
	case 'e':
		end_io(&ios[which]);
		break;
	case 'j':
		start_io_jiffies(&ios[which]);
		break;
	case 'k':
		end_io_jiffies(&ios[which]);
		break;
	case 'r':
		read_stats(&bdevs[which]);
		break;
	}
}

static void run_ops(const char *ops)
{
	for (; *ops; ops += 2) {
		run_op(ops[0], ops[1] - '0');
		/* another task may have the CPU here */
		if (self->running && !self->program->level)
			leave_cpu();
	}
}

static void thread_main(void)
{
	if (!_setjmp(self->begin))
		_longjmp(main_thread.regs, 1);
	run_ops(self->program->ops);
	if (self->running)
		leave_cpu();
	self->done = true;
	switch_to(++nr_done < nr_threads ? next_thread() : &main_thread);
}

static void new_thread(struct thread *t)
{
	getcontext(&t->context);
	t->context.uc_stack.ss_sp = t->stack;
	t->context.uc_stack.ss_size = sizeof(t->stack);
	makecontext(&t->context, thread_main, 0);
	self = t;
	if (!_setjmp(main_thread.regs))
		setcontext(&t->context);
}

static void new_threads(void)
{
	struct thread *t = threads;

	for (; t < threads + NR_THREADS && scenario->threads[t - threads].ops; t++) {
		t->program = &scenario->threads[t - threads];
		t->cpu = t->program->cpu;
		t->bit = BIT(t - threads);
		new_thread(t);
	}
	nr_threads = t - threads;
	self = &main_thread;
}

static void reset_io(unsigned int i)
{
	static const struct event none = { NEVER, { NEVER, NEVER } };

	ios[i] = (struct io) {
		.cpu = scenario->leaves[i] - '0',
		.part = scenario->parts && scenario->parts[i] == '1',
		.not_started = true,
		.start = none,
		.end = none,
		.gone = NEVER,
	};
}

static bool is_jiffies(unsigned int i)
{
	char op[] = { 'j', '0' + i, '\0' };
	unsigned int j;

	for (j = 0; j < nr_threads; j++)
		if (strstr(scenario->threads[j].ops, op))
			return true;
	return false;
}

static void reset_thread(struct thread *t)
{
	memcpy(t->regs, t->begin, sizeof(t->regs));
	t->done = false;
	t->running = false;
	t->wait = NULL;
	t->event = NULL;
	/* each begins with the clock */
	t->where = &now;
	t->how = WRITES | TIMED;
}

static void reset(void)
{
	unsigned int i;

	now = 0;
	depth = 0;
	preemptions = 0;
	asleep = 0;
	nr_done = 0;
	nr_readings = 0;
	exploring = false;
	memset(stats, 0, sizeof(stats));
	memset(added, 0, sizeof(added));
	memset(on_cpu, 0, sizeof(on_cpu));
	for (i = 0; i < NR_BDEVS; i++)
		bdevs[i].bd_busy.counter = 0;
	for (i = 0; i < nr_ios; i++) {
		reset_io(i);
		ios[i].jiffies = is_jiffies(i);
	}
	for (i = 0; i < nr_threads; i++)
		reset_thread(&threads[i]);
}

/* Returns false if another schedule was the same. */
static bool run_schedule(void)
{
	unsigned int i;

	reset();
	if (scenario->before)
		run_ops(scenario->before);
	exploring = true;
	switch_to(next_thread());
	if (nr_done < nr_threads)
		return false;
	for (i = 0; i < NR_BDEVS; i++)
		check_end(&bdevs[i]);
	return true;
}

/* Take another thread at the last node that has one; false if none has. */
static bool next_schedule(void)
{
	while (depth--) {
		struct node *n = &nodes[depth];
		unsigned int left = n->enabled & ~n->tried & ~n->asleep;

		if (n->enabled & n->from && n->preemptions >= bound)
			continue;
		if (!left)
			continue;
		n->chosen = &threads[__builtin_ctz(left)];
		n->tried |= n->chosen->bit;
		prefix = depth + 1;
		return true;
	}
	return false;
}

/* Returns false with the schedule in nodes[] and the reason in failure[]. */
static bool explore(unsigned int max_preemptions, u64 *schedules)
{
	static u64 count;

	new_threads();
	bound = max_preemptions;
	prefix = 0;
	count = 0;
	if (_setjmp(on_failure)) {
		self = &main_thread;
		*schedules = count;
		return false;
	}
	do {
		count += run_schedule();
	} while (next_schedule());
	*schedules = count;
	return true;
}

static void print_failure(void)
{
	unsigned int i;

	new_threads();
	prefix = depth;
	verbose = true;
	printf("step");
	for (i = 0; i < nr_threads; i++)
		printf("   CPU %u: %-*s", scenario->threads[i].cpu,
		       COLUMN - 10, scenario->threads[i].ops);
	if (!_setjmp(on_failure))
		run_schedule();
	verbose = false;
	self = &main_thread;
	printf("\n%s\n", failure);
}

static void explain(void)
{
	unsigned int i = 0;
	u64 schedules;

	while (explore(i, &schedules))
		i++;
	printf("with %u preemptions:\n", i);
	print_failure();
}

static bool run_scenario(unsigned int max_preemptions, bool quiet)
{
	u64 schedules;
	bool ok;

	nr_cpu_ids = scenario->cpus;
	nr_ios = strlen(scenario->leaves);
	blk_busy_init();
	memset(&worst, 0, sizeof(worst));
	ok = explore(max_preemptions, &schedules);
	if (!ok) {
		printf("%s: %s\n", scenario->name, failure);
		if (!quiet)
			explain();
		return false;
	}
	if (quiet)
		return true;
	printf("%-28s %9llu schedules, ", scenario->name,
	       (unsigned long long)schedules);
	if (max_preemptions == NO_BOUND)
		printf("all");
	else
		printf("<= %u preemptions", max_preemptions);
	printf("; end %llu, reader -%llu +%llu, growth +%llu\n",
	       (unsigned long long)worst.end, (unsigned long long)worst.under,
	       (unsigned long long)worst.over, (unsigned long long)worst.growth);
	return true;
}

static bool is_wanted(char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, scenario->name))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	unsigned int max_preemptions = 0, i;
	bool quiet = false, ok = true;
	int opt;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((opt = getopt(argc, argv, "qb:")) != -1) {
		if (opt == 'q')
			quiet = true;
		else if (opt == 'b')
			max_preemptions = atoi(optarg);
		else
			return 2;
	}
	for (i = 0; i < ARRAY_SIZE(scenarios) && (ok || !quiet); i++) {
		scenario = &scenarios[i];
		if (is_wanted(argv + optind))
			ok &= run_scenario(max_preemptions ?: scenario->bound ?: 4, quiet);
	}
	return !ok;
}
