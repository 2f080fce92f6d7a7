package makefile

import "testing"

// The streams of a container are two, and their order is not that in which
// their lines were written.
func TestLastMakeLine(t *testing.T) {
	for out, want := range map[string]string{
		"no-such-linter .\nmake: no-such-linter: No such file or directory\nmake: *** [Makefile:2: lint] Error " +
			"127\n": "make: *** [Makefile:2: lint] Error 127",
		"make: *** [Makefile:2: lint] Error 127\nno-such-linter .\n": "make: *** [Makefile:2: lint] Error " +
			"127",
		"make: *** [Makefile:2: a] Error 127\nmake: *** [Makefile:4: lint] Error 1\n": "make: *** [Makefile:4: lint] Error 1",
		"lint: make: *** Error 127\n": "",
	} {
		if got := lastMakeLine(out); got != want {
			t.Errorf("%q: %q", out, got)
		}
	}
}
