package replay

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

// submitted is a deck with a task.
func submitted(t *testing.T) *deck {
	t.Helper()
	k := openDeck(t, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	if _, err := k.Do(t.Context(), company.President,
		company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}); err != nil {
		t.Fatal(err)
	}
	return k
}

// based records the base of a task with these gates.
func (k *deck) based(gates []company.GateCommand, hash company.Hash, line *company.ConfigLine) {
	k.t.Helper()
	k.must(company.RecordBase{Task: "t1", TaskBased: company.TaskBased{
		Base: company.Base{Branch: "main", OID: base}, Gates: gates, GateHash: hash, Integration: "develop-t1-aaaa",
		BesideChecks: company.BesideChecks{Line: line},
	}})
}

// image is the command that brings the image in.
func (k *deck) image() company.Command {
	prepared := *k.View().Tasks["t1"].Prepared
	prepared.Image = "image"
	return company.RecordPreparation{Task: "t1", TaskPrepared: prepared}
}

func (k *deck) judged() company.Command {
	return company.RecordBaseline{Task: "t1",
		Result: company.GateResult{Tree: company.OID(strings.Repeat("b", 40)), GateHash: "g", Image: "image", Passed: true,
			Checks: []company.GateCheck{{Name: "test", Command: "true", Passed: true}}}}
}

// recorded ends the task, and gives a replay of it.
func (k *deck) recorded() *deck {
	k.t.Helper()
	k.must(company.Cancel{Task: "t1", Why: "enough"})
	r, err := readFrom(k.t, k, "t1")
	if err != nil {
		k.t.Fatal(err)
	}
	return openReplay(k.t, r)
}

func (k *deck) checkSame() {
	k.t.Helper()
	select {
	case <-k.director.Done():
	case <-time.After(time.Minute):
		_, next := k.director.Idle()
		k.t.Fatalf("the replay waits for %s", next)
	}
	if report := k.director.Report(); !report.Same {
		k.t.Errorf("%+v", report.Divergence)
	}
}

// write answers the question that is due with its line.
func (k *deck) write() {
	k.t.Helper()
	for _, e := range company.Due(k.View(), k.clock.Add(time.Hour), 4) {
		if ask, ok := e.Command.(company.OpenApproval); ok {
			k.must(ask)
			if _, err := k.Do(k.t.Context(), company.President,
				company.Answer{Approval: k.View().ByKey[ask.Question.Key], Option: company.OptWrite}); err != nil {
				k.t.Fatal(err)
			}
			return
		}
	}
	k.t.Fatal("nothing is asked")
}

// TestReplayHasAWrittenLine: a replay has the line that the president let be written from its beginning:
// it asks nothing, and prepares once.
func TestReplayHasAWrittenLine(t *testing.T) {
	t.Parallel()
	k := submitted(t)
	k.based(nil, "none",
		&company.ConfigLine{Key: "gates.test", Value: "true", File: "/own.yaml", Text: "gates.test: true"})
	k.must(k.image())
	k.write()
	k.based(gates, "g", nil)
	k.must(k.image())
	k.must(k.judged())

	k = k.recorded()
	k.based(gates, "g", nil)
	k.must(k.image())
	_, _ = k.Do(t.Context(), company.Company, k.judged()) // the replay ends with it
	k.checkSame()
}
