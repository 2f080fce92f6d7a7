package cc

import (
	"fmt"
	"path"

	"company/internal/company"
	"company/internal/ecosystem"
)

// plantCMake plants a failing test in the test list of a CMake project. Meson and automake list tests only in the
// project's own files, so no test can be added beside a change. Their gates are reported as unproven.
const plantCMake = "cmake"

// Plants lists the ways to plant a failing test.
func (CMake) Plants() []string { return []string{plantCMake} }

// canaryCommand returns a command that configures the project with the planted file and runs only its test. CMake
// includes the file after project(), and the test is added after all others. No targets are built for it.
func (p *cmakeProjectFiles) canaryCommand() string {
	return "( for f in " + ecosystem.CanaryPlaceholder + "*.cmake; do " + p.configureCommand() +
		` -DCMAKE_PROJECT_INCLUDE="$PWD/$f" && ctest --test-dir ` + buildFolder(p.dir) + " -R " +
		ecosystem.CanaryPlaceholder + "; done ) 2>&1"
}

// CanaryPlaces returns the project itself if a change touches its sources or build files. The tests of all its
// folders form one list.
func (CMake) CanaryPlaces(c *ecosystem.Change, gate company.GateCommand) (out []ecosystem.CanaryPlace, reason string) {
	if len(c.TouchedFolders(gate, sourceEndings...)) == 0 && !c.TouchesGateFiles(gate) {
		return nil, ""
	}
	return []ecosystem.CanaryPlace{{
		Dir:  gate.Dir,
		Path: func(word string) string { return path.Join(gate.Dir, word+".cmake") },
		Text: func(word string) string {
			return fmt.Sprintf("if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR AND NOT %[1]s)\n  set(%[1]s TRUE)\n  "+
				"cmake_language(DEFER CALL add_test NAME %[1]s COMMAND \"${CMAKE_COMMAND}\" -E false)\nendif()\n", word)
		},
	}}, ""
}
