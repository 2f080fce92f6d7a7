#!/bin/sh
# Writes internal/ecosystem/python/debianmodules.txt: which Debian package holds a package of
# PyPI, by the metadata that the package has beside its modules. It needs curl and the archive.
# Of several packages the one that is called like a module is taken, then the shortest name.
set -eu
cd "$(dirname "$0")/.."
out=internal/ecosystem/python/debianmodules.txt
archive=${ARCHIVE:-http://deb.debian.org/debian/dists/bookworm/main}
{
	echo "# Debian bookworm, main, amd64: a package of PyPI, and Debian's of it where that is not python3-NAME. Made by scripts/debian-modules.sh."
	for part in all amd64; do
		curl -fsS "$archive/Contents-$part.gz" | gzip -dc
	done | LC_ALL=C awk '
	match($1, /^usr\/lib\/python3\/dist-packages\/[^\/]+\.(egg|dist)-info/) {
		name = substr($1, 31, RLENGTH - 30)
		sub(/\.(egg|dist)-info$/, "", name); sub(/-[0-9][^-]*(-py3\.[0-9]+)?$/, "", name)
		name = tolower(name); gsub(/[-_.]+/, "-", name)
		if (name !~ /^[a-z0-9][a-z0-9-]*$/) next
		n = split($2, packages, ",")
		for (i = 1; i <= n; i++) { p = packages[i]; sub(/.*\//, "", p); print name, p }
	}' | LC_ALL=C sort -u | LC_ALL=C awk '
	function rank(p) { return (p ~ /^python3-/ ? "0" : "1") (p == "python3-" $1 ? "0" : "1") sprintf("%03d", length(p)) p }
	{ if (!($1 in of) || rank($2) < rank(of[$1])) of[$1] = $2 }
	END { for (name in of) print name (of[name] == "python3-" name ? "" : " " of[name]) }' | LC_ALL=C sort
} >"$out.new"
mv "$out.new" "$out"
