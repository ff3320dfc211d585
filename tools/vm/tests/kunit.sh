#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The KUnit suite of the series, in the real kernel, on 4 CPUs.
# vm: -d 0 -c 4
set -eu
. tools/vm/stat.sh

modprobe blk_busy_kunit || fail "the suite cannot be loaded"
results=/sys/kernel/debug/kunit/blk_busy/results
cat $results
dmesg | grep -q 'blk_busy: 4 CPUs\|4 CPUs$' || fail "the stress test did not run on 4 CPUs"
grep -q '^ok 1 blk_busy' $results || fail "the suite did not pass"
