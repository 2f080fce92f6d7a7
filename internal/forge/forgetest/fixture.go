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
	"company/internal/lib/secret"
)

// Fixture holds a driver and its host for one case of the suite.
type Fixture struct {
	T    *testing.T
	Host Host
	// Server is the host if it is a fake, else nil.
	Server *Server
	Repo   *Repo
	Forge  forge.Forge // with the login "owner-token"
	driver func(forge.Options) forge.Forge
	// OnObserve receives observations of a real server for its table. It may be nil.
	OnObserve func(what string)
}

func (b *Fixture) reportObserved(format string, args ...any) {
	if b.OnObserve != nil {
		b.OnObserve(fmt.Sprintf(format, args...))
	}
}

// WithLogin returns the driver with another login.
func (b *Fixture) WithLogin(login string) forge.Forge { return b.driver(b.Options(login)) }

// NewSourceRepo creates a git repository with a commit on main, to be added to a forge, and returns its path.
func NewSourceRepo(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "src")
	server := &Server{t: t, dir: filepath.Dir(dir)}
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."}, {"add", "-A"},
		{"commit", "-q", "--allow-empty", "-m", "first"}} {
		if _, err := server.runGit(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// PR returns the suite's pull request on an existing branch.
func (b *Fixture) PR() forge.PR {
	b.T.Helper()
	const branch = "develop-t12-k3fq"
	head := b.Host.Commit(b.Repo, branch, "origin/main", "a.go", "package a // new\n")
	return forge.PR{Office: "k3fq", Task: "t12", Title: "add rate limiting", Body: "what was done", Branch: branch,
		Base: "main", Head: company.OID(head)}
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
	pulls := b.Host.Pulls(b.Repo)
	if len(pulls) != 1 {
		b.T.Fatalf("%d pull requests: %+v", len(pulls), pulls)
	}
	return pulls[0]
}

// RequireCode fails the test unless an error has the code. human is whether a person must act; such an error must
// have a hint.
func RequireCode(t testing.TB, err error, code company.Code, human bool) *company.Error {
	t.Helper()
	var fault *company.Error
	if !errors.As(err, &fault) || fault.Code != code || company.NeedsPerson(fault) != human || human && fault.Hint == "" {
		t.Fatalf("%v (%+v), want %s, human %v", err, fault, code, human)
	}
	return fault
}

// NewFixture creates the environment of a case: acme/app, its organisation's owner ann, and wim with write
// permission.
func NewFixture(t *testing.T, stage Host, driver func(forge.Options) forge.Forge) *Fixture {
	t.Helper()
	fixture := &Fixture{T: t, Host: stage, driver: driver}
	fixture.Server, _ = stage.(*Server)
	fixture.Repo = stage.NewRepo("acme", "app",
		NewSourceRepo(
			t, map[string]string{"a.go": "package a\n", ".github/CODEOWNERS": "* @acme\n*.go @bob @acme/core\n/docs/ @carol\n"}))
	stage.Invite(fixture.Repo, "ann", "owner")
	stage.Invite(fixture.Repo, "wim", "write")
	stage.AddLogin("owner-token", Token{Login: "ann"})
	fixture.Forge = fixture.WithLogin("owner-token")
	return fixture
}

// Options returns the options of a driver for the fixture's repository.
func (b *Fixture) Options(login string) forge.Options {
	b.T.Helper()
	address := mustURL(b.T, b.Host.BaseURL())
	return forge.Options{Repo: forge.Repo{Host: address.Hostname(), Port: address.Port(), Owner: b.Repo.Owner,
		Name: b.Repo.Name},
		URL: address, Transport: b.Host.Client().Transport,
		Login: func(context.Context) (forge.Credential, error) {
			return forge.Credential{Host: address.Hostname(), User: "x-access-token", Secret: secret.New(b.Host.Secret(login)),
				Source: "TEST_TOKEN"}, nil
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
