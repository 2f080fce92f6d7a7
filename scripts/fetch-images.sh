#!/bin/sh
# Makes the worker images that tests share, of packages from Debian's archive.
set -eu
cd "$(dirname "$0")/.."
. scripts/fetch.sh
timeout 20 docker version >/dev/null 2>&1 || die "no Docker daemon answers: start it (make setup does, as root), or set DOCKER_HOST"
scripts/build-toolbox.sh
go build -o bin/testimages ./tools/testimages
fetch "worker images (the first time takes two minutes)" bin/testimages
