package cc

import (
	"strings"

	"company/internal/lib/lazyregexp"
)

var (
	linkFlag      = lazyregexp.New(`(?:^|[\s="'])-l([A-Za-z0-9_.+-]+)`)
	pkgConfigCall = lazyregexp.New(`\bpkg-config((?:\s+(?:--[a-z-]+|[A-Za-z0-9_.+-]+))+)`)
)

// LinkedPackages returns the Debian packages of the libraries that Makefiles pass to the linker (-lz) and to
// pkg-config, sorted. It skips libraries that the project builds itself, according to isOwn. It adds notes for
// packages that are left out.
func LinkedPackages(
	makefiles []string, isOwn func(library string) bool, note func(format string, args ...any),
) []string {
	asks := &Asks{IsOwn: isOwn}
	for _, text := range makefiles {
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			asks.AddFlags(line)
			asks.AddCalls(line)
		}
	}
	return asks.List(note)
}
