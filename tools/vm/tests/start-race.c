// SPDX-License-Identifier: GPL-2.0
/*
 * start-race DISK ROUNDS PAUSE_US: as many tasks as there are CPUs read from
 * DISK at the same moment, ROUNDS times, and leave it idle for PAUSE_US in
 * between.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static int fd, rounds, pause_us;

static void *reader(void *arg)
{
	long cpu = (long)arg;
	cpu_set_t set;
	void *buf;
	int i;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity");
	if (posix_memalign(&buf, 4096, 4096))
		errx(1, "no memory");
	for (i = 0; i < rounds; i++) {
		usleep(pause_us);
		pthread_barrier_wait(&barrier);
		if (pread(fd, buf, 4096, 4096 * cpu) != 4096)
			err(1, "pread");
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int cpus = get_nprocs();
	pthread_t thread;
	long cpu;

	if (argc != 4)
		errx(2, "usage: start-race DISK ROUNDS PAUSE_US");
	fd = open(argv[1], O_RDONLY | O_DIRECT);
	if (fd < 0)
		err(1, "%s", argv[1]);
	rounds = atoi(argv[2]);
	pause_us = atoi(argv[3]);
	pthread_barrier_init(&barrier, NULL, cpus);
	for (cpu = 1; cpu < cpus; cpu++)
		if (pthread_create(&thread, NULL, reader, (void *)cpu))
			errx(1, "pthread_create");
	reader(NULL);
	return 0;
}
