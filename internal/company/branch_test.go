package company_test

import (
	"strconv"
	"strings"
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// What people do to the branch of an open pull request is told once, also that
// it was undone, and whatever else goes on.
func TestBranchChangeIsReported(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	head := w.s.Tasks["t1"].PR.Head
	as := BranchChange{Kind: BranchAsDelivered, Delivered: head, Now: head}
	ahead := BranchChange{Kind: BranchAhead, Delivered: head, Now: w.oid(), Commits: 2, By: []string{"ann"}, People: 1}
	gone := BranchChange{Kind: BranchGone, Delivered: head}
	n := 0
	sees := func(what string, b BranchChange, events int, rs ...FeedbackItem) {
		t.Helper()
		n++
		evs, err := w.doID("b"+strconv.Itoa(n), Company,
			RecordPRFeedback{Task: "t1", Branch: &b, Items: rs, Settings: w.s.Tasks["t1"].Settings})
		if err != nil || len(evs) != events {
			t.Fatalf("%s: %d events, %v", what, len(evs), err)
		}
		known := w.s.Tasks["t1"].BranchChange
		if b.Kind == BranchAsDelivered && known != nil || b.Kind != BranchAsDelivered && (known == nil || !known.Equal(b)) {
			t.Errorf("%s: known is %v", what, known)
		}
		if !w.s.Pulls()[0].Knows(b) {
			t.Errorf("%s: not known", what)
		}
	}
	sees("as delivered", as, 0)
	sees("commits on top", ahead, 1)
	sees("the same", ahead, 0)
	sees("deleted", gone, 1)
	sees("put back", as, 1)
	sees("put back, again", as, 0)

	w.must(President, Stop{})
	sees("while the office is stopped", gone, 1)
	w.must(President, Resume{})
	sees("with a remark", as, 3, FeedbackItem{ID: "c1", Kind: FeedbackComment, Text: "x"})
	sees("during the follow-up", ahead, 1, FeedbackItem{ID: "c2", Kind: FeedbackComment, Text: "y"})

	// A follow-up that is delivered starts again; what was seen before it is over.
	w.goWell()
	w.settle()
	last := w.s.Tasks["t2"].PR.Head
	if b := w.s.Tasks["t1"].BranchChange; b != nil || last == head {
		t.Fatalf("after the follow-up: %v", b)
	}
	if evs, err := w.doID("old", Company, RecordPRFeedback{Task: "t1", Branch: &ahead}); err != nil || len(evs) != 0 {
		t.Errorf("a look that is older than the delivery: %d events, %v", len(evs), err)
	}
	gone.Delivered = last
	sees("the follow-up's is deleted", gone, 1)
	w.must(President, SettlePR{Task: "t1", State: PRClosed})
	if b := w.s.Tasks["t1"].BranchChange; b != nil {
		t.Errorf("after it was closed: %v", b)
	}
	if _, err := historytest.Replay(w.log); err != nil {
		t.Error(err)
	}
}

// A pull request that has had all its follow-ups still tells of its branch.
func TestBranchOfAPullRequestThatIsFull(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	for i := range MaxFollowUps {
		if _, err := w.receiveFeedback("h"+strconv.Itoa(i), FeedbackItem{ID: "c" + strconv.Itoa(i), Text: "x"}); err != nil {
			t.Fatal(err)
		}
		w.goWell()
		w.settle()
	}
	c := RecordPRFeedback{Task: "t1", Branch: &BranchChange{Kind: BranchGone, Delivered: w.s.Pulls()[0].Head},
		Items: []FeedbackItem{{ID: "one more", Text: "x"}}}
	if evs, err := w.doID("b1", Company, c); err != nil || len(evs) != 1 {
		t.Errorf("%d events, %v", len(evs), err)
	}
	if _, err := w.doID("b2", Company, c); CodeOf(err) != EConflict {
		t.Errorf("again: %v", err)
	}
}

// The push of a follow-up that was not told yet is not a person's.
func TestBranchThatAFollowUpPushed(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	head := w.s.Tasks["t1"].PR.Head
	w.must(President,
		Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"}, Settings: w.s.Tasks["t1"].Settings, Follows: "t1"})
	for w.s.Tasks["t2"].Delivery == nil && w.s.Seq < 5000 {
		w.step()
	}
	pushed := w.s.Tasks["t2"].Delivery.Head
	own := BranchChange{Kind: BranchAhead, Delivered: head, Now: pushed, Commits: 1, By: []string{"company"}, People: 1}
	if evs, err := w.doID("b1", Company, RecordPRFeedback{Task: "t1", Branch: &own}); err != nil || len(evs) != 0 {
		t.Errorf("%d events, %v", len(evs), err)
	}
	theirs := own
	theirs.Now = w.oid()
	if evs, err := w.doID("b2", Company, RecordPRFeedback{Task: "t1", Branch: &theirs}); err != nil || len(evs) != 1 {
		t.Errorf("one on top of it: %d events, %v", len(evs), err)
	}
}

// Whoever commits chooses their name: it is made harmless, and few are told.
func TestBranchChangeListsAuthors(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	b := BranchChange{Kind: BranchAhead, Delivered: w.s.Tasks["t1"].PR.Head, Now: w.oid(), Commits: 1000, People: 900,
		By: []string{"a\x1b[2J\nb\u202e", strings.Repeat("ü", 500), "c", "d", "e", "f"}}
	if evs, err := w.doID("b1", Company, RecordPRFeedback{Task: "t1", Branch: &b}); err != nil || len(evs) != 1 {
		t.Fatalf("%d events, %v", len(evs), err)
	}
	got := w.s.Tasks["t1"].BranchChange
	if len(got.By) != MaxBranchNames || got.By[0] != `a\x1b[2J b\u202e` || len(got.By[1]) > MaxBranchName ||
		got.Commits != MaxBranchCommits {
		t.Errorf("%+v", got)
	}
	if evs, err := w.doID("b2", Company, RecordPRFeedback{Task: "t1", Branch: &b}); err != nil || len(evs) != 0 {
		t.Errorf("the same names: %d events, %v", len(evs), err)
	}
}

func TestBranchChangeInWords(t *testing.T) {
	t.Parallel()
	was, now := OID(strings.Repeat("a", 40)), OID(strings.Repeat("b", 40))
	for want, b := range map[string]BranchChange{
		"has 1 commit on top of aaaaaaa by ann": {Kind: BranchAhead,
			Delivered: was, Now: now, Commits: 1, By: []string{"ann"}, People: 1},
		"has 100 or more commits on top of aaaaaaa by ann, bob and 2 more": {Kind: BranchAhead,
			Delivered: was, Now: now, Commits: 100, By: []string{"ann", "bob"}, People: 4},
		"was rewritten to bbbbbbb: it lacks what was delivered as aaaaaaa": {Kind: BranchRewritten, Delivered: was, Now: now},
		"is not at the remote; it was delivered as aaaaaaa": {Kind: BranchGone,
			Delivered: was},
		"is as it was delivered, at aaaaaaa": {Kind: BranchAsDelivered, Delivered: was, Now: was},
		"was rewritten to bbbbbbb: it lacks what was delivered as aaaaaaa, and holds 2 commits by ann": {
			Kind: BranchRewritten, Delivered: was, Now: now, Commits: 2, By: []string{"ann"}, People: 1},
	} {
		if got := b.String(); got != want || b.Check() != nil {
			t.Errorf("%q (%v), want %q", got, b.Check(), want)
		}
	}
	for _, b := range []BranchChange{
		{}, {Kind: BranchGone, Delivered: was, Now: now}, {Kind: BranchAhead, Delivered: was, Now: now},
		{Kind: BranchAhead, Delivered: was, Now: was, Commits: 1},
		{Kind: BranchRewritten, Delivered: was}, {Kind: BranchAsDelivered, Delivered: was, Now: now},
		{Kind: BranchGone, Delivered: "main"},
		{Kind: BranchRewritten, Delivered: was, Now: now, By: []string{"ann"}},
		{Kind: "hijacked", Delivered: was, Now: now, Commits: 1},
	} {
		if b.Check() == nil {
			t.Errorf("%+v is taken", b)
		}
	}
}

// The history checker sees a fault that no state shows: a branch's change
// without cause.
func TestCheckerOfBranches(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	head := w.s.Tasks["t1"].PR.Head
	gone := BranchChange{Kind: BranchGone, Delivered: head}
	w.must(Company, RecordPRFeedback{Task: "t1", Branch: &gone})
	good := w.log
	if _, err := historytest.Replay(good); err != nil {
		t.Fatal(err)
	}
	with := func(d Data) []Event {
		m := Meta{Now: w.now}
		e := m.NewEvent("t1", "", "", d)
		e.Seq = good[len(good)-1].Seq + 1
		return append(good[:len(good):len(good)], e)
	}
	hidden := BranchChange{Kind: BranchAhead, Delivered: head, Now: w.oid(), Commits: 1, By: []string{"a\x1b"}, People: 1}
	other := BranchChange{Kind: BranchGone, Delivered: w.oid()}
	for name, b := range map[string]BranchChange{"told twice": gone, "names that steer a terminal": hidden,
		"of another delivery": other} {
		if _, err := historytest.Replay(with(&BranchChangeSeen{b})); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := historytest.Replay(
		with(&BranchChangeSeen{BranchChange{Kind: BranchAsDelivered, Delivered: head, Now: head}})); err != nil {
		t.Error(err)
	}
}

// A change of a branch that differs in anything is another one, and is told.
func TestBranchChangesDiffer(t *testing.T) {
	t.Parallel()
	one := BranchChange{Kind: "ahead", Delivered: "a", Now: "b", Commits: 1, By: []string{"x"}, People: 1}
	if !one.Equal(one) {
		t.Error("it differs from itself")
	}
	for name, change := range map[string]func(*BranchChange){
		"kind": func(b *BranchChange) { b.Kind = "other" }, "delivered": func(b *BranchChange) { b.Delivered = "c" },
		"now": func(b *BranchChange) { b.Now = "c" }, "commits": func(b *BranchChange) { b.Commits = 2 },
		"by": func(b *BranchChange) { b.By = []string{"y"} }, "people": func(b *BranchChange) { b.People = 2 },
	} {
		other := one
		change(&other)
		if one.Equal(other) || other.Equal(one) {
			t.Errorf("another %s, and they are equal", name)
		}
	}
}
