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

@LINKS@

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

@SETTINGS@

@HIDDEN@

if [ -n "$hidden" ] && [ -d .git/info ] && ! grep -qxF '# company: prepared' .git/info/exclude 2>/dev/null; then
	printf '\n# company: prepared\n%s' "$hidden" >>.git/info/exclude
fi
exit 0
