package desk_test

import (
	"testing"

	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/console"
	"company/internal/desk"
	"company/internal/view"
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
	env := command.NewEnvironment(console.Console{LookupEnv: o.LookupEnv})
	env.RepoDir = o.Repo
	d := desk.New(env.Entrance, nil)
	decided := 0
	got, err := d.SyncPulls(t.Context(), []view.PullRecord{record}, func(c company.RecordPRFeedback) (company.TaskID, error) {
		decided++
		_, err := o.App.DoID(t.Context(), "sync-1", company.President, c)
		return "", err
	})
	if err != nil || decided != 1 || len(got) != 1 || got[0].Number != 1 || got[0].Error != "" || got[0].State != company.PRClosed || o.Task("t1").PR.State != company.PRClosed {
		t.Errorf("%v: %+v, %d decided", err, got, decided)
	}
	if err := d.ClosePull(t.Context(), record, "squashed"); err != nil {
		t.Errorf("a page: %v", err)
	}
}
