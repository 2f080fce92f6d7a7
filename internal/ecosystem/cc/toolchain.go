package cc

import (
	"slices"

	"company/internal/ecosystem"
)

// Where compiled objects lie: those of the base in the image, which no container
// can change, and those that a container makes itself.
const (
	bakedCache = "/opt/ccache"
	ownCache   = "/work/.ccache"
)

// compilerEnv puts ccache before the compilers, for every build that finds them on
// its PATH. The times of headers say nothing: a tree is laid out just before it is
// built. The compiler is known by its content, since layers have times of their own.
var compilerEnv = ecosystem.Env{
	Set: map[string]string{
		"CCACHE_DIR": ownCache, "CCACHE_REMOTE_STORAGE": "file:" + bakedCache + "|read-only", "CCACHE_MAXSIZE": "200M",
		"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache", // it looks for cc, which Debian's ccache does not stand before
		"ASAN_OPTIONS":         "detect_leaks=0", // leaks are looked for by tracing, which no container lets
		"CCACHE_COMPILERCHECK": "content", "CCACHE_SLOPPINESS": "include_file_ctime,include_file_mtime",
	},
	Path: "/usr/lib/ccache",
}

// compilers are the packages that every build needs.
var compilers = []string{"ccache", "g++", "gcc", "libc6-dev", "pkg-config"}

// makeToolchain is a build system with its compilers.
func makeToolchain(name, title, contents string, packages ...string) []ecosystem.Toolchain {
	return []ecosystem.Toolchain{{Name: name, Title: title, Contents: contents + ", a C compiler and ccache", Packages: append(slices.Clone(compilers), packages...), Env: compilerEnv}}
}

// Toolchains are CMake, Ninja and the compilers.
func (e CMake) Toolchains() []ecosystem.Toolchain {
	return makeToolchain(e.Name(), "CMake", "cmake and ninja", "cmake", "ninja-build")
}

// Toolchains are Meson, Ninja and the compilers.
func (e Meson) Toolchains() []ecosystem.Toolchain {
	return makeToolchain(e.Name(), "Meson", "meson and ninja", "meson", "ninja-build")
}

// Toolchains are the autotools and the compilers.
func (e Autotools) Toolchains() []ecosystem.Toolchain {
	return makeToolchain(e.Name(), "the autotools", "autoconf, automake and libtool", "autoconf", "automake", "autopoint", "libtool")
}
