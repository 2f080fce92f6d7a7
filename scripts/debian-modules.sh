#!/bin/sh
# Writes internal/ecosystem/python/debianmodules.txt: which Debian package holds a package of
# PyPI, by the metadata that the package has beside its modules; and debianimports.txt: which one
# holds a module that is imported by a name that is not its package's. It needs curl and the archive.
# Of several packages the one that is called like a module is taken, then the shortest name.
set -eu
cd "$(dirname "$0")/.."
out=internal/ecosystem/python/debianmodules.txt
imports=internal/ecosystem/python/debianimports.txt
contents=$(mktemp)
trap 'rm -f "$contents"' EXIT
archive=${ARCHIVE:-http://deb.debian.org/debian/dists/bookworm/main}
for part in all amd64; do
	curl -fsS "$archive/Contents-$part.gz" | gzip -dc | grep '^usr/lib/python3/dist-packages/'
done >"$contents"
{
	echo "# Debian bookworm, main, amd64: a package of PyPI, and Debian's of it where that is not python3-NAME. Made by scripts/debian-modules.sh."
	LC_ALL=C awk '
	match($1, /^usr\/lib\/python3\/dist-packages\/[^\/]+\.(egg|dist)-info/) {
		name = substr($1, 31, RLENGTH - 30)
		sub(/\.(egg|dist)-info$/, "", name); sub(/-[0-9][^-]*(-py3\.[0-9]+)?$/, "", name)
		name = tolower(name); gsub(/[-_.]+/, "-", name)
		if (name !~ /^[a-z0-9][a-z0-9-]*$/) next
		n = split($2, packages, ",")
		for (i = 1; i <= n; i++) { p = packages[i]; sub(/.*\//, "", p); print name, p }
	}' "$contents" | LC_ALL=C sort -u | LC_ALL=C awk '
	function rank(p) { return (p ~ /^python3-/ ? "0" : "1") (p == "python3-" $1 ? "0" : "1") sprintf("%03d", length(p)) p }
	{ if (!($1 in of) || rank($2) < rank(of[$1])) of[$1] = $2 }
	END { for (name in of) print name (of[name] == "python3-" name ? "" : " " of[name]) }' | LC_ALL=C sort
} >"$out.new"
mv "$out.new" "$out"
{
	echo "# Debian bookworm, main, amd64: a module of Python, and the library of Debian that has it, where debianmodules.txt does not say it. Made by scripts/debian-modules.sh."
	LC_ALL=C awk '
	{
		n = split(substr($1, 31), parts, "/"); name = parts[1]
		if (n == 1 && sub(/\..*(py|so)$/, "", name) == 0 || n == 2 && parts[2] != "__init__.py" || n > 2) next
		if (name !~ /^[A-Za-z][A-Za-z0-9_]*$/) next
		k = split($2, packages, ",")
		for (i = 1; i <= k; i++) { p = packages[i]; sub(/.*\//, "", p); if (p ~ /^python3-/) print name, p }
	}' "$contents" | LC_ALL=C sort -u | LC_ALL=C awk -v known="$out" '
	function plain(name) { name = tolower(name); gsub(/_/, "-", name); return name }
	BEGIN { while ((getline line < known) > 0) { split(line " ", w, " "); of[w[1]] = (w[2] == "" ? "python3-" w[1] : w[2]) } }
	of[plain($1)] == $2 { said[$1] = 1 }
	!($1 in best) || length($2) < length(best[$1]) { best[$1] = $2 }
	END { for (name in best) if (!(name in said)) print name, best[name] }' | LC_ALL=C sort
} >"$imports.new"
mv "$imports.new" "$imports"
