package gitops_test

import (
	"slices"
	"testing"

	"company/internal/gitops/gitopstest"
)

// What a range publishes are the new blobs under every path that a commit gives
// them, and the names that are new; what a merge brings in from the start is
// not among them, and what one commit adds and the next takes away is.
func TestNews(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"old.txt": "old\n", "kept.txt": "kept\n"})
	p.Commit("work", map[string]string{"gone.txt": "gone\n", "one/same.txt": "same\n"})
	p.Commit("work", map[string]string{"gone.txt": "", "two/same.txt": "same\n", "copy of old.txt": "old\n", "kept.txt": "changed\n"})
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
	if want := []string{"gone.txt", "in the merge.txt", "kept.txt", "one/same.txt", "two/same.txt"}; !slices.Equal(files, want) {
		t.Errorf("files %q, not %q", files, want)
	}
	for _, want := range []string{"gone.txt", "in the merge.txt", "one/same.txt", "two/same.txt", "copy of old.txt"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %q in the names %q", want, names)
		}
	}
	if len(news.Commits) != 3 {
		t.Errorf("%d commits", len(news.Commits))
	}
	if news, err := p.Mirror.News(t.Context(), head, head); err != nil || len(news.Files)+len(news.Names)+len(news.Commits) > 0 {
		t.Errorf("of nothing: %+v %v", news, err)
	}
}
