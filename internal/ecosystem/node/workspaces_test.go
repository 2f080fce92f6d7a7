package node

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestWorkspacesCover(t *testing.T) {
	manifest := `{"workspaces": ["packages/*", "./apps/{web,cli}/", "tools/**", "[", "` +
		strings.Repeat("{a,?}", 40) + `x"]}`
	s := &ecosystemtest.Sources{}
	all := newWorkspaces(s, map[string][]byte{
		"package.json": []byte(manifest), "deep/package.json": []byte(`{"workspaces": {"packages": ["*"]}}`),
		"bad/package.json": []byte(`{"workspaces": 7}`),
	})
	for dir, want := range map[string]bool{
		"packages/a": true, "packages/a/b": false, "apps/web": true, "apps/api": false, "tools": true, "tools/x/y": true,
		strings.Repeat("a", 40) + "x": false,
	} {
		if got := all.covers(".", dir); got != want {
			t.Errorf("%s is covered: %v", dir, got)
		}
	}
	if !all.covers("deep", "deep/x") || all.covers("deep", "deeper/x") || all.covers("bad", "bad/x") ||
		all.covers(".", ".") {
		t.Error("the workspaces of a folder are not those of its manifest")
	}
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "2 patterns of its workspaces left out") {
		t.Errorf("%q", s.Notes)
	}
	if locks := map[string]string{".": "package-lock.json"}; !all.isInstalledAbove("packages/a", locks) ||
		all.isInstalledAbove("packages/a/b", locks) || all.isInstalledAbove(".", locks) {
		t.Error("a workspace is not installed with the project above it")
	}
}

// Patterns and folders that a repository has made to be compared for ever are compared
// in part, and a note says so.
func TestHostileWorkspaces(t *testing.T) {
	s := &ecosystemtest.Sources{}
	pattern := `"**/` + strings.Repeat("*a", 400) + `b",`
	all := newWorkspaces(
		s, map[string][]byte{"package.json": []byte(`{"workspaces": [` + strings.Repeat(pattern, 5000) + `"x"]}`)})
	dir := strings.Repeat("a", 900)
	for range 500 {
		if all.covers(".", dir) {
			t.Fatal("a folder is covered that no pattern matches")
		}
	}
	if len(s.Notes) != 2 || !strings.Contains(
		s.Notes[0], "4001 patterns of its workspaces left out: a repository may have 1000") ||
		!strings.Contains(s.Notes[1], "not all compared") {
		t.Errorf("%q", s.Notes)
	}
}
