package gitops_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/gitops/gitopstest"
)

// What a range publishes are the new blobs under every path that a commit gives
// them, and the names that are new; what a merge brings in from the start is
// not among them, and what one commit adds and the next takes away is.
func TestNews(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{"old.txt": "old\n", "kept.txt": "kept\n"})
	p.Commit("work", map[string]string{"gone.txt": "gone\n", "one/same.txt": "same\n"})
	p.Commit(
		"work", map[string]string{"gone.txt": "", "two/same.txt": "same\n", "copy of old.txt": "old\n",
			"kept.txt": "changed\n"})
	began := p.Commit("main", map[string]string{"theirs.txt": "theirs\n"})
	p.Git("switch", "-q", "work")
	p.Git("merge", "-q", "--no-commit", "main")
	p.Write(map[string]string{"in the merge.txt": "by hand\n"})
	p.Git("add", "-A")
	p.Git("commit", "-q", "-m", "merge")
	p.Git("switch", "-q", "main")
	head := p.Fetch("work")
	news, err := p.Mirror.News(t.Context(), began, head)
	if err != nil {
		t.Fatal(err)
	}
	var files, names []string
	for _, f := range news.Files {
		files = append(files, f.Path)
	}
	for _, n := range news.Names {
		names = append(names, n.Path)
	}
	slices.Sort(files)
	slices.Sort(names)
	if want := []string{"gone.txt", "in the merge.txt", "kept.txt", "one/same.txt", "two/same.txt"}; !slices.Equal(
		files, want) {
		t.Errorf("files %q, not %q", files, want)
	}
	if want := []string{"copy of old.txt", "gone.txt", "in the merge.txt", "one", "one/same.txt", "two",
		"two/same.txt"}; !slices.Equal(names, want) {
		t.Errorf("names %q, not %q", names, want)
	}
	if len(news.Commits) != 3 {
		t.Errorf("%d commits", len(news.Commits))
	}
	if news, err := p.Mirror.News(t.Context(), head, head); err != nil ||
		len(news.Files)+len(news.Names)+len(news.Commits) > 0 {
		t.Errorf("of nothing: %+v %v", news, err)
	}
}

// A folder under very many names is a small push and millions of paths: the
// list ends, and says so. What is the same everywhere is gone through once.
func TestNewsOfABomb(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{"a.txt": "a\n"})
	blob := p.Git("rev-parse", "main:a.txt")
	tree := func(mode, kind, id string) string {
		var list strings.Builder
		for i := range 700 {
			fmt.Fprintf(&list, "%s %s %s\tn%d\n", mode, kind, id, i)
		}
		file := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return p.Git("-c", "alias.mk=!git mktree <"+file, "mk")
	}
	files := tree("100644", "blob", blob)
	head := p.Git("commit-tree", tree("040000", "tree", files), "-p", string(p.Base), "-m", "bomb")
	same := head
	for range 20 { // many commits, no more paths
		same = p.Git("commit-tree", files, "-p", same, "-m", "again")
		same = p.Git("commit-tree", head+"^{tree}", "-p", same, "-m", "and back")
	}
	p.Git("branch", "bomb", same)
	news, err := p.Mirror.News(t.Context(), p.Base, p.Fetch("bomb"))
	if err != nil || !news.Cut || len(news.Names) < 100_000 || len(news.Names) > 300_000 {
		t.Errorf("%d names, cut %v, %v", len(news.Names), news.Cut, err)
	}
}
