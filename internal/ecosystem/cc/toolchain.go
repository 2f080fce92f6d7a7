package cc

import (
	"slices"

	"company/internal/ecosystem"
	"company/internal/ecosystem/compilecache"
)

// compilers are the packages that every build needs.
var compilers = []string{"ccache", "g++", "gcc", "libc6-dev", "pkg-config"}

// makeToolchain returns a build system with its compilers.
func makeToolchain(name, title, contents string, packages ...string) []ecosystem.Toolchain {
	return []ecosystem.Toolchain{{Name: name, Title: title, Contents: contents + ", a C compiler and ccache",
		Packages: append(slices.Clone(compilers), packages...), Env: compilecache.Env}}
}

// Toolchains returns CMake, Ninja and the compilers.
func (e CMake) Toolchains() []ecosystem.Toolchain {
	return makeToolchain(e.Name(), "CMake", "cmake and ninja", "cmake", "ninja-build")
}

// Toolchains returns Meson, Ninja and the compilers.
func (e Meson) Toolchains() []ecosystem.Toolchain {
	return makeToolchain(e.Name(), "Meson", "meson and ninja", "meson", "ninja-build")
}

// Toolchains returns the autotools and the compilers.
func (e Autotools) Toolchains() []ecosystem.Toolchain {
	return makeToolchain(e.Name(), "the autotools", "autoconf, automake and libtool", "autoconf", "automake",
		"autopoint", "libtool")
}
