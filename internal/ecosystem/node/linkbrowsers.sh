# Debian's Chromium stands for the browsers that Playwright and Puppeteer would fetch. The container is the
# sandbox: Chromium's own needs namespaces that a container does not give. Playwright looks for a browser
# in a folder that is called after the revision that its playwright-core names.
if [ -x /usr/bin/chromium ]; then
	browsers=/tmp/browsers
	mkdir -p "$browsers"
	printf '%s\n' '#!/bin/sh' 'exec /usr/bin/chromium --no-sandbox --disable-dev-shm-usage --disable-gpu "$@"' >"$browsers/chromium"
	chmod +x "$browsers/chromium"
	lay_browser() {
		mkdir -p "$browsers/$1"
		: >"$browsers/$1/INSTALLATION_COMPLETE"
		shift
		for file in "$@"; do
			mkdir -p "$browsers/${file%/*}"
			ln -sf "$browsers/chromium" "$browsers/$file"
		done
	}
	for list in "$deps"/*.dirs; do
		[ -f "$list" ] || continue
		while IFS= read -r dir; do
			from=${list%.dirs}/${dir}node_modules
			for core in "$from/playwright-core" "$from"/*/node_modules/playwright-core "$from"/.prepared/playwright-core@*/node_modules/playwright-core "$from"/.pnpm/playwright-core@*/node_modules/playwright-core; do
				[ -f "$core/browsers.json" ] || continue
				revision=$(sed -n '/"name": "chromium",/{n;s/.*"revision": "\([0-9]*\)".*/\1/p;}' "$core/browsers.json")
				if [ -n "$revision" ]; then
					lay_browser "chromium-$revision" "chromium-$revision/chrome-linux/chrome" "chromium-$revision/chrome-linux64/chrome"
				fi
				revision=$(sed -n '/"name": "chromium-headless-shell",/{n;s/.*"revision": "\([0-9]*\)".*/\1/p;}' "$core/browsers.json")
				if [ -n "$revision" ]; then
					lay_browser "chromium_headless_shell-$revision" "chromium_headless_shell-$revision/chrome-linux/headless_shell" \
						"chromium_headless_shell-$revision/chrome-headless-shell-linux64/chrome-headless-shell"
				fi
			done
		done <"$list"
	done
fi
