package toolproto

import (
	"slices"
	"testing"
)

func TestSimilarPathsAreNamed(t *testing.T) {
	there := []string{"internal/agent/run.go", "internal/agent/run_test.go", "cmd/entry.go", "internal/worker/run.go", "docs/README.md", "internal/agent/masking.go"}
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
