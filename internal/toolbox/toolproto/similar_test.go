package toolproto

import (
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

func TestSimilarPathsAreNamed(t *testing.T) {
	there := []string{"internal/agent/run.go", "internal/agent/run_test.go", "cmd/entry.go", "internal/worker/run.go",
		"docs/README.md", "internal/agent/masking.go"}
	for missing, want := range map[string]string{
		"agent/run.go":             "; did you mean internal/agent/run.go, internal/worker/run.go?",
		"internal/agent/mask.go":   "",
		"internal/agent/maskin.go": "; did you mean internal/agent/masking.go?",
		"readme.md":                "; did you mean docs/README.md?",
		"nothing/like/it.txt":      "",
	} {
		if got := SuggestPaths(missing, slices.Values(there)); got != want {
			t.Errorf("%s: %q, want %q", missing, got, want)
		}
	}
}

// Names are compared byte by byte: of long ones fewer are looked at.
func TestLongNamesAreBounded(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine compares names")
	looked := 0
	SuggestPaths(strings.Repeat("b", 250), func(yield func(string) bool) {
		for looked < maxCompared && yield(strings.Repeat("a", 250)) {
			looked++
		}
	})
	if looked == 0 || looked > 2000 {
		t.Errorf("%d names of 250 bytes were looked at", looked)
	}
}

func TestFindSpelling(t *testing.T) {
	names := []string{"cafe\u0301", "a\u00a0b", "both\u0301", "bot\u0068\u0301", "x"}
	for name, want := range map[string]string{"caf\u00e9": "cafe\u0301", "a b": "a\u00a0b", "x": "x", "X": "",
		"both\u0301": "", "y": ""} {
		if got, ok := FindSpelling(name, names); got != want || ok != (want != "") {
			t.Errorf("%q is %q", name, got)
		}
	}
}
