#!/bin/sh
# Builds the toolbox, PID 1 of the company's containers, for both architectures into
# internal/container/image/toolboxbin, where `go build` embeds it. TOOLBOX_ARCHS=amd64 makes only that
# one, and rebuilds existing ones.
# Go's build cache makes a second run quick; a file whose content stays the same is not touched, so
# that what embeds it is not built again.
set -eu
cd "$(dirname "$0")/.."

out=internal/container/image/toolboxbin
archs=${TOOLBOX_ARCHS:-"amd64 arm64"}
limit=$((12 * 1024 * 1024))
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

echo "building the toolbox (the first time takes a minute)" >&2
for arch in amd64 arm64; do
	case " $archs " in
	*" $arch "*) ;;
	*) [ -e "$out/toolbox-linux-$arch" ] || continue ;;
	esac
	# Nothing of the machine or the checkout goes in: the hash names images.
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOFLAGS= GOAMD64=v1 GOARM64=v8.0 \
		go build -trimpath -buildvcs=false -ldflags '-s -w -buildid=' \
		-o "$temp/toolbox-linux-$arch" ./cmd/toolbox
	size=$(wc -c <"$temp/toolbox-linux-$arch")
	if [ "$size" -gt "$limit" ]; then
		echo "toolbox-linux-$arch has $size bytes; the limit is $limit" >&2
		exit 1
	fi
	if ! cmp -s "$temp/toolbox-linux-$arch" "$out/toolbox-linux-$arch"; then
		mv "$temp/toolbox-linux-$arch" "$out/toolbox-linux-$arch"
		echo "built $out/toolbox-linux-$arch ($size bytes)"
	fi
done
