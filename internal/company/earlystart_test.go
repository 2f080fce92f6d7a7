package company_test

import (
	"testing"

	. "company/internal/company"
)

// early has workers begin before the base is judged; with an image: before the task's own is there.
func (s *story) early(image string) StartEarly {
	return StartEarly{Task: s.id, EarlyStart: EarlyStart{Base: s.task().Prepared.Base.OID, Image: image}}
}

// Workers begin in an image that has nothing compiled. What they hand in waits for the image
// and for the verdict on the base.
func TestWorkersBeginWhileTheBaseIsCompiled(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{}).plan(1)
	s.mustRefuse(EInvalid, s.early(""))
	s.requireNoOffer("without an image")
	s.must(Company, s.early("draft"))
	s.mustIgnore(s.early("draft again"))
	s.mustIgnore(s.early(""))
	if s.task().WorkImage() != "draft" {
		t.Fatalf("they work in %q", s.task().WorkImage())
	}
	s.work(1)
	s.checkSubStatus(1, SubtaskInGate)
	s.requireDue(EffectImage)
	s.mustIgnore(s.gated(1, true))
	s.must(Company, s.image())
	if s.task().WorkImage() != "img" {
		t.Fatalf("they work in %q once the image is there", s.task().WorkImage())
	}
	s.requireDue(EffectBaseline)
	s.must(Company, s.baseline())
	s.mustIgnore(s.early("late"))
	s.requireDue(EffectGate)
	s.must(Company, s.gated(1, true))
	s.checkSubStatus(1, SubtaskReviewing)
}

// The base does not move under workers that have begun, whatever was mended.
func TestEarlyWorkSettlesTheBase(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{}).plan(1)
	s.must(Company, s.early("draft"))
	s.fails("prepare")
	s.mended()
	s.requireDue(EffectImage)
	s.mustIgnore(s.foundBase())
}

// An image that is made anew for a server takes no image away from who works.
func TestEarlyWorkKeepsItsImage(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}})
	b := s.foundBase()
	b.MoreServices = true
	s.must(Company, b)
	s.plan(1)
	s.must(Company, s.image())
	s.must(Company, s.early(""))
	s.must(Company, Offer{Run: s.workRun(1, 1)})
	s.must(Company, AddNeeds{Task: s.id, NeedsAdded: NeedsAdded{Needs: Needs{Services: []string{"redis"}}, Check: "test"}})
	if got := s.task().WorkImage(); got != "img" {
		t.Fatalf("they work in %q", got)
	}
	s.requireDue(EffectImage)
}

// Where it shows that nothing looks at the work, workers go on, and nothing is merged without leave.
func TestEarlyWorkWaitsForLeave(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}, NoGates: "ask"})
	s.must(Company, s.foundBase(GateCommand{Name: "lint", Command: "eslint ."}))
	s.plan(1)
	s.must(Company, s.image())
	s.must(Company, s.early(""))
	s.must(Company, s.lintersAbsent())
	s.work(1)
	s.checkSubStatus(1, SubtaskInGate)
	s.requireDue()
	s.must(President, Answer{Approval: s.ask(AskNoGates).ID, Option: OptApprove})
	s.requireDue(EffectGate)
}

// A line that is written for a check that cannot start has the image made anew, also under workers
// that have begun, and the base stays.
func TestEarlyWorkGoesOnWhenALineIsWritten(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{}).plan(1)
	s.must(Company, s.image())
	s.must(Company, s.early(""))
	line := ConfigLine{Key: "container.setup", Value: `["true"]`, File: "/own.yaml", Text: `container.setup: ["true"]`}
	s.must(Company,
		ReportEffectFailure{Task: s.id, Key: "baseline",
			EffectFailed: EffectFailed{Code: EGates, Error: "it cannot start", Human: true, Line: &line}})
	s.must(President, Answer{Approval: s.ask(AskTrouble).ID, Option: OptWrite})
	if task := s.task(); task.WorkImage() != "img" || task.BaseMayHaveMoved {
		t.Fatalf("they work in %q", task.WorkImage())
	}
	s.requireDue(EffectImage)
	s.work(1)
	s.checkSubStatus(1, SubtaskInGate)
}
