#!/bin/sh
# Makes the archives of a release in dist/: for each architecture the program, its
# man pages, completions, licence and the notices of others, and one file of
# checksums. The same commit with the same Go gives the same bytes: nothing of the
# machine, the folder or the time goes in. ARCHS=amd64 makes fewer.
set -eu
cd "$(dirname "$0")/.."

archs=${ARCHS:-"amd64 arm64"}
out=${OUT:-dist}
version=$(sed -n 's/^var Version = "\(.*\)"$/\1/p' internal/surface/cli/command/environment.go)
commit=$(git rev-parse --verify HEAD)
when=$(git show -s --format=%ct HEAD)
if [ -n "$(git status --porcelain)" ]; then
	[ -n "${DIRTY:-}" ] || { echo "the tree has changes: commit them, or DIRTY=1" >&2; exit 1; }
	commit=$commit-dirty
fi
[ -n "$version" ] || { echo "internal/surface/cli/command/environment.go names no version" >&2; exit 1; }

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
rm -rf "$out"
mkdir -p "$out"

SOURCE_DATE_EPOCH=$when go run ./tools/handbook release "$temp/pages"
for arch in $archs; do
	name=company-$version-linux-$arch
	mkdir -p "$temp/$name"
	cp -R "$temp/pages/." "$temp/$name/"
	cp LICENSE README.md SECURITY.md "$temp/$name/"
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOFLAGS= GOAMD64=v1 GOARM64=v8.0 \
		go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X company/internal/surface/cli/command.Commit=$commit" \
		-o "$temp/$name/company" ./cmd/company
	find "$temp/$name" -type d -exec chmod 755 {} +
	find "$temp/$name" -type f -exec chmod 644 {} +
	chmod 755 "$temp/$name/company"
	tar --create --directory "$temp" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$when" --format=ustar "$name" |
		gzip -n -9 >"$out/$name.tar.gz"
done
(cd "$out" && sha256sum ./*.tar.gz | sed 's| \./| |' >SHA256SUMS)
cat "$out/SHA256SUMS"
