# SPDX-License-Identifier: GPL-2.0
# Thin: every target calls a script, which says at its top what it does and can
# be called by itself. 'make' lists the targets.

KVER ?= 7.3

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup tree kernel vm demo check check-fast apply refresh bench clean

help:		## this list; KVER=7.3 (default) picks the kernel
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup:		## install the Debian packages that are missing (root)
	@tools/kernel/setup.sh

tree:		## fetch the kernel's source, print a work tree with the series to edit
	@tools/kernel/tree.sh "$(KVER)"

refresh:	## hand the commits of that tree back to patches/
	@tools/kernel/refresh.sh "$(KVER)"

kernel:		## build the patched kernel for the virtual machine
	@tools/kernel/build.sh "$(KVER)"

vm: setup	## a shell in a virtual machine with that kernel and an NVMe disk
	@tools/vm/run.sh -k "$(KVER)"

demo: setup kernel	## the main job: truth, iostats=1 and iostats=2 side by side
	@tools/demo.sh

apply:		## put the series onto your own source: make apply KSRC=DIR
	@tools/kernel/apply.sh "$(KSRC)"

check: setup	## every test (an hour the first time, minutes after that)
	@tools/check/check.sh

check-fast:	## only those that need no compiled kernel
	@tools/check/check.sh --fast

bench: setup	## the measurements, as a table, a JSON file and plots
	@tools/bench/bench.sh

clean:		## remove build/; the cache outside the checkout stays
	@rm -rf build
