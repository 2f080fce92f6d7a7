package cc

import (
	"path"

	"company/internal/ecosystem"
)

// sharedFiles configure tools that check C, with any build system.
var sharedFiles = []string{".clang-tidy", ".clang-format", ".clang-format-ignore", ".clangd", "conanfile.py",
	"conanfile.txt", "vcpkg.json", "vcpkg-configuration.json"}

// cmakeFiles are further files that CMake and ctest read, besides those in the CMake language.
var cmakeFiles = []string{"CMakePresets.json", "CMakeUserPresets.json", "*.cmake.in"}

// IsGateFile reports whether a file configures CMake, ctest or a tool that checks C.
func (CMake) IsGateFile(file string) bool {
	return isCMakeFile(path.Base(file)) || ecosystem.HasName(file, cmakeFiles) || ecosystem.HasName(file, sharedFiles)
}

// mesonFiles are the files that define Meson's builds and their sources.
var mesonFiles = []string{"meson.build", "meson_options.txt", "meson.options", "meson-cross.ini",
	"meson-native.ini", "*.wrap"}

// IsGateFile reports whether a file configures Meson.
func (Meson) IsGateFile(file string) bool { return ecosystem.HasName(file, mesonFiles) }

// autotoolsNames are files that generate the Makefile or that run its tests.
var autotoolsNames = []string{
	"configure", "configure.ac", "configure.in", "*.am", "*.m4", "Makefile.in", "Makefile.*.in", "*.mk.in", "autogen.sh",
	"bootstrap", "bootstrap.sh",
	"test-driver", "tap-driver", "tap-driver.*", "*.test-driver",
}

// IsGateFile reports whether a file configures the autotools. Package makefile handles Makefiles. automake puts the
// programs that run tests into build-aux.
func (Autotools) IsGateFile(file string) bool {
	return ecosystem.HasName(file, autotoolsNames) || ecosystem.LiesIn(file, "build-aux")
}
