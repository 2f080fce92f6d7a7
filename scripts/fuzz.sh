#!/bin/sh
# Runs every fuzz target of the module for FUZZTIME (default 10s), one after
# the other. Their seed corpora run in `make test` already.
set -eu
cd "$(dirname "$0")/.."
time=${FUZZTIME:-10s}
found=0
for pkg in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		found=$((found + 1))
		echo "== $pkg $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$pkg"
	done
done
echo "$found targets fuzzed for $time each"
