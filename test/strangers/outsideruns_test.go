package strangers

import "testing"

func TestRedNamesOutside(t *testing.T) {
	const name = "example.org/zip TestVCS/quote@v3.0.0"
	first := outsideRun{1, "--- FAIL: TestVCS (0.01s)\n    --- FAIL: TestVCS/quote@v1.0.0 (0.00s)\nFAIL"}
	other := outsideRun{1, "--- FAIL: TestVCS (0.03s)\n    --- FAIL: TestVCS/quote@v2.0.0 (0.02s)\nFAIL"}
	slower := outsideRun{1, "--- FAIL: TestVCS (1.00s)\n    --- FAIL: TestVCS/quote@v1.0.0 (0.50s)\nFAIL"}
	for _, c := range []struct {
		about string
		name  string
		runs  []outsideRun
		want  bool
	}{
		{"the test itself is red outside", "example.org/zip TestVCS/quote@v1.0.0", []outsideRun{first}, true},
		{"another test of its group is red", name, []outsideRun{first}, false},
		{"the same other test is red each time", name, []outsideRun{first, slower}, false},
		{"other tests of its group are red each time", name, []outsideRun{first, other}, true},
		{"a test of its own that stays green", "example.org/zip TestRead", []outsideRun{first, other}, false},
	} {
		if got := (&outsideRuns{all: c.runs}).showsRed(c.name); got != c.want {
			t.Errorf("%s: red outside = %v, want %v", c.about, got, c.want)
		}
	}
}

func TestRunsOutsideAreDescribed(t *testing.T) {
	red := outsideRun{1, "--- FAIL: TestA (0.01s)"}
	for _, c := range []struct {
		about string
		runs  []outsideRun
		want  string
	}{
		{"green each time", []outsideRun{{0, "ok 0.1s"}, {0, "ok 0.2s"}, {0, "ok"}},
			"x was run 3 times outside: it ends in the same way each time"},
		{"red, then green", []outsideRun{red, {0, "ok"}},
			"x was run 2 times outside: it does not end in the same way each time"},
		{"red in another test", []outsideRun{red, {1, "--- FAIL: TestB (0.01s)"}},
			"x was run 2 times outside: it does not end in the same way each time"},
	} {
		if got := (&outsideRuns{command: "x", all: c.runs}).describeRuns(); got != c.want {
			t.Errorf("%s: %q, want %q", c.about, got, c.want)
		}
	}
}
