#!/bin/sh
# Runs the tests of these packages that are skipped under the race detector (hosttest.NotRaced),
# and no other test of them.
set -eu

cd "$(dirname "$0")/.."
GO=${GO:-go}
calling=$(mktemp)
trap 'rm -f "$calling"' EXIT
scripts/tests-calling.sh NotRaced >"$calling"
names=$(for package; do awk -v dir="./${package#company/}" '$1 == dir { print $2 }' "$calling"; done | sort -u | paste -sd '|' -)
"$GO" test -vet=off -timeout 60m -run "^($names)\$" "$@"
