#!/bin/sh
# Writes internal/ecosystem/cc/libraries.txt: which Debian package holds what builds
# ask for by name. It needs a Debian bookworm host on amd64 with apt-file and its
# lists (apt-get install apt-file && apt-get update). Of several packages for one
# name the plainest is taken: a -dev package, not for another TLS library, the
# shortest name.
set -eu
cd "$(dirname "$0")/.."
out=internal/ecosystem/cc/libraries.txt
{
	echo "# Debian bookworm, main, amd64: a package, and the names by which builds ask for it: p: of pkg-config, c: of CMake's config files, l: of linkers. Made by scripts/debian-libraries.sh."
	{
		apt-file search --regexp '^/usr/(lib/x86_64-linux-gnu|lib|share)/pkgconfig/[^/]+\.pc$'
		apt-file search --regexp '^/usr/((lib/x86_64-linux-gnu|lib|share)/cmake/[^/]+|share/[^/]+/cmake)/[^/]+([Cc]onfig|-config)\.cmake$'
		apt-file search --regexp '^/usr/lib/x86_64-linux-gnu/lib[^/]+\.so$' | grep -e '-dev: '
	} | LC_ALL=C sort -u | LC_ALL=C awk -F': ' '
	function rank(p) {
		return (p ~ /-dev$/ ? "0" : "1") (p ~ /-gnutls|-nss/ ? "1" : "0") (p ~ /cross|mingw|dbg/ ? "1" : "0") sprintf("%03d", length(p)) p
	}
	{
		n = $2; sub(/.*\//, "", n)
		if (n ~ /\.pc$/) { k = "p"; sub(/\.pc$/, "", n) }
		else if (n ~ /\.cmake$/) { k = "c"; sub(/(-config|[Cc]onfig)\.cmake$/, "", n) }
		else { k = "l"; sub(/^lib/, "", n); sub(/\.so$/, "", n) }
		if (n !~ /^[A-Za-z0-9_.+-]+$/) next
		at = k ":" n
		if (!(at in of) || rank($1) < rank(of[at])) of[at] = $1
	}
	END {
		for (at in of) {
			p = of[at]; k = substr(at, 1, 1); n = substr(at, 3)
			# What the reader finds by another name of the same package is left out.
			if (k == "l" && (of["p:" n] == p || of["p:lib" n] == p)) continue
			print p, k, n
		}
	}' | LC_ALL=C sort | awk '
	{
		if ($1 != p) { if (p != "") print line; line = $1; p = $1; k = "" }
		line = line ($2 != k ? " " $2 ":" : ",") $3; k = $2
	}
	END { print line }' | grep -v -E '^(libc6-dev|linux-libc-dev) '
} >"$out.new"
mv "$out.new" "$out"
