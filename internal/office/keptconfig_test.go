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
		p := mustFind(t, FindOptions{Dir: repo, Env: os.LookupEnv})
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
	p = mustFind(t, FindOptions{Dir: repo, Env: os.LookupEnv})
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
	// What is not a plain file is the president's to keep.
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
