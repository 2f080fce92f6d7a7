package replay

import (
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/lib/hosttest"
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

func (k *deck) plan() {
	k.t.Helper()
	k.must(company.Claim{Run: "t1-plan.1", Epoch: 1, Worker: "manager", From: base})
	p := company.PlannedSubtask{Title: "one", Description: "one", AcceptanceCriteria: []string{"it works"},
		WriteSet: []string{"a"}, Effort: "medium"}
	k.must(company.EndRun{Run: "t1-plan.1", Fence: k.View().Tasks["t1"].Runs["t1-plan.1"].Fence,
		Outcome: company.RunEnded{Status: company.RunSuccess},
		Plan:    &company.Plan{Why: "one", Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{p}}}}})
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

// beside does something that ends with the test.
func (k *deck) beside(do func()) {
	var wg sync.WaitGroup
	wg.Go(do)
	k.t.Cleanup(wg.Wait)
}

// awaitEarlyStart waits until the record has had workers begin.
func (k *deck) awaitEarlyStart() {
	k.t.Helper()
	hosttest.Eventually(k.t, "a worker begins early", func() (any, bool) {
		return nil, k.View().Tasks["t1"].Early != nil
	})
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

// TestWorkersBeginEarlyWhereTheRecordHasIt: in a replay the image is there at once. Its
// preparation waits for its turn, and workers begin before it.
func TestWorkersBeginEarlyWhereTheRecordHasIt(t *testing.T) {
	t.Parallel()
	k := submitted(t)
	k.based(gates, "g", nil)
	k.plan()
	k.must(company.StartEarly{Task: "t1", EarlyStart: company.EarlyStart{Base: base, Image: "draft"}})
	k.must(company.Offer{Run: "t1-01.1"})
	k.must(k.image())
	k.must(k.judged())

	k = k.recorded()
	k.beside(func() { _ = k.director.SpeakForPresident(t.Context(), k) })
	k.based(gates, "g", nil)
	image := k.image()
	k.beside(func() {
		if _, err := k.Do(t.Context(), company.Company, image); err == nil {
			_, _ = k.Do(t.Context(), company.Company, k.judged())
		}
	})
	k.plan()
	k.awaitEarlyStart()
	k.must(company.Offer{Run: "t1-01.1"})
	k.checkSame()
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

// TestReplayOfEarlyWorkHasAWrittenLine: the same where workers had begun.
func TestReplayOfEarlyWorkHasAWrittenLine(t *testing.T) {
	t.Parallel()
	k := submitted(t)
	k.based(gates, "g", nil)
	k.plan()
	k.must(k.image())
	k.must(company.StartEarly{Task: "t1", EarlyStart: company.EarlyStart{Base: base}})
	k.must(company.Offer{Run: "t1-01.1"})
	k.must(company.ReportEffectFailure{Task: "t1", Key: "baseline", EffectFailed: company.EffectFailed{
		Code: company.EGates, Error: "it cannot start", Human: true,
		Line: &company.ConfigLine{Key: "container.setup", Value: `["true"]`, File: "/own.yaml",
			Text: `container.setup: ["true"]`},
	}})
	k.write()
	k.must(k.image())
	k.must(k.judged())

	k = k.recorded()
	k.beside(func() { _ = k.director.SpeakForPresident(t.Context(), k) })
	k.based(gates, "g", nil)
	k.plan()
	k.must(k.image())
	k.awaitEarlyStart()
	k.must(company.Offer{Run: "t1-01.1"})
	_, _ = k.Do(t.Context(), company.Company, k.judged())
	k.checkSame()
}
