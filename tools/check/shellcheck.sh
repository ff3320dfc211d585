#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# This check: no shell script here has a remark from shellcheck.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tools/check/env.sh"

# By name, or by the first line of a file without a suffix.
scripts()
{
	local f

	git ls-files -co --exclude-standard | while read -r f; do
		case ${f##*/} in
		*.sh)	[ ! -f "$f" ] || echo "$f" ;;
		*.*)	;;
		*)	[ ! -f "$f" ] || ! head -n 1 "$f" | grep -qE '^#!.*[/ ](ba|da)?sh' || echo "$f" ;;
		esac
	done
}

need_cmd shellcheck
cd "$TOP"
mapfile -t files < <(scripts; [ ! -f .ci/run ] || echo .ci/run)
shellcheck "${files[@]}"
echo "${#files[@]} scripts"
