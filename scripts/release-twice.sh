#!/bin/sh
# Makes a release twice, the second time from another folder with an empty build
# cache, and compares the checksums. It takes minutes: ARCHS=amd64 halves them.
set -eu
cd "$(dirname "$0")/.."

temp=$(mktemp -d)
trap 'git worktree remove --force "$temp/elsewhere" 2>/dev/null || true; chmod -R u+w "$temp"; rm -rf "$temp"' EXIT
OUT=$temp/first scripts/release.sh
git worktree add --quiet --detach "$temp/elsewhere" HEAD
(cd "$temp/elsewhere" && GOCACHE=$temp/cache make -s toolbox && GOCACHE=$temp/cache OUT=$temp/second scripts/release.sh)
cmp "$temp/first/SHA256SUMS" "$temp/second/SHA256SUMS"
echo "both builds are equal"
