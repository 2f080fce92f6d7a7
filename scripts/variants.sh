#!/bin/sh
# Runs the tests that hold variants (hosttest.Variant), those variants included, and
# no other test of their packages. With -all it runs those with long variants
# (hosttest.LongVariant), too, and them. With -n it shows what it would run: a line for
# each test, its package before its name.
set -eu

cd "$(dirname "$0")/.."
GO=${GO:-go}
export LC_ALL=C # names are in the order of their bytes

kind=Variant asked=1
if [ "${1:-}" = -all ]; then
	kind='(Long)?Variant' asked=all
	shift
fi
found=$(scripts/tests-calling.sh "$kind")
if [ "${1:-}" = -n ]; then
	echo "$found"
	exit
fi
names=$(echo "$found" | cut -d ' ' -f 2 | sort -u | paste -sd '|' -)
# The packages with most of them begin first, so that no processor waits for them at the end.
packages=$(echo "$found" | cut -d ' ' -f 1 | sort | uniq -c | sort -rn | sed 's/.* //')
# shellcheck disable=SC2086 # a word for each package
COMPANY_TEST_VARIANTS=$asked exec "$GO" test -vet=off -timeout 90m -run "^($names)\$" $packages
