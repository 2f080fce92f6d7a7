#!/bin/sh
# Builds a real Gitea from its Go module, for `make strangers/gitea`, and prints
# the folder that holds it: the program `gitea`, and `src` with the templates
# that it reads. Nothing of it is committed; a second call finds what is there.
#
# The newest that can be built so is 1.26: from 1.27 on the module path is
# gitea.dev, and modules that it needs (gitea.dev/actions-proto-go,
# gitea.com/gitea/runner) come through no public module proxy. Set
# GITEA_VERSION to try another one.
#
# Templates and other files are read from the module's folder, not bound into
# the program: that needs no `go generate`. There is no page for people, since
# Node would have to build it; the API and git do not need it.
set -eu

version=${GITEA_VERSION:-v1.26.0}
home=${COMPANY_GITEA_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/company-strangers/gitea}
dir=$home/$version
if [ ! -x "$dir/gitea" ]; then
	mkdir -p "$dir"
	src=$(cd / && GOFLAGS=-mod=mod go mod download -json "code.gitea.io/gitea@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	[ -n "$src" ] || { echo "code.gitea.io/gitea@$version cannot be fetched" >&2; exit 1; }
	rm -rf "$dir/src"
	cp -R "$src" "$dir/src"
	chmod -R u+w "$dir/src"
	echo "building Gitea $version (five minutes of two processors)" >&2
	(cd "$dir/src" && CGO_ENABLED=1 go build -mod=readonly -trimpath -tags 'sqlite sqlite_unlock_notify' \
		-ldflags "-s -w -X main.Version=${version#v}" -o "$dir/gitea.new" .)
	mv "$dir/gitea.new" "$dir/gitea"
fi
echo "$dir"
