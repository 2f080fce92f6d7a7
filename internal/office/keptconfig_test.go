package office

import (
	"os"
	"path/filepath"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
)

// An office keeps a copy of a company.yaml that git does not track, as it is at each
// opening, and tells where it is once the file is gone. Of a file that git tracks it keeps
// none, and without one it misses none.
func TestKeptConfig(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, nil)
	file := filepath.Join(repo, "company.yaml")
	open := func() Paths {
		t.Helper()
		p := mustFind(t, FindOptions{Dir: repo})
		o, err := Open(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		return p
	}
	kept := func(p Paths) string {
		text, _ := os.ReadFile(filepath.Join(p.State, keptConfig))
		return string(text)
	}
	if p := open(); kept(p) != "" || p.CheckConfigThere() != nil {
		t.Error("a file is missed that there never was")
	}
	configtest.WriteFile(t, file, "plan: {max_subtasks: 9}\n")
	if p := open(); kept(p) != "plan: {max_subtasks: 9}\n" || p.CheckConfigThere() != nil {
		t.Errorf("kept: %q", kept(p))
	}
	configtest.WriteFile(t, file, "plan: {max_subtasks: 8}\n")
	p := open()
	configtest.WriteFile(t, file, "plan: {max_subtasks: 7}\n")
	p.RefreshKeptConfig()
	configtest.Git(t, repo, "clean", "-fdxq")
	p = mustFind(t, FindOptions{Dir: repo})
	if err := p.CheckConfigThere(); company.CodeOf(err) != company.EConfig || kept(p) != "plan: {max_subtasks: 7}\n" {
		t.Errorf("%v, kept %q", err, kept(p))
	}
	if open(); kept(p) != "plan: {max_subtasks: 7}\n" {
		t.Error("the copy went with the file")
	}
	configtest.WriteFile(t, file, kept(p))
	configtest.Git(t, repo, "add", "company.yaml")
	if p := open(); kept(p) != "" || p.CheckConfigThere() != nil {
		t.Error("a copy is kept of what git tracks")
	}
	// What is no plain file is the president's to keep.
	configtest.Git(t, repo, "rm", "-q", "--cached", "company.yaml")
	if err := os.Rename(file, file+".real"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file+".real", file); err != nil {
		t.Fatal(err)
	}
	if p := open(); kept(p) != "" {
		t.Errorf("a link is kept: %q", kept(p))
	}
}

// git clean passes the office over, git add takes nothing of it, and a marker that was
// removed is made again.
func TestGitCleanSparesOffice(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, nil)
	p := mustFind(t, FindOptions{Dir: repo})
	for range 2 {
		o, err := Open(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		configtest.Git(t, repo, "clean", "-fdxq")
		if !p.Exists() {
			t.Fatal("git clean removed the office")
		}
		if got := configtest.Git(t, repo, "status", "--porcelain", "--untracked-files=all"); got != "" {
			t.Errorf("git status: %s", got)
		}
		if err := os.RemoveAll(filepath.Join(repo, ".company", ".git")); err != nil {
			t.Fatal(err)
		}
	}
	// Who stands in the folder is in the checkout, and in its office.
	o, err := Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{p.Runs, p.State, filepath.Join(repo, ".company")} {
		if in := mustFind(t, FindOptions{Dir: dir}); in.Repo != repo || in.State != p.State {
			t.Errorf("from %s: %+v", dir, in)
		}
	}
}
