// SPDX-License-Identifier: GPL-2.0
/*
 * What accounting the start and the end of an I/O costs, with no device in
 * between: ns per pair, for one and for two CPUs on one disk, at depth 1 and 2
 * per CPU. tools/bench/pairs.sh builds it into a UML kernel as a KUnit suite
 * and runs it at native speed.
 *
 * Besides the two modes of the series: the scheme of the 2022 RFC, and a clock
 * rounded to 2^16 ns in the scheme of mode 1. All get the same clock, a TSC
 * read, since the one of UML is a system call.
 */
#include <kunit/test.h>
#include <linux/blkdev.h>
#include <linux/kthread.h>
#include <linux/part_stat.h>

#include "../blk.h"
#if __has_include("../blk-busy.h")
#define HAVE_BLK_BUSY
#include "../blk-busy.h"
#endif

#define PAIRS	400000
#define ROUNDS	9

static struct gendisk disk;
static struct block_device bdev;
/* the time stamp of the two schemes that are not in the series, in ns */
static u64 stamp ____cacheline_aligned_in_smp;

static inline u64 clock(void)
{
	return __builtin_ia32_rdtsc();
}

/* As update_io_ticks(), with @now in any unit. */
static void update_ns(u64 now, bool end)
{
	u64 old = READ_ONCE(stamp);

	if ((s64)(now - old) > 0 && try_cmpxchg64(&stamp, &old, now) &&
	    (end || bdev_count_inflight(&bdev)))
		__part_stat_add(&bdev, io_ticks, now - old);
}

static void none_start(u64 now) { }
static void none_end(u64 start, u64 now) { }

static void jiffies_start(u64 now)
{
	update_io_ticks(&bdev, jiffies, false);
	bdev_inc_in_flight(&bdev, REQ_OP_READ);
}

static void jiffies_end(u64 start, u64 now)
{
	update_io_ticks(&bdev, jiffies, true);
	part_stat_inc(&bdev, ios[STAT_READ]);
	part_stat_add(&bdev, nsecs[STAT_READ], now - start);
	bdev_dec_in_flight(&bdev, REQ_OP_READ);
}

static void rfc_start(u64 now)
{
	update_ns(now, false);
	bdev_inc_in_flight(&bdev, REQ_OP_READ);
}

static void rfc_end(u64 start, u64 now)
{
	update_ns(now, true);
	part_stat_inc(&bdev, ios[STAT_READ]);
	part_stat_add(&bdev, nsecs[STAT_READ], now - start);
	bdev_dec_in_flight(&bdev, REQ_OP_READ);
}

static void rounded_start(u64 now)
{
	update_ns(now >> 16 << 16, false);
	bdev_inc_in_flight(&bdev, REQ_OP_READ);
}

static void rounded_end(u64 start, u64 now)
{
	update_ns(now >> 16 << 16, true);
	part_stat_inc(&bdev, ios[STAT_READ]);
	part_stat_add(&bdev, nsecs[STAT_READ], now - start);
	bdev_dec_in_flight(&bdev, REQ_OP_READ);
}

#ifdef HAVE_BLK_BUSY
static void busy_start(u64 now)
{
	blk_busy_start(&bdev, smp_processor_id(), now);
	bdev_inc_in_flight(&bdev, REQ_OP_READ);
}

static void busy_end(u64 start, u64 now)
{
	blk_busy_end(&bdev, smp_processor_id(), start, now);
	part_stat_inc(&bdev, ios[STAT_READ]);
	part_stat_add(&bdev, nsecs[STAT_READ], now - start);
	bdev_dec_in_flight(&bdev, REQ_OP_READ);
}
#endif

static const struct scheme {
	const char *name;
	void (*start)(u64 now);
	void (*end)(u64 start, u64 now);
} schemes[] = {
	{ "none", none_start, none_end },
	{ "jiffies", jiffies_start, jiffies_end },
#ifdef HAVE_BLK_BUSY
	{ "busy", busy_start, busy_end },
#endif
	{ "rfc", rfc_start, rfc_end },
	{ "rounded", rounded_start, rounded_end },
};

struct worker {
	const struct scheme *scheme;
	unsigned int depth;
	u64 ns;
	struct completion done;
};

static atomic_t ready;

static int worker(void *data)
{
	struct worker *w = data;
	u64 start[2], now, begin;
	unsigned int i;

	preempt_disable();
	atomic_dec(&ready);
	while (atomic_read(&ready))
		cpu_relax();
	begin = ktime_get_ns();
	for (i = 0; i < w->depth; i++) {
		start[i] = clock();
		w->scheme->start(start[i]);
	}
	for (i = 0; i < PAIRS; i++) {
		unsigned int slot = i & (w->depth - 1);

		now = clock();
		w->scheme->end(start[slot], now);
		start[slot] = clock();
		w->scheme->start(start[slot]);
	}
	for (i = 0; i < w->depth; i++)
		w->scheme->end(start[i], clock());
	w->ns = ktime_get_ns() - begin;
	preempt_enable();
	complete(&w->done);
	return 0;
}

/* Returns ps per pair and CPU. */
static u64 run(struct kunit *test, const struct scheme *scheme,
	       unsigned int cpus, unsigned int depth)
{
	struct worker w[2] = {};
	unsigned int cpu;
	u64 ns = 0;

	part_stat_set_all(&bdev, 0);
	atomic_set(&ready, cpus);
	for (cpu = 0; cpu < cpus; cpu++) {
		struct task_struct *task;

		w[cpu].scheme = scheme;
		w[cpu].depth = depth;
		init_completion(&w[cpu].done);
		task = kthread_create_on_cpu(worker, &w[cpu], cpu, "bench/%u");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		wake_up_process(task);
	}
	for (cpu = 0; cpu < cpus; cpu++) {
		wait_for_completion(&w[cpu].done);
		ns = max(ns, w[cpu].ns);
	}
	return div_u64(ns * 1000, PAIRS);
}

static void pairs(struct kunit *test)
{
	unsigned int round, cpus, depth, i;

	disk.part0 = &bdev;
	bdev.bd_disk = &disk;
	bdev.bd_stats = alloc_percpu(struct disk_stats);
	KUNIT_ASSERT_NOT_NULL(test, bdev.bd_stats);
	KUNIT_ASSERT_EQ(test, 2, num_online_cpus());
	/* the schemes take turns, so that what disturbs one disturbs all */
	for (round = 0; round < ROUNDS; round++)
		for (cpus = 1; cpus <= 2; cpus++)
			for (depth = 1; depth <= 2; depth++)
				for (i = 0; i < ARRAY_SIZE(schemes); i++)
					pr_info("BENCH %s %u %u %llu\n", schemes[i].name,
						cpus, depth,
						run(test, &schemes[i], cpus, depth));
	pr_info("BENCH-BYTES %zu %zu\n", sizeof(struct disk_stats),
		sizeof(struct block_device));
	free_percpu(bdev.bd_stats);
}

static struct kunit_case blk_bench_cases[] = {
	KUNIT_CASE_SLOW(pairs),
	{}
};

static struct kunit_suite blk_bench_suite = {
	.name = "blk_bench",
	.test_cases = blk_bench_cases,
};

kunit_test_suite(blk_bench_suite);

MODULE_DESCRIPTION("Cost of block I/O accounting");
MODULE_LICENSE("GPL");
