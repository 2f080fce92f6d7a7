package makefile

import (
	"company/internal/ecosystem"
	"company/internal/ecosystem/compilecache"
)

// Toolchains are make, which every base has, a C compiler, and what keeps its objects.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	return []ecosystem.Toolchain{
		{Name: e.Name(), Title: "make", Contents: "make"},
		{Name: "c", Title: "C", Contents: "a C compiler", Packages: []string{"g++", "gcc", "libc6-dev"},
			// leaks are looked for by tracing, which no container lets
			Env: ecosystem.Env{Set: map[string]string{"ASAN_OPTIONS": "detect_leaks=0"}}},
		{Name: cacheToolchain, Title: "ccache", Contents: "ccache", Packages: []string{"ccache"}, Env: compilecache.Env},
	}
}
