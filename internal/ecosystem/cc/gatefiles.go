package cc

import (
	"path"
	"slices"
)

// IsGateFile says whether a file says what CMake and ctest do.
func (CMake) IsGateFile(file string) bool {
	name := path.Base(file)
	return isCMakeFile(name) || name == "CMakePresets.json" || name == "CTestCustom.cmake.in"
}

// IsGateFile says whether a file says what Meson does.
func (Meson) IsGateFile(file string) bool {
	return slices.Contains([]string{"meson.build", "meson_options.txt", "meson.options"}, path.Base(file)) || path.Ext(file) == ".wrap"
}

// IsGateFile says whether a file says what the autotools do; a Makefile is package
// makefile's.
func (Autotools) IsGateFile(file string) bool {
	name := path.Base(file)
	return slices.Contains([]string{"configure", "configure.ac", "configure.in", "Makefile.am", "Makefile.in", "autogen.sh"}, name) || path.Ext(name) == ".m4"
}
