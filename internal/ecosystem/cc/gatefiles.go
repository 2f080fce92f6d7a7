package cc

import (
	"path"

	"company/internal/ecosystem"
)

// sharedFiles configure tools that look at C whatever builds it.
var sharedFiles = []string{".clang-tidy", ".clang-format", ".clang-format-ignore", ".clangd", "conanfile.py", "conanfile.txt", "vcpkg.json", "vcpkg-configuration.json"}

// cmakeFiles are read by CMake and ctest beside the CMake language's own files.
var cmakeFiles = []string{"CMakePresets.json", "CMakeUserPresets.json", "*.cmake.in"}

// IsGateFile says whether a file says what CMake and ctest do, or a tool that looks at C.
func (CMake) IsGateFile(file string) bool {
	return isCMakeFile(path.Base(file)) || ecosystem.HasName(file, cmakeFiles) || ecosystem.HasName(file, sharedFiles)
}

// mesonFiles say what Meson builds, and from where.
var mesonFiles = []string{"meson.build", "meson_options.txt", "meson.options", "meson-cross.ini", "meson-native.ini", "*.wrap"}

// IsGateFile says whether a file says what Meson does.
func (Meson) IsGateFile(file string) bool { return ecosystem.HasName(file, mesonFiles) }

// autotoolsNames make the Makefile, or run the tests for it.
var autotoolsNames = []string{
	"configure", "configure.ac", "configure.in", "*.am", "*.m4", "Makefile.in", "Makefile.*.in", "*.mk.in", "autogen.sh", "bootstrap", "bootstrap.sh",
	"test-driver", "tap-driver", "tap-driver.*", "*.test-driver",
}

// IsGateFile says whether a file says what the autotools do; a Makefile is package
// makefile's. automake puts the programs that run tests into build-aux.
func (Autotools) IsGateFile(file string) bool {
	return ecosystem.HasName(file, autotoolsNames) || ecosystem.LiesIn(file, "build-aux")
}
