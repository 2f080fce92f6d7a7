package orchestrator

import (
	"context"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/feed"
)

// A report of a refused access that comes again, after the office was killed
// and opened again, is booked once; the feed tells of it from the ledger.
func TestRefusedAccessIsBookedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	claimed := make(chan company.RunID, 1)
	b.register(company.EffectPrepare, prepares)
	manage := func(ctx context.Context, e company.Effect) (company.Command, error) {
		if _, err := b.orch.Do(ctx, "manager",
			company.Claim{Run: e.Run, Epoch: b.orch.View().Office.Epoch, Worker: "manager"}); err == nil {
			claimed <- e.Run
		}
		<-ctx.Done()
		return nil, nil
	}
	b.register(company.EffectManage, manage)
	b.run()
	b.submit(1)
	var run company.RunID
	select {
	case run = <-claimed:
	case <-b.ctx.Done():
		t.Fatal("nobody plans")
	}
	report := company.RecordRefusedAccess{Run: run, Kind: "push", What: "a big\x1b[2J file", Times: 3}
	var first []company.Event
	for again := range 2 {
		for range 2 {
			evs, err := b.orch.DoID(b.ctx, "refused "+string(run)+" push 3", company.Company, report)
			if err != nil || len(evs) != 1 {
				t.Fatalf("%v %v", evs, err)
			}
			if first == nil {
				first = evs
			}
			if evs[0].Hash() != first[0].Hash() {
				t.Errorf("booked again: %+v", evs[0])
			}
		}
		if got := b.orch.View().Tasks["t1"].Runs[run].RefusedAccesses; len(got) != 1 || got[0].Times != 3 {
			t.Errorf("%+v", got)
		}
		if again == 0 {
			if err := b.halt(); err != nil {
				t.Fatal(err)
			}
			b.close()
			b.open()
		}
	}
	line := feed.Describe(first[0], b.orch.View().Tasks["t1"])
	if line.Mark != feed.Failed || line.Quiet || line.Run != run ||
		!strings.HasPrefix(line.Text, `refused push: a big\x1b[2J file`) || !strings.Contains(line.Text, "3") {
		t.Errorf("%+v", line)
	}
}
