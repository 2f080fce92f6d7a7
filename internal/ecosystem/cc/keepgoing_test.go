package cc

import (
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// The build of a check goes on behind an error. The command that people are shown is the
// plain one.
func TestBuildsKeepGoing(t *testing.T) {
	for _, c := range []struct {
		e     ecosystem.Detector
		files map[string]string
		want  string
	}{
		{CMake{}, map[string]string{"CMakeLists.txt": "project(x C)\nenable_testing()\nadd_test(NAME a COMMAND a)\n"},
			"cmake --build ../company-build -j 2 -- -k 0 && ctest"},
		{Meson{}, map[string]string{"meson.build": "project('x', 'c')\ntest('a', a)\n"},
			"meson compile -C ../company-build -j 2 --ninja-args=-k0 && meson test"},
		{Autotools{},
			map[string]string{"configure.ac": "AC_INIT([x], [1])\nAM_INIT_AUTOMAKE\n", "Makefile.am": "TESTS = a\n"},
			"make -j 2 -k && make -k check"},
		{Autotools{}, map[string]string{"configure": "#!/bin/sh\n", "Makefile.in": "test:\n\t./a\n"},
			"make -j 2 -k && make -k test"},
	} {
		found := c.e.Detect(ecosystemtest.Tree(c.files), nil)
		if len(found) != 1 || found[0].Test == nil {
			t.Errorf("%v: %+v", c.files, found)
			continue
		}
		gate := found[0].Test
		if !strings.Contains(gate.Report, c.want) || strings.Contains(gate.Command, "-k 0") ||
			strings.Contains(gate.Command, "ninja-args") || strings.Contains(gate.Command, "-j 2 -k") {
			t.Errorf("%q reports by %q, want %q", gate.Command, gate.Report, c.want)
		}
	}
}
