#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mutate.sh KVER [NAME...]: for each error that kunit/mutations puts into the
# kernel (or those named) at least one KUnit case fails. The file's format:
#
#	# a comment, anywhere
#	name: what-is-broken
#	file: block/some-file.c
#	-	the lines that are there, once, with their indentation
#	+	those that replace them; none to remove
#
# with an empty line between two blocks.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"
. "$TOP/tools/check/uml.sh"

MUTATIONS=$TOP/kunit/mutations

# change FILE OLD NEW: OLD must be there once, as whole lines.
change()
{
	[ -f "$tree/$1" ] && OLD=$2 NEW=$3 perl -0777 -i -pe \
		'$n = s/^\Q$ENV{OLD}\E/$ENV{NEW}/gm; END { exit($n != 1) }' "$tree/$1"
}

# What caught the error: a case, or the kernel did not get to the end.
caught_by()
{
	local what

	what=$(sed -nE 's/^ +not ok [0-9]+ ([a-z0-9_]+).*/\1/p' "$uml/test.log" | head -n 1)
	echo "${what:-a crash or a hang}"
}

# mutant NAME FILE OLD NEW
mutant()
{
	if ! change "$2" "$3" "$4"; then
		fail "$1: the lines to replace are not in $2, or not once"
	elif ! uml_rebuild > "$uml/mutant.log"; then
		fail "$1: does not build" "$(grep -m3 error "$uml/mutant.log")"
	elif uml_run 120 >/dev/null 2>&1; then
		fail "$1: survives, every case passes"
	else
		echo "$1: caught by $(caught_by)"
	fi
	git -C "$tree" checkout -q -f -- .
	count=$((count + 1))
}

wanted()
{
	local w

	[ ${#only[@]} -gt 0 ] || return 0
	for w in "${only[@]}"; do
		[ "$w" != "$1" ] || return 0
	done
	return 1
}

end_of_block()
{
	[ -n "$name$file$old$new" ] || return 0
	[[ -n $name && -n $file && -n $old ]] || die "kunit/mutations, before line $line: a block needs name:, file: and a line with -"
	! wanted "$name" || mutant "$name" "$file" "$old" "$new"
	name='' file='' old='' new=''
}

read_mutations()
{
	local text name='' file='' old='' new='' line=0

	while IFS= read -r text <&3; do
		line=$((line + 1))
		case $text in
		'#'*)	;;
		'')	end_of_block ;;
		name:\ *) name=${text#name: } ;;
		file:\ *) file=${text#file: } ;;
		-*)	old+=${text#-}$'\n' ;;
		+*)	new+=${text#+}$'\n' ;;
		*)	die "kunit/mutations, line $line: '$text' is none of name:, file:, -, +, #" ;;
		esac
	done 3< "$MUTATIONS"
	end_of_block
}

[ $# -ge 1 ] || die "usage: mutate.sh KVER [NAME...]"
if [ ! -e "$MUTATIONS" ]; then
	echo "there is no kunit/mutations"
	exit 4
fi
check_series "$1"
shift
only=("$@")
tree_at "$commit"
uml_init
trap 'tree_at "$commit"' EXIT
{ uml_build && uml_run 300; } > "$uml/mutant.log" 2>&1 ||
	die "the suites do not pass without an error either: run tools/check/kunit-uml.sh $version"
count=0
read_mutations
[ "$count" -gt 0 ] || fail "kunit/mutations has no such block"
[ "$bad" != 0 ] || echo "$count errors, all caught"
exit "$bad"
