package gitops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/gitopstest"
)

// The recent past of a commit: which files each commit changed, newest first, whatever the
// names of the files and the messages hold.
func TestRecentChanges(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{"a.go": "1\n", "sub/b.go": "1\n"})
	p.Commit("main", map[string]string{"a.go": "2\n"})
	odd := "new\nline \x01 \x1b[31m.go"
	p.Write(map[string]string{odd: "x\n", "sub/b.go": "2\n"})
	p.Git("add", "-A")
	p.Git("commit", "-q", "-m", "one \x01 subject\n\nand a body\n")
	at := p.Fetch("main")
	got, err := p.Mirror.RecentChanges(t.Context(), at, 10)
	if err != nil || len(got) != 3 {
		t.Fatalf("%v %q", err, got)
	}
	if first := got[0]; !strings.HasPrefix(first.Subject, "one") ||
		!slices.Equal(first.Paths, []string{odd, "sub/b.go"}) || first.When.IsZero() {
		t.Errorf("%q", first)
	}
	if !slices.Equal(got[1].Paths, []string{"a.go"}) || !slices.Equal(got[2].Paths, []string{"a.go", "sub/b.go"}) {
		t.Errorf("%q", got)
	}
	if got, err := p.Mirror.RecentChanges(t.Context(), at, 1); err != nil || len(got) != 1 {
		t.Errorf("%v %d", err, len(got))
	}
	for _, bad := range []company.OID{"HEAD", "--all", company.OID(strings.Repeat("1", 40))} {
		if got, err := p.Mirror.RecentChanges(t.Context(), bad, 1); err == nil {
			t.Errorf("%s: %q", bad, fmt.Sprint(got))
		}
	}
}

// A commit of the past may hold a tree that unfolds to more paths than any memory has room for, also
// where the newest commit is plain. The map of a plan then tells the newer commits alone.
func TestRecentChangesOfATreeBomb(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{"a.go": "1\n"})
	plain := p.Git("rev-parse", "HEAD^{tree}")
	tree := plain
	for range 8 { // 20^8 folders
		var lines strings.Builder
		for i := range 20 {
			fmt.Fprintf(&lines, "040000 tree %s\td%02d\n", tree, i)
		}
		tree = gitexectest.GitWith(t, p.Dir, lines.String(), "mktree")
	}
	bomb := p.Git("commit-tree", "-p", "HEAD", "-m", "bomb", tree)
	small := p.Git("commit-tree", "-p", "HEAD", "-m", "bomb that is merged away", plain)
	p.Git("update-ref", "refs/heads/main", p.Git("commit-tree", "-p", small, "-p", bomb, "-m", "merge", plain))
	p.Commit("main", map[string]string{"a.go": "2\n"})
	at := p.Fetch("main")
	got, err := p.Mirror.RecentChanges(t.Context(), at, 10)
	if err != nil || len(got) == 0 || !slices.Equal(got[0].Paths, []string{"a.go"}) {
		t.Errorf("%v %q", err, got)
	}
}
