#!/bin/sh
# Runs the demo: a company does a small job, and a checker that is no part of
# it looks whether it did. SEED=n repeats a run. Exit 0: every check passed.
set -eu
cd "$(dirname "$0")/.."

program=$(mktemp -d)
trap 'rm -rf "$program"' EXIT
echo "building the demo" >&2
go build -trimpath -o "$program/demo" ./test/demo/cmd/demo
"$program/demo"
