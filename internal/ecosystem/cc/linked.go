package cc

import (
	"slices"
	"strings"

	"company/internal/lazyregexp"
)

var (
	linkFlag      = lazyregexp.New(`(?:^|[\s="'])-l([A-Za-z0-9_.+-]+)`)
	pkgConfigCall = lazyregexp.New(`\bpkg-config((?:\s+(?:--[a-z-]+|[A-Za-z0-9_.+-]+))+)`)
)

// LinkedPackages are the Debian packages of the libraries that Makefiles name to the
// linker (-lz) and to pkg-config, sorted. Libraries that the project builds itself, as
// isOwn knows them by their names, need none; omissions are noted.
func LinkedPackages(makefiles []string, isOwn func(library string) bool, note func(format string, args ...any)) []string {
	w := &wishes{}
	for _, text := range makefiles {
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			for _, m := range linkFlag.FindAllStringSubmatch(line, -1) {
				if !isOwn(m[1]) {
					w.add(linkerName, m[1], false)
				}
			}
			for _, m := range pkgConfigCall.FindAllStringSubmatch(line, -1) {
				w.addPackage("pkg-config")
				for word := range strings.FieldsSeq(m[1]) {
					if !strings.HasPrefix(word, "-") {
						w.add(pkgConfigName, word, false)
					}
				}
			}
		}
	}
	// A linker's name says little: what Debian has under no such name may be of another system.
	w.all = slices.DeleteFunc(w.all, func(one wish) bool { return !one.known })
	return w.listPackages(note)
}
