#!/bin/sh
# Installs the program, its man pages and its completions below $DESTDIR$PREFIX, or removes
# what it installed (make install, make uninstall). share/company/installed lists the files
# and the folders that were made, relative to PREFIX, so an uninstall also removes what an
# older version installed, and nothing else.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."

case ${PREFIX:-} in
/*) ;;
*) echo "PREFIX is not an absolute path: ${PREFIX:-}; try: make $1 PREFIX=/usr/local" >&2; exit 64 ;;
esac
to=${DESTDIR:-}$PREFIX
list=$to/share/company/installed

install_all() {
	temp=$(mktemp -d)
	trap 'rm -rf "$temp"' EXIT
	tree=$temp/tree share=$temp/tree/share
	mkdir -p "$tree/bin" "$share/man" "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d" "$share/company"
	CGO_ENABLED=0 go build -ldflags '-s -w' -o "$tree/bin/company" ./cmd/company
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git show -s --format=%ct HEAD 2>/dev/null || date +%s)} \
		go run ./tools/handbook manual "$temp/manual"
	mv "$temp/manual/man/man1" "$share/man/"
	mv "$temp/manual/completions/bash/company" "$share/bash-completion/completions/"
	mv "$temp/manual/completions/zsh/_company" "$share/zsh/site-functions/"
	mv "$temp/manual/completions/fish/company.fish" "$share/fish/vendor_completions.d/"

	(cd "$tree" && find . -type f | sed 's|^\./||' | sort) >"$temp/files"
	: >"$temp/old" >"$temp/old-folders"
	if [ -f "$list" ]; then
		sed '/\/$/d' "$list" | sort >"$temp/old"
		sed '/\/$/!d' "$list" >"$temp/old-folders"
	fi
	(cd "$tree" && find . -mindepth 1 -type d | sed 's|^\./||') | while read -r dir; do
		[ -d "$to/$dir" ] || echo "$dir/"
	done | sort -r -u - "$temp/old-folders" >"$temp/folders" # the deepest first, as they can be removed
	# The list names each file before it is there, and old ones until they are gone.
	install -d -m 755 "$to/share/company"
	sort -u "$temp/files" "$temp/old" | cat - "$temp/folders" >"$list"
	while read -r file; do
		mode=644
		[ "$file" = bin/company ] && mode=755
		install -D -m $mode "$tree/$file" "$to/$file"
	done <"$temp/files"
	comm -23 "$temp/old" "$temp/files" | remove
	cat "$temp/files" "$temp/folders" >"$list"
	chmod 644 "$list"
	echo "installed below $to: bin/company, $(grep -c '^share/man/' "$temp/files") man pages, completions for bash, zsh and fish"
}

# remove removes the paths on stdin. A folder stays where it holds other files.
remove() {
	while read -r path; do
		case $path in
		/* | *..*) echo "$list is damaged: $path" >&2; exit 1 ;;
		*/) rmdir "$to/$path" 2>/dev/null || : ;;
		*) rm -f "$to/$path" ;;
		esac
	done
}

uninstall_all() {
	[ -f "$list" ] || { echo "company is not installed below $to: there is no $list; try another PREFIX" >&2; exit 1; }
	entries=$(sed '/\/$/d' "$list" && echo share/company/installed && sed '/\/$/!d' "$list")
	echo "$entries" | remove
	echo "removed what was installed below $to"
}

case $1 in
install) install_all ;;
uninstall) uninstall_all ;;
esac
