package cc

import (
	"strings"

	"company/internal/lazyregexp"
)

var (
	linkFlag      = lazyregexp.New(`(?:^|[\s="'])-l([A-Za-z0-9_.+-]+)`)
	pkgConfigCall = lazyregexp.New(`\bpkg-config((?:\s+(?:--[a-z-]+|[A-Za-z0-9_.+-]+))+)`)
)

// maxLinked bounds the names that are looked up for all Makefiles of a project.
const maxLinked = 2000

// LinkedPackages are the Debian packages of the libraries that Makefiles name to the
// linker (-lz) and to pkg-config, sorted. Libraries that the project builds itself, as
// isOwn knows them by their names, need none; omissions are noted.
func LinkedPackages(makefiles []string, isOwn func(library string) bool, note func(format string, args ...any)) []string {
	w := &wishes{}
	seen := map[string]bool{}
	add := func(kind, name string) {
		if seen[kind+name] || len(seen) == maxLinked {
			return
		}
		seen[kind+name] = true
		// What Debian has under no such name may be of another system.
		if _, known := packagesOf(kind, name); known && (kind != linkerName || !isOwn(name)) {
			w.add(kind, name, false)
		}
	}
	for _, text := range makefiles {
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			for _, m := range linkFlag.FindAllStringSubmatch(line, -1) {
				add(linkerName, m[1])
			}
			for _, m := range pkgConfigCall.FindAllStringSubmatch(line, -1) {
				if !seen["pkg-config"] {
					seen["pkg-config"] = true
					w.addPackage("pkg-config")
				}
				for word := range strings.FieldsSeq(m[1]) {
					if !strings.HasPrefix(word, "-") {
						add(pkgConfigName, word)
					}
				}
			}
		}
	}
	return w.listPackages(note)
}
