// Package gitopstest creates real projects for tests: a president's checkout and its mirror in a store. Its git acts
// for people and uses no configuration of this machine. All files are removed after the test.
package gitopstest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitexec/gitexectest"
)

// Project is a checkout on main and its mirror.
type Project struct {
	t      testing.TB
	Dir    string // the checkout
	Base   company.OID
	Store  *gitops.Store
	Mirror *gitops.Mirror
}

// New commits the files to main of a new checkout and fetches it into a mirror.
func New(t testing.TB, files map[string]string) *Project {
	t.Helper()
	project := &Project{t: t, Dir: filepath.Join(t.TempDir(), "project")}
	if err := os.MkdirAll(project.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	project.Git("init", "-q", "-b", "main")
	project.Write(files)
	project.Git("add", "-A")
	project.Git("commit", "-q", "--allow-empty", "-m", "first")
	var err error
	if project.Store, err = gitops.Open(gitops.Config{Root: filepath.Join(t.TempDir(), "git")}); err != nil {
		t.Fatal(err)
	}
	if project.Mirror, err = project.Store.Mirror(context.Background(), "project", project.Dir); err != nil {
		t.Fatal(err)
	}
	project.Base = project.Fetch("main")
	return project
}

// MirrorOf implements gitops.MirrorSource: every task gets the project's mirror.
func (p *Project) MirrorOf(context.Context, *company.Task) (*gitops.Mirror, error) {
	return p.Mirror, nil
}

// Git runs git in the checkout and returns its output.
func (p *Project) Git(args ...string) string {
	p.t.Helper()
	return gitexectest.Git(p.t, p.Dir, args...)
}

// Write writes files to the checkout. It removes a file whose text is empty.
func (p *Project) Write(files map[string]string) {
	p.t.Helper()
	for name, text := range files {
		file := filepath.Join(p.Dir, name)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil && text == "" {
			err = os.Remove(file)
		} else if err == nil {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// Commit commits files to a branch and fetches the commit into the mirror. A new branch starts at the base.
// Afterwards the checkout is on main again.
func (p *Project) Commit(branch string, files map[string]string) company.OID {
	p.t.Helper()
	if branch != "main" && p.Git("branch", "--list", branch) == "" {
		p.Git("branch", "-q", branch, string(p.Base))
	}
	p.Git("switch", "-q", branch)
	p.Write(files)
	p.Git("add", "-A")
	p.Git("commit", "-q", "--allow-empty", "-m", "change "+branch)
	p.Git("switch", "-q", "main")
	return p.Fetch(branch)
}

// Fetch fetches a branch into the mirror and returns its head.
func (p *Project) Fetch(branch string) company.OID {
	p.t.Helper()
	info, err := p.Mirror.FetchBase(context.Background(), nil, gitops.Source{Path: p.Dir}, branch)
	if err != nil {
		p.t.Fatal(err)
	}
	return info.OID
}

// Tree returns the tree of a commit.
func (p *Project) Tree(commit company.OID) company.OID {
	p.t.Helper()
	tree, err := p.Mirror.Tree(context.Background(), commit)
	if err != nil {
		p.t.Fatal(err)
	}
	return tree
}
