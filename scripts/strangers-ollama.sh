#!/bin/sh
# Builds the real Ollama server, of the version that go.mod names, out of its Go
# module, and runs the exercise of test/strangers/ollama against it. The build
# is long (half an hour of one processor) and is kept below the cache folder.
#
# The module holds all of the server but three headers of others: those come
# from Debian (nlohmann-json3-dev, libstb-dev) and from a Go module that carries
# miniaudio. Nothing is installed on this machine.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
miniaudio=github.com/gen2brain/malgo@v0.11.23

say() { echo "strangers/ollama: $*" >&2; }
die() { say "$*"; exit 1; }

version=$(go list -m -f '{{.Version}}' github.com/ollama/ollama)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/company-strangers/ollama-$version
server=$cache/ollama

if [ ! -x "$server" ]; then
	for tool in gcc g++ apt-get dpkg-deb; do
		command -v "$tool" >/dev/null 2>&1 || die "$tool is missing: the server is built on Debian or Ubuntu, with gcc and g++"
	done
	say "building Ollama $version; this takes a while"
	rm -rf "$cache/build"
	mkdir -p "$cache/build/debs" "$cache/build/include/miniaudio" "$cache/build/bin"
	(cd "$cache/build/debs" && apt-get download -q nlohmann-json3-dev libstb-dev) >&2 ||
		die "the headers could not be had: apt-get update, and try again"
	for deb in "$cache"/build/debs/*.deb; do
		dpkg-deb -x "$deb" "$cache/build/debs/root"
	done
	cp -R "$cache"/build/debs/root/usr/include/* "$cache/build/include/"
	header=$(cd / && go mod download -json "$miniaudio" | sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p')
	cp "$header/miniaudio.h" "$cache/build/include/miniaudio/"
	(cd / && GOFLAGS=-mod=mod GOBIN="$cache/build/bin" CGO_ENABLED=1 CGO_CPPFLAGS="-I$cache/build/include" \
		go install "github.com/ollama/ollama@$version") >&2
	mv "$cache/build/bin/ollama" "$server"
	rm -rf "$cache/build"
fi

exec go test -C test/strangers -tags strangers ./ollama -run TestOllama -count=1 -v -timeout 3h \
	-args -server "$server" -version "$version" -table "$root/bin/strangers-ollama.md"
