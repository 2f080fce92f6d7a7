#!/bin/sh
# Runs the tests that hold variants (hosttest.Variant) or samples (hosttest.Sampled), all of
# those included, and no other test of their packages. With -all it runs those with long
# variants (hosttest.LongVariant), too, and them. With -parts N it runs one of N parts of
# those with variants, the one that the id of HEAD draws. With -n it shows what it would
# run: a line for each test, its package before its name.
set -eu

cd "$(dirname "$0")/.."
GO=${GO:-go}
export LC_ALL=C # names are in the order of their bytes

kind='(Variant|Sampled)' asked=1 parts=
case ${1:-} in
-all)
	kind='((Long)?Variant|Sampled)' asked=all
	shift
	;;
-parts)
	# make test has drawn from the sampled ones already.
	kind=Variant parts=${2:-}
	[ "$parts" -gt 0 ] 2>/dev/null || { echo "variants.sh: -parts wants a number from 1 on" >&2; exit 2; }
	shift 2
	;;
esac
found=$(scripts/tests-calling.sh "$kind")
if [ -n "$parts" ]; then
	# Neighbours of the list are alike: each part has some of every kind.
	found=$(echo "$found" | awk -v parts="$parts" -v part="$((0x$(git rev-parse --short=7 HEAD) % parts))" 'NR % parts == part')
fi
[ -n "$found" ] || { echo "variants.sh: no test is found; it asks git for the files of tests" >&2; exit 1; }
if [ "${1:-}" = -n ]; then
	echo "$found"
	exit
fi
names=$(echo "$found" | cut -d ' ' -f 2 | sort -u | paste -sd '|' -)
# The packages with most of them begin first, so that no processor waits for them at the end.
packages=$(echo "$found" | cut -d ' ' -f 1 | sort | uniq -c | sort -rn | sed 's/.* //')
# shellcheck disable=SC2086 # a word for each package
COMPANY_TEST_VARIANTS=$asked exec "$GO" test -vet=off -timeout 90m -run "^($names)\$" $packages
