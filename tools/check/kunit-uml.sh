#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kunit-uml.sh KVER: the series' KUnit suites pass in User Mode Linux, on two
# CPUs where that kernel's UML has SMP.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"
. "$TOP/tools/check/uml.sh"

[ $# = 1 ] || die "usage: kunit-uml.sh KVER"
check_series "$1"
tree_at "$commit"
uml_init
if ! uml_build; then
	echo "UML does not build"
	exit 1
fi
uml_run 300 || fail "a suite fails, see $uml/test.log"
uml_has_cpus || fail "not all $UML_CPUS CPUs came up, see $uml/test.log"
exit "$bad"
