package diagnose

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

// The remote is asked for the numbers of the office that is there. One that cannot be opened is an error
// before the first task, too; for a plan alone, and where another process works, a note says why.
func TestUsedNumbers(t *testing.T) {
	p, off := openOffice(t)
	defer off.Close()
	d := &Checker{Env: os.LookupEnv, Logger: slog.New(slog.DiscardHandler)}
	origin := filepath.Join(t.TempDir(), "origin.git")
	gitexectest.Git(t, p.Repo, "init", "-q", "--bare", origin)
	gitexectest.Git(t, p.Repo, "commit", "-q", "--allow-empty", "-m", "x")
	gitexectest.Git(t, p.Repo, "remote", "add", "origin", origin)
	gitexectest.Git(t, p.Repo, "push", "-q", "origin", "HEAD:refs/heads/develop-t3-"+off.ID)
	var dry, held, wrong bool
	ask := func(p office.Paths, want int, says string) {
		t.Helper()
		c, said := company.Submit{}, ""
		c.DryRun = dry
		u := d.askUsedNumbers(t.Context(), p, config.Default(), p.Repo)
		u.held = held
		err := u.Choose(t.Context(), &c, func(format string, args ...any) { said += fmt.Sprintf(format, args...) })
		if wrong != (company.CodeOf(err) == company.ENotFound && company.NeedsPerson(err)) || !wrong && err != nil {
			t.Errorf("%v", err)
		}
		if c.NumberAfter != want || !strings.Contains(said, says) || says == "" && said != "" {
			t.Errorf("%d, want %d; %q", c.NumberAfter, want, said)
		}
	}
	ask(p, 3, "")
	if err := os.Rename(origin, origin+".away"); err != nil {
		t.Fatal(err)
	}
	const note = "cannot read the remote's task numbers: cannot open the remote "
	dry = true
	ask(p, 0, note)
	dry, held = false, true
	ask(p, 0, note)
	held, wrong = false, true
	ask(p, 0, "")
	fresh := p
	fresh.State = filepath.Join(t.TempDir(), "state")
	ask(fresh, 0, "")
	d.askUsedNumbers(t.Context(), p, config.Default(), p.Repo).stop()
	var none *UsedNumbers
	if err := none.Choose(t.Context(), nil, nil); err != nil {
		t.Error(err)
	}
}

// openOffice makes an office in a new repository.
func openOffice(t *testing.T) (office.Paths, *office.Office) {
	t.Helper()
	p, err := office.Find(office.FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	off, err := office.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return p, off
}
