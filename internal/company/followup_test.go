package company_test

import (
	"strconv"
	"strings"
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// delivered is a world in which the pull request of t1 is open.
func delivered(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, knobs{Seed: 3, Tasks: 1, Active: 3, Gates: 2, Cap: 100_000})
	w.kind = true
	w.goWell()
	w.settle()
	if pr := w.s.Tasks["t1"].PR; pr == nil || pr.State != PROpen {
		t.Fatalf("no open pull request: %+v", pr)
	}
	return w
}

func (w *world) receiveFeedback(id string, rs ...FeedbackItem) ([]Event, error) {
	return w.doID(id, Company, RecordPRFeedback{Task: "t1", Items: rs, Settings: w.s.Tasks["t1"].Settings})
}

// Remarks become one follow-up on the same branch and the same pull request,
// each remark once.
func TestFeedbackBecomesFollowUp(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	first := *w.s.Tasks["t1"].PR
	rs := []FeedbackItem{
		{ID: "c1", Kind: FeedbackComment, Author: "ann", Path: "a.go", Line: 7, Text: "use a map\x1b[2J\nplease"},
		{ID: "k1", Kind: FeedbackCheck, Text: "build failed"},
		{ID: "", Kind: FeedbackCheck, Text: "of nobody"},
	}
	if _, err := w.receiveFeedback("h1", rs...); err != nil {
		t.Fatal(err)
	}
	f := w.s.Tasks["t2"]
	if f == nil || f.Follows != "t1" {
		t.Fatalf("no follow-up: %+v", f)
	}
	for _, want := range []string{"#1", "by ann, on a.go", "line 7", "> use a map[2J\n> please", "A check failed"} {
		if !strings.Contains(f.Instruction, want) {
			t.Errorf("the instruction lacks %q:\n%s", want, f.Instruction)
		}
	}
	if strings.ContainsAny(f.Instruction, "\x1b") || strings.Contains(f.Instruction, "of nobody") {
		t.Errorf("what must not be in it:\n%s", f.Instruction)
	}
	// Heard again, under any id, they start nothing.
	for _, id := range []string{"h1", "h2"} {
		if evs, err := w.receiveFeedback(id, rs...); err != nil || len(evs) != 0 {
			t.Fatalf("heard again: %d events, %v", len(evs), err)
		}
	}
	// What is said while the follow-up is under way waits for its end.
	if evs, err := w.receiveFeedback("h3", FeedbackItem{ID: "c2", Kind: FeedbackComment, Text: "and this"}); err != nil ||
		len(evs) != 0 {
		t.Fatalf("heard meanwhile: %d events, %v", len(evs), err)
	}
	w.goWell()
	w.settle()
	f = w.s.Tasks["t2"]
	if f.Status != StatusCompleted || f.PR.Number != first.Number || f.PR.Branch != first.Branch ||
		f.PR.Head == first.Head {
		t.Fatalf("%s, pull request %+v after %+v", f.Status, f.PR, first)
	}
	if lead := w.s.Tasks["t1"].Prepared; f.Prepared.GateTree() != lead.Base.OID || lead.GateTree() != lead.Base.OID ||
		f.Prepared.Base.OID == lead.Base.OID {
		t.Errorf("the gates are those of %s, the lead's base is %s", f.Prepared.GateTree(), lead.Base.OID)
	}
	pulls := w.s.Pulls()
	if len(pulls) != 1 || pulls[0].Head != f.PR.Head || pulls[0].Last().ID != "t2" || pulls[0].Lead.ID != "t1" {
		t.Fatalf("%+v", pulls)
	}
	if evs, err := w.receiveFeedback("h4", FeedbackItem{ID: "c2", Kind: FeedbackComment, Text: "and this"}); err != nil ||
		len(evs) != 2 {
		t.Fatalf("heard at last: %d events, %v", len(evs), err)
	}
	if err := historytest.CheckInvariants(w.s); err != nil {
		t.Fatal(err)
	}
}

// One follow-up works on a branch at a time; the next is prepared when it has
// ended.
func TestFollowUpsQueue(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	again := Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"}, Settings: w.s.Tasks["t1"].Settings,
		Follows: "t1"}
	w.must(President, again)
	again.Follows = "t2" // the same pull request
	w.must(President, again)
	for _, e := range w.due(10) {
		if e.Task == "t3" {
			t.Fatalf("%s is due", e.Key)
		}
	}
	w.must(President, Cancel{Task: "t2"})
	w.goWell()
	w.settle()
	if got := w.s.Tasks["t3"]; got.Status != StatusCompleted || got.PR.Number != 1 {
		t.Fatalf("%s %+v", got.Status, got.PR)
	}
}

// A settled pull request takes its follow-ups with it, and gets no more.
func TestSettledPullRequest(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	if _, err := w.receiveFeedback("h1", FeedbackItem{ID: "c1", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.doID("m1", Company, RecordPRFeedback{Task: "t2", State: PRMerged, Why: "merged by ann"}); err != nil {
		t.Fatal(err)
	}
	if got := w.s.Tasks["t2"]; got.Status != StatusCancelled || !strings.Contains(got.Reason, "merged") {
		t.Errorf("the follow-up is %s: %s", got.Status, got.Reason)
	}
	if evs, err := w.receiveFeedback("h2", FeedbackItem{ID: "c2", Text: "y"}); err != nil || len(evs) != 0 {
		t.Errorf("heard after the merge: %d events, %v", len(evs), err)
	}
	_, err := w.do(
		President,
		Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"}, Settings: w.s.Tasks["t1"].Settings, Follows: "t1"})
	if CodeOf(err) != EConflict {
		t.Errorf("a follow-up of a merged pull request: %v", err)
	}
}

// T22: a discussion starts a bounded number of follow-ups by itself.
func TestFeedbackIsBounded(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	for i := range MaxFollowUps {
		if _, err := w.receiveFeedback(
			"h"+strconv.Itoa(i), FeedbackItem{ID: "c" + strconv.Itoa(i), Text: strings.Repeat("long ", 100_000)}); err != nil {
			t.Fatal(err)
		}
		w.goWell()
		w.settle()
	}
	if n := len(w.s.Tasks["t2"].Instruction); n > MaxFeedbackItems*(MaxFeedbackBytes+500) {
		t.Errorf("an instruction of %d bytes", n)
	}
	if evs, err := w.receiveFeedback("last", FeedbackItem{ID: "one more", Text: "x"}); CodeOf(err) != EConflict ||
		len(evs) != 0 {
		t.Errorf("the sixth: %d events, %v", len(evs), err)
	}
}

// What a follow-up is prepared with is what it follows: branch and gates.
func TestFollowUpKeepsTheGates(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	w.must(President,
		Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"}, Settings: w.s.Tasks["t1"].Settings, Follows: "t1"})
	good := w.prepared(w.s.Tasks["t2"])
	for name, change := range map[string]func(*TaskPrepared){
		"other gates":    func(p *TaskPrepared) { p.GateHash = "weaker" },
		"another branch": func(p *TaskPrepared) { p.Integration = "develop-t2-k3fq" },
		"another base":   func(p *TaskPrepared) { p.Base.PRBranch = "release" },
	} {
		c := good
		change(&c.TaskPrepared)
		if _, err := w.do(Company, c); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	for name, c := range map[string]Submit{
		"another project": {Instruction: "x", Project: Project{ID: "q", Path: "/q"}, Settings: w.s.Tasks["t1"].Settings,
			Follows: "t1"},
		"another start": {Instruction: "x", Project: Project{ID: "p", Path: "/p"}, Settings: w.s.Tasks["t1"].Settings,
			Follows: "t1", Base: "main"},
		"no pull request": {Instruction: "x", Project: Project{ID: "p", Path: "/p"}, Settings: w.s.Tasks["t1"].Settings,
			Follows: "t9"},
	} {
		if _, err := w.do(President, c); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	if _, err := w.do(Company, good); err != nil {
		t.Error(err)
	}
}

// No line of a stranger's stands outside of the quotation.
func TestQuotedLines(t *testing.T) {
	t.Parallel()
	if got := QuoteWords("a\u2028b\u2029c\nd\u0085e\x1b\u202e"); got != "> a\n> b\n> c\n> de\n" {
		t.Errorf("%q", got)
	}
}

// Of a user's name on a forge only what can be in one is kept.
func TestNameOfAForgeUser(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"azAZ09-_.[]": "azAZ09-_.[]", "`{/@:^ a\nb\u202e": "ab", strings.Repeat("a", 61): strings.Repeat("a", 60),
	} {
		if got := OneWord(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// Whoever found a head in the base knows nothing of what a follow-up has delivered since: a pull
// request is not merged while a part of it is in no base. A forge's own word needs no head.
func TestMergeOfAnEarlierHead(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	first := w.s.Tasks["t1"].PR.Head
	w.must(President,
		Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"}, Settings: w.s.Tasks["t1"].Settings, Follows: "t1"})
	w.goWell()
	w.settle()
	last := w.s.Tasks["t2"].PR.Head
	if last == first {
		t.Fatal("the follow-up delivered nothing")
	}
	for id, c := range map[string]Command{
		"m1": SettlePR{Task: "t1", State: PRMerged, Head: first},
		"m2": RecordPRFeedback{Task: "t1", State: PRMerged, Head: first},
	} {
		if evs, err := w.doID(id, President, c); CodeOf(err) != EConflict || len(evs) != 0 {
			t.Errorf("%T: %d events, %v", c, len(evs), err)
		}
	}
	if got := w.s.Tasks["t1"].PR.State; got != PROpen {
		t.Fatalf("it is %s, and %s is merged nowhere", got, last)
	}
	w.must(President, SettlePR{Task: "t1", State: PRMerged, Head: last})
	if got := w.s.Tasks["t1"].PR.State; got != PRMerged {
		t.Errorf("it is %s", got)
	}
}
