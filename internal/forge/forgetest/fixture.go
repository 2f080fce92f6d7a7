package forgetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/secret"
)

// Fixture is a driver at a stage, for one case of the suite.
type Fixture struct {
	T    *testing.T
	Host Host
	// Server is the stage where that is a fake.
	Server *Server
	Repo   *Repo
	Forge  forge.Forge // with the login "owner-token"
	driver func(forge.Options) forge.Forge
	// OnObserve hears what a real server did, for its table. It may be nil.
	OnObserve func(what string)
}

func (b *Fixture) reportObserved(format string, args ...any) {
	if b.OnObserve != nil {
		b.OnObserve(fmt.Sprintf(format, args...))
	}
}

// WithLogin is the driver with another login.
func (b *Fixture) WithLogin(login string) forge.Forge { return b.driver(b.Options(login)) }

// NewSourceRepo makes a git repository with a commit on main, to add as a forge's.
func NewSourceRepo(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "src")
	s := &Server{t: t, dir: filepath.Dir(dir)}
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."}, {"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", "first"}} {
		if _, err := s.runGit(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// PR is what the suite asks for, on a branch that is there.
func (b *Fixture) PR() forge.PR {
	b.T.Helper()
	const branch = "develop-t12-k3fq"
	head := b.Host.Commit(b.Repo, branch, "origin/main", "a.go", "package a // new\n")
	return forge.PR{Office: "k3fq", Task: "t12", Title: "add rate limiting", Body: "what was done", Branch: branch, Base: "main", Head: company.OID(head)}
}

func (b *Fixture) mustOpen(pr forge.PR) forge.OpenedPR {
	b.T.Helper()
	got, err := b.Forge.Open(b.T.Context(), pr)
	if err != nil {
		b.T.Fatal(err)
	}
	return got
}

func (b *Fixture) onlyPull() Pull {
	b.T.Helper()
	all := b.Host.Pulls(b.Repo)
	if len(all) != 1 {
		b.T.Fatalf("%d pull requests: %+v", len(all), all)
	}
	return all[0]
}

// RequireCode holds an error to a code; human says whether a person must act,
// and then it must say what to do.
func RequireCode(t testing.TB, err error, code company.Code, human bool) *company.Error {
	t.Helper()
	var e *company.Error
	if !errors.As(err, &e) || e.Code != code || company.NeedsPerson(e) != human || human && e.Hint == "" {
		t.Fatalf("%v (%+v), want %s, human %v", err, e, code, human)
	}
	return e
}

// NewFixture makes the world of a case: acme/app, its organisation's owner ann,
// and wim with the right to write.
func NewFixture(t *testing.T, stage Host, driver func(forge.Options) forge.Forge) *Fixture {
	t.Helper()
	b := &Fixture{T: t, Host: stage, driver: driver}
	b.Server, _ = stage.(*Server)
	b.Repo = stage.NewRepo("acme", "app", NewSourceRepo(t, map[string]string{"a.go": "package a\n", ".github/CODEOWNERS": "* @acme\n*.go @bob @acme/core\n/docs/ @carol\n"}))
	stage.Invite(b.Repo, "ann", "owner")
	stage.Invite(b.Repo, "wim", "write")
	stage.AddLogin("owner-token", Token{Login: "ann"})
	b.Forge = b.WithLogin("owner-token")
	return b
}

// Options are those of a driver at the fixture's repository.
func (b *Fixture) Options(login string) forge.Options {
	b.T.Helper()
	u := mustURL(b.T, b.Host.BaseURL())
	return forge.Options{Repo: forge.Repo{Host: u.Hostname(), Port: u.Port(), Owner: b.Repo.Owner, Name: b.Repo.Name}, URL: u, Transport: b.Host.Client().Transport,
		Login: func(context.Context) (forge.Credential, error) {
			return forge.Credential{Host: u.Hostname(), User: "x-access-token", Secret: secret.New(b.Host.Secret(login)), Source: "TEST_TOKEN"}, nil
		}}
}

// MustOpen opens a pull request.
func MustOpen(t *testing.T, f forge.Forge, pr forge.PR) forge.OpenedPR {
	t.Helper()
	got, err := f.Open(t.Context(), pr)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
