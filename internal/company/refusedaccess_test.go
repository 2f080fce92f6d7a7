package company_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	. "company/internal/company"
)

// What an agent was refused is kept with its run, in plain words and in bounds.
func TestRefusedAccesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, knobs{Seed: 3, Calm: 60, Tasks: 1, Active: 1, Gates: 1, Cap: 100_000})
	w.live()
	var run *Run
	for _, r := range w.s.Tasks["t1"].SortedRuns() {
		if r.Role == Worker && r.Fence > 0 {
			run = r
		}
	}
	if run == nil {
		t.Fatal("nobody works")
	}
	kept := func() []RefusedAccess { return w.s.Tasks["t1"].Runs[run.ID].RefusedAccesses }

	hostile := "GET \x1b[2J\r\n/etc\u202e\U000e0041\xff" + strings.Repeat("é", 400)
	first := RecordRefusedAccess{Run: run.ID, Kind: "path", What: hostile, Times: 1}
	w.must(Company, first)
	if got := kept(); len(got) != 1 || got[0].Times != 1 || got[0].Events != 1 {
		t.Fatalf("%+v", got)
	}
	what := kept()[0].What
	if len(what) > MaxRefusedText || strings.ContainsFunc(what, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("the text is not plain: %q", what)
	}
	if want := `GET \x1b[2J  /etc\u202e\U000e0041\xffé`; !strings.HasPrefix(what, want) {
		t.Errorf("%q does not begin with %q", what, want)
	}

	before := w.s.Seq
	for i := range 1000 {
		_, err := w.do(Company, RecordRefusedAccess{Run: run.ID, Kind: "path", What: fmt.Sprint("flood ", i), Times: 1000})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := w.s.Seq - before; n != MaxRefusedEvents-1 {
		t.Errorf("1000 reports are %d events", n)
	}
	if got := kept()[0]; !got.Full() || got.Times != 1+1000*(MaxRefusedEvents-1) || got.What != what {
		t.Errorf("%+v", got)
	}
	for i := range 3 * MaxRefusedKinds {
		if _, err := w.do(Company, RecordRefusedAccess{Run: run.ID, Kind: strings.Repeat("k", i+1), Times: 2}); err != nil &&
			i < 32 {
			t.Fatal(err)
		}
	}
	if n := len(kept()); n != MaxRefusedKinds {
		t.Errorf("%d kinds", n)
	}

	for _, bad := range []RecordRefusedAccess{
		{Run: run.ID, Kind: "push"}, {Run: run.ID, Kind: "push", Times: -1}, {Run: run.ID, Kind: "Push", Times: 1},
		{Run: run.ID, Times: 1}, {Run: run.ID, Kind: "push", Times: 1 << 60},
	} {
		if _, err := w.do(Company, bad); CodeOf(err) != EInvalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := w.do(Company, RecordRefusedAccess{Run: "t1-01.9", Kind: "push", Times: 1}); CodeOf(err) != ENotFound {
		t.Errorf("of a run that is not there: %v", err)
	}
	w.settle()
}

// A report may come after the stop that it has to do with, and after the end of
// its task.
func TestRefusedAccessesComeLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, knobs{Seed: 3, Calm: 60, Tasks: 1, Active: 1, Gates: 1, Cap: 100_000})
	w.live()
	runs := w.s.Tasks["t1"].SortedRuns()
	at := slices.IndexFunc(runs, func(r *Run) bool { return r.Fence > 0 })
	w.must(President, Stop{})
	w.must(Company, RecordRefusedAccess{Run: runs[at].ID, Kind: "push", What: "a big file", Times: 1})
	w.must(President, Cancel{Task: "t1"})
	w.must(Company, RecordRefusedAccess{Run: runs[at].ID, Kind: "push", What: "another", Times: 1})
	if got := w.s.Tasks["t1"].Runs[runs[at].ID].RefusedAccesses; len(got) != 1 || got[0].Times != 2 {
		t.Errorf("%+v", got)
	}
	w.settle()
}

// Nobody reaches for anything in a run that nobody has taken up.
func TestNothingIsRefusedBeforeTheClaim(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run := s.workRun(1, 1)
	s.must(Company, Offer{Run: run})
	note := RecordRefusedAccess{Run: run, Kind: "path", What: "/etc", Times: 1}
	s.mustRefuse(EConflict, note)
	s.claim(run)
	s.must(Company, note)
}
