package generate

import (
	"strings"
	"testing"
)

// TestNotices: every module of the programs is named with a licence that is known,
// and one without is an error.
func TestNotices(t *testing.T) {
	text, err := Notices(t.Context(), tree, "./cmd/toolbox", "./internal/container/docker/seccomp",
		"./internal/lib/secretscan")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The Go standard library: BSD", "github.com/hashicorp/yamux v", ": MPL-2.0",
		"LICENSE.moby", "Zachary Rice"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%.2000s", want, text)
		}
	}
	if _, err := renderNotices(
		map[string]map[string]string{"example.com/x v1": {"LICENSE": "All rights reserved."}}); err == nil {
		t.Error("a licence of no known family is taken")
	}
}
