package makefile

import "company/internal/ecosystem"

// Toolchains are make, which every base has, and a C compiler.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	return []ecosystem.Toolchain{
		{Name: e.Name(), Title: "make", Contents: "make"},
		{Name: "c", Title: "C", Contents: "a C compiler", Packages: []string{"g++", "gcc", "libc6-dev"},
			Env: ecosystem.Env{Set: map[string]string{"ASAN_OPTIONS": "detect_leaks=0"}}}, // leaks are looked for by tracing, which no container lets
	}
}
