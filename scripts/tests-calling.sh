#!/bin/sh
# Lists the tests that call a function of hosttest themselves: a line for each, its package
# before its name. The argument is an awk expression of the function's name.
set -eu

cd "$(dirname "$0")/.."
export LC_ALL=C # names are in the order of their bytes

git ls-files --cached --others --exclude-standard '*_test.go' | grep -v '^internal/lib/hosttest/' | while read -r file; do
	[ -f "$file" ] || continue
	awk -v dir="./${file%/*}" '/^func / { name = $2; sub(/\(.*/, "", name) } /hosttest\.'"$1"'\(/ { print dir, name }' "$file"
done | sort -u
