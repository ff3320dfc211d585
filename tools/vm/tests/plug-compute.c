// SPDX-License-Identifier: GPL-2.0
/*
 * plug-compute DISK FILE COUNT: the task that made await 10x too high in 6.12.
 * COUNT times: one io_submit(), under one plug, of a direct read of DISK, of a
 * buffered read of all of FILE, which computes (copies) for some milliseconds,
 * and of a second direct read of DISK. Waits for all three.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void prep(struct iocb *cb, int fd, void *buf, size_t len, off_t off)
{
	*cb = (struct iocb){
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = fd,
		.aio_buf = (unsigned long)buf,
		.aio_nbytes = len,
		.aio_offset = off,
	};
}

int main(int argc, char **argv)
{
	struct iocb cb[3], *cbs[3] = { &cb[0], &cb[1], &cb[2] };
	struct io_event ev[3];
	aio_context_t ctx = 0;
	void *small, *big;
	struct stat st;
	int disk, file;

	if (argc != 4)
		errx(2, "usage: plug-compute DISK FILE COUNT");
	disk = open(argv[1], O_RDONLY | O_DIRECT);
	if (disk < 0)
		err(1, "%s", argv[1]);
	file = open(argv[2], O_RDONLY);
	if (file < 0 || fstat(file, &st))
		err(1, "%s", argv[2]);
	small = aligned_alloc(4096, 8192);
	big = aligned_alloc(4096, st.st_size);
	if (!small || !big || syscall(SYS_io_setup, 8, &ctx))
		err(1, "set-up");
	for (int i = atoi(argv[3]); i > 0; i--) {
		prep(&cb[0], disk, small, 4096, 0);
		prep(&cb[1], file, big, st.st_size, 0);
		prep(&cb[2], disk, (char *)small + 4096, 4096, 1 << 20);
		if (syscall(SYS_io_submit, ctx, 3, cbs) != 3)
			err(1, "io_submit");
		if (syscall(SYS_io_getevents, ctx, 3, 3, ev, NULL) != 3)
			err(1, "io_getevents");
	}
	return 0;
}
