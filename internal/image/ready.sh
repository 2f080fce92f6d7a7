#!/bin/sh
# Makes a fresh tree, the current directory, ready to build and test offline:
# links what the image holds for its lock files into place, and keeps git from
# seeing it. What the tree has itself stays as it is. It may run twice.
set -u
deps=/opt/deps
hidden=

# hide keeps a path of the tree out of git, without a change to the tree.
hide() {
	hidden="$hidden$1
"
}

# Each client's list has a line for each directory of a node_modules, "" or with a
# slash at its end. The links are one per package, so that resolving a package
# leads to where all others lie beside it, and what tools write into
# node_modules stays here. What pnpm has installed lies in
# .prepared, where its programs look for it; yarn finds programs by its list.
for list in "$deps"/*.dirs; do
	[ -f "$list" ] || continue
	while IFS= read -r dir; do
		from=${list%.dirs}/${dir}node_modules
		to=${dir}node_modules
		[ -f "${dir}package.json" ] || continue
		if [ -e "$to" ] || [ -L "$to" ]; then continue; fi
		mkdir "$to" || continue
		set --
		for entry in "$from"/*; do
			case ${entry##*/} in
			@*) ;;
			*) if [ -e "$entry" ] || [ -L "$entry" ]; then set -- "$@" "$entry"; fi ;;
			esac
		done
		if [ -d "$from/.prepared" ]; then set -- "$@" "$from/.prepared"; fi
		if [ -f "$from/.yarn-state.yml" ]; then set -- "$@" "$from/.yarn-state.yml"; fi
		if [ $# -gt 0 ]; then ln -s -t "$to" -- "$@"; fi
		for group in "$from"/@* "$from"/.bin; do
			[ -d "$group" ] || continue
			mkdir "$to/${group##*/}" || continue
			set --
			for entry in "$group"/*; do
				if [ -e "$entry" ] || [ -L "$entry" ]; then set -- "$@" "$entry"; fi
			done
			if [ $# -gt 0 ]; then ln -s -t "$to/${group##*/}" -- "$@"; fi
		done
	done <"$list"
	hide node_modules # tools make more of them, for what they keep
	case $list in */berry.dirs) hide .yarn/install-state.gz ;; esac
done

# Lock files that the repository does not have and preparation has made: each list
# names them. The tree gets them where its folder is there, and git does not see them.
for list in "$deps"/*.locks; do
	[ -f "$list" ] || continue
	while IFS= read -r file; do
		if [ ! -d "./${file%/*}" ] && [ "${file#*/}" != "$file" ]; then continue; fi
		if [ -e "$file" ] || [ -L "$file" ]; then continue; fi
		cp "${list%.locks}/$file" "$file" || continue
		hide "/$file"
	done <"$list"
done

# Cargo finds the crates that lie in the image. Its own directory is the lowest
# place for settings, so a project's win.
cargo=${CARGO_HOME:-${HOME:-/home/agent}/.cargo}
if [ -f "$deps/cargo.toml" ] && [ ! -e "$cargo/config.toml" ]; then
	mkdir -p "$cargo" && cp "$deps/cargo.toml" "$cargo/config.toml"
fi

# What Python leaves behind wherever it runs.
if command -v python3 >/dev/null 2>&1; then
	hide __pycache__/
	hide .pytest_cache/
fi

if [ -n "$hidden" ] && [ -d .git/info ] && ! grep -qxF '# company: prepared' .git/info/exclude 2>/dev/null; then
	printf '\n# company: prepared\n%s' "$hidden" >>.git/info/exclude
fi
exit 0
