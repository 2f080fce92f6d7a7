package hostops_test

import (
	"os"
	"testing"

	"company/internal/app/hostops"
	"company/internal/company"
	"company/internal/office/config"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
	"company/test/heldoffice"
)

// TestPullsAtTheDesk: the desk asks about a pull request, whose page is gone, with the config and the mirror of
// the office, and has its caller decide; a pull request that is a page has nothing to close.
func TestPullsAtTheDesk(t *testing.T) {
	o := heldoffice.Open(t)
	o.Delivered("add c", "c.txt")
	record, err := o.App.Source().PullRecord("1")
	if err != nil {
		t.Fatal(err)
	}
	env := command.NewEnvironment(terminalio.Console{LookupEnv: o.LookupEnv})
	env.RepoDir = o.Repo
	d := hostops.New(env.Entrance, nil)
	decided := 0
	got, err := d.SyncPulls(t.Context(), []view.PullRecord{record},
		func(c company.RecordPRFeedback) (company.TaskID, error) {
			decided++
			_, err := o.App.DoID(t.Context(), "sync-1", company.President, c)
			return "", err
		})
	if err != nil || decided != 1 || len(got) != 1 || got[0].Number != 1 || got[0].Error != "" ||
		got[0].State != company.PRClosed || o.Task("t1").PR.State != company.PRClosed {
		t.Errorf("%v: %+v, %d decided", err, got, decided)
	}
	if err := d.ClosePull(t.Context(), record, "squashed"); err != nil {
		t.Errorf("a page: %v", err)
	}
}

// TestConfigAtTheDesk: the digest that the config is shown with lets one change of the file
// through; the change is written, keeps what else stands there, and says what a company at
// work takes of it and when, as the command does (SUB-2).
func TestConfigAtTheDesk(t *testing.T) {
	o := heldoffice.Open(t)
	o.Serve()
	env := command.NewEnvironment(terminalio.Console{LookupEnv: o.LookupEnv})
	env.RepoDir = o.Repo
	d := hostops.New(env.Entrance, nil)
	if _, err := d.ChangeConfig(t.Context(), config.Change{Key: "workers.max", Value: "2"}); company.CodeOf(
		err) != company.EUsage {
		t.Errorf("an office without a company.yaml: %v", err)
	}
	if err := os.WriteFile(o.Paths.Config, []byte("version: 1\nbudget: {usd: 3} # mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := d.Config(t.Context(), "")
	if err != nil || list.File != o.Paths.Config || list.Digest == "" {
		t.Fatalf("%v: %+v", err, list)
	}
	got, err := d.ChangeConfig(t.Context(),
		config.Change{Key: "budget.usd", Value: "2", Digest: &list.Digest, Remote: true})
	if err != nil || got.Counts != config.CountsFromNextTask || got.Holder != os.Getpid() || got.Was != "3" ||
		got.Now != "2" {
		t.Errorf("%v: %+v", err, got)
	}
	text, err := os.ReadFile(o.Paths.Config)
	if err != nil || string(text) != "version: 1\nbudget: {usd: 2} # mine\n" {
		t.Errorf("%v:\n%s", err, text)
	}
	if _, err := d.ChangeConfig(t.Context(),
		config.Change{Key: "budget.usd", Value: "1", Digest: &list.Digest}); company.CodeOf(err) != company.EConflict {
		t.Errorf("the file was changed meanwhile: %v", err)
	}
	if list, err = d.Config(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if got, err := d.ChangeConfig(
		t.Context(), config.Change{Key: "workers.warm", Value: "0", Digest: &list.Digest}); err != nil ||
		got.Counts != config.CountsFromNextStart {
		t.Errorf("%v: %+v", err, got)
	}
}
