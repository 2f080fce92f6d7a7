#!/bin/sh
# Runs the demo: a company does a small job, and a checker that is no part of
# it looks whether it did. SEED=n repeats a run. WATCH=1 serves the office, prints the
# link into its page, and stays until Ctrl-C. AGENT=opencode: the workers are opencode.
# Exit 0: every check passed.
set -eu
cd "$(dirname "$0")/.."

program=$(mktemp -d)
trap 'rm -rf "$program"' EXIT
trap : INT # the demo hears it too, and ends in order
echo "building the demo" >&2
go build -o "$program/demo" ./test/demo/cmd/demo
"$program/demo"
