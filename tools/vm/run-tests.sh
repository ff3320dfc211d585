#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run-tests.sh [-k KVER] [TEST...]: run the tests of tools/vm/tests (all, or those
# named, without .sh), each in a virtual machine of its own, started with the
# options in the test's line "# vm: OPTIONS". One line per test: "ok NAME",
# "FAIL NAME" with the end of its output, or "skip NAME: REASON". The kernel log
# is searched after each test. Logs are in build/vm-tests. Exit 1: one failed.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/kernel/env.sh"

# What no test may leave in the kernel log.
BAD='WARNING:|BUG:|Oops|INFO: (task|rcu)|nobody cared|lockdep|refcount_t|I/O error|timeout, aborting'

# In the machine: the test, then its kernel log.
# shellcheck disable=SC2016
run_in_vm='"$1"; rc=$?
if dmesg | grep -E "$2" >&2; then echo "the kernel complains" >&2; [ $rc != 0 ] || rc=1; fi
echo "ended with $rc"
exit $rc'

run_test()
{
	local name=$1 file=$TOP/tools/vm/tests/$1.sh log=$out/$1.log options rc=0 start=$SECONDS

	options=$(sed -n 's/^# vm: //p' "$file")
	# shellcheck disable=SC2086
	"$TOP/tools/vm/run.sh" -k "$kver" $options -- bash -c "$run_in_vm" - "tools/vm/tests/$name.sh" "$BAD" \
		> "$log" 2>&1 || rc=$?
	# a machine that runs nothing does not pass
	grep -qx "ended with $rc" "$log" || rc=125
	case $rc in
	0)	echo "ok $name ($((SECONDS - start)) s)" ;;
	4)	echo "skip $name: $(sed -n 's/^SKIP: //p' "$log" | tail -n 1)" ;;
	*)	echo "FAIL $name (exit $rc), log in build/vm-tests/$name.log"
		tail -n 15 "$log" | sed 's/^/    /'
		failed=1 ;;
	esac
}

kver=$DEFAULT_KVER
if [ "${1-}" = -k ]; then
	kver=${2-}
	shift 2
fi
parse_kver "$kver"
out=$TOP/build/vm-tests
mkdir -p "$out"
[ $# -gt 0 ] || mapfile -t tests < <(cd "$TOP/tools/vm/tests" && printf '%s\n' *.sh | sed 's/\.sh$//')
[ $# = 0 ] || tests=("$@")
for t in "${tests[@]}"; do
	[ -e "$TOP/tools/vm/tests/$t.sh" ] || die "no test '$t' in tools/vm/tests"
done
"$TOP/tools/kernel/build.sh" "$kver" >/dev/null
failed=0
for t in "${tests[@]}"; do
	run_test "$t"
done
exit $failed
