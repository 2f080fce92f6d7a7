package cc

import (
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
	a := &Asks{IsOwn: isOwn}
	for _, text := range makefiles {
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			a.AddFlags(line)
			a.AddCalls(line)
		}
	}
	return a.List(note)
}
