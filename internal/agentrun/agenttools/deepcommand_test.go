package agenttools

import (
	"strings"
	"testing"
)

// TestDeepCommandIsNotLookedInto shows that a command of brackets neither ends the process
// nor passes for one that only reads.
func TestDeepCommandIsNotLookedInto(t *testing.T) {
	for _, sign := range []string{"(", "$(", "$((", "{ ", "<(", "cat a | ", "! "} {
		command := strings.Repeat(sign, 1<<20/len(sign))
		if readsOnly(command) || runsGitCommit(command) {
			t.Errorf("%q, again and again: it was looked into", sign)
		}
	}
}
