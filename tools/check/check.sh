#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [--fast]: run the checks and print a line for each: "ok NAME (time)",
# "FAIL NAME" with the end of its log, or "skip NAME: reason"; last the tally.
# Exit code 1 if one failed. --fast: without compiling kernels or booting one.
# Logs in build/check/. A single check: run its script in tools/check/.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/kernel/env.sh"

LOGS=$TOP/build/check
LIMIT=60m

# When, for what (once, each kernel that has a series, the default one), script.
# each-patch-builds.sh and sparse.sh are not among them yet: the first has not been
# run to its end, the second does not pass on the KUnit suite.
CHECKS='
fast	once	shellcheck
fast	once	hygiene
fast	once	refresh
fast	once	checkpatch
fast	each	apply
fast	each	kernel-doc
full	each	i386
full	each	kunit-uml
full	default	mutate
'

passed=0
failed=0
skipped=0

# report CODE NAME SECONDS: count a result and print its line.
report()
{
	local log=$LOGS/$2.log

	case $1 in
	0)	passed=$((passed + 1))
		echo "ok $2 ($3 s)" ;;
	4)	skipped=$((skipped + 1))
		echo "skip $2: $(tail -n 1 "$log")" ;;
	*)	failed=$((failed + 1))
		echo "FAIL $2"
		[ "$1" != 124 ] || echo "took longer than $LIMIT" >> "$log"
		tail -n 20 "$log" | sed 's/^/    /' ;;
	esac
}

# run_check NAME SCRIPT ARG...
run_check()
{
	local name=$1 rc=0 start=$SECONDS

	shift
	[ ! -t 2 ] || printf '... %s\r' "$name" >&2
	timeout -k 10 "$LIMIT" "$@" > "$LOGS/$name.log" 2>&1 < /dev/null &
	job=$!
	wait "$job" || rc=$?
	report "$rc" "$name" "$((SECONDS - start))"
}

# The kernels that have a series; the default one in any case.
kernels()
{
	local v

	while read -r v _; do
		[ "$v" != "$DEFAULT_KVER" ] && [ ! -d "$TOP/patches/$v" ] || echo "$v"
	done < <(grep -v '^#' "$TOP/tools/kernel/versions")
}

# Whether there is its source; why not is in the log.
has_source()
{
	"$TOP/tools/kernel/tree.sh" --fetch "$1" 2>&1 >/dev/null | tee "$LOGS/source-$1.log" >&2
}

# run_for KVER NAME
run_for()
{
	local name=$2-$1

	if has_source "$1"; then
		run_check "$name" "$TOP/tools/check/$2.sh" "$1"
	else
		cp "$LOGS/source-$1.log" "$LOGS/$name.log"
		report 4 "$name" 0
	fi
}

run_all()
{
	local when what name v

	while read -r when what name; do
		[[ -n $when && ($when = fast || $mode = full) ]] || continue
		case $what in
		once)	run_check "$name" "$TOP/tools/check/$name.sh" ;;
		default) run_for "$DEFAULT_KVER" "$name" ;;
		each)	for v in $(kernels); do
				run_for "$v" "$name"
			done ;;
		esac
	done <<< "$CHECKS"
}

# The virtual machine's tests print such lines themselves.
run_vm_tests()
{
	local script=$TOP/tools/vm/run-tests.sh line rc=0 before=$((passed + failed + skipped)) failed_before=$failed

	[ -x "$script" ] || return 0
	while IFS= read -r line; do
		case $line in
		'ok '*)		passed=$((passed + 1)) ;;
		'FAIL '*)	failed=$((failed + 1)) ;;
		'skip '*)	skipped=$((skipped + 1)) ;;
		'exit '*)	rc=${line#exit }
				continue ;;
		esac
		echo "$line"
	done < <("$script" 2> "$LOGS/vm-tests.log" < /dev/null && echo "exit 0" || echo "exit $?")
	# Tests that did not run, or not to the end, are no success.
	if [[ $before = $((passed + failed + skipped)) || ($rc != 0 && $failed = "$failed_before") ]]; then
		[ "$rc" != 0 ] || rc=1
		report "$rc" vm-tests 0
	fi
}

case ${1-} in
'')	mode=full ;;
--fast)	mode=fast ;;
*)	die "usage: check.sh [--fast]" ;;
esac
job=
trap '[ -z "$job" ] || kill "$job" 2>/dev/null; exit 130' INT TERM
rm -rf "$LOGS"
mkdir -p "$LOGS"
run_all
[ "$mode" = fast ] || run_vm_tests
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
