package cc

import (
	"fmt"
	"path"

	"company/internal/company"
	"company/internal/ecosystem"
)

// plantCMake is a failing test in the test list of a CMake project. Meson and
// automake list their tests in files of the project alone, where nothing can be
// put beside a change: their gates are unproven, and say so.
const plantCMake = "cmake"

// Plants are the ways in which a failing test is put beside a change.
func (CMake) Plants() []string { return []string{plantCMake} }

// canaryCommand configures the project with the planted file, which CMake includes
// behind project(), and runs its test alone. The test is added last of all, as the
// project's own files have left the way to add one. Nothing is built for it.
func (p *cmakeProjectFiles) canaryCommand() string {
	return "( for f in " + ecosystem.CanaryPlaceholder + "*.cmake; do " + p.configureCommand() + ` -DCMAKE_PROJECT_INCLUDE="$PWD/$f" && ctest --test-dir ` + buildFolder(p.dir) + " -R " + ecosystem.CanaryPlaceholder + "; done ) 2>&1"
}

// CanaryPlaces is the project itself, where a change touches what it is built from:
// the tests of all its folders are one list.
func (CMake) CanaryPlaces(c *ecosystem.Change, gate company.GateCommand) (out []ecosystem.CanaryPlace, reason string) {
	if len(c.TouchedFolders(gate, sourceEndings...)) == 0 && !c.TouchesGateFiles(gate) {
		return nil, ""
	}
	return []ecosystem.CanaryPlace{{
		Dir:  gate.Dir,
		Path: func(word string) string { return path.Join(gate.Dir, word+".cmake") },
		Text: func(word string) string {
			return fmt.Sprintf("if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR AND NOT %[1]s)\n  set(%[1]s TRUE)\n  cmake_language(DEFER CALL add_test NAME %[1]s COMMAND \"${CMAKE_COMMAND}\" -E false)\nendif()\n", word)
		},
	}}, ""
}
