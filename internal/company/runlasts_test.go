package company_test

import (
	"testing"
	"time"

	. "company/internal/company"
)

// A run lasts as long as its holders had it, together: not the times between them, in which a company was away.
func TestRunLastsForAllItsHolders(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	check := func(when string, want time.Duration) {
		t.Helper()
		if got := l.task().Runs["t1-01.1"].Lasted(l.now).Round(time.Second); got != want {
			t.Errorf("%s it lasted %s, want %s", when, got, want)
		}
	}
	restart := func(worked time.Time) {
		t.Helper()
		l.must(Company, StartOffice{Office: l.s.Office.ID, LastWorked: worked})
	}
	run := l.work()
	takeUp := func() {
		t.Helper()
		l.must(Company, Offer{Run: run})
		l.fence = l.s.Seq + 1
		l.must("w1", l.claimOf(run, "w1"))
	}
	l.now = l.now.Add(20 * time.Second)
	check("held", 20*time.Second)
	l.must(string(run), Release{Run: run, Fence: l.fence, Why: "the office is stopping"})
	l.now = l.now.Add(time.Hour)
	check("let go", 20*time.Second)

	restart(l.s.Time)
	takeUp()
	died := l.now.Add(30 * time.Second)
	l.now = l.now.Add(time.Hour)
	restart(died)
	check("its holder died", 50*time.Second)
	takeUp()
	l.now = l.now.Add(5 * time.Second)
	check("held again", 55*time.Second)
	l.success(run)
	l.now = l.now.Add(time.Hour)
	check("ended", 55*time.Second)
}

// A run that is settled while nobody holds it lasted for as long as somebody did.
func TestRunSettledByNobodyLasts(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	run := l.work()
	l.now = l.now.Add(20 * time.Second)
	l.must(string(run), Release{Run: run, Fence: l.fence, Why: "the office is stopping"})
	l.now = l.now.Add(time.Hour)
	l.must(President, Cancel{Task: lineTask})
	l.must(Company, SettleRun{Run: run, Outcome: RunEnded{Spent: Amount{}}})
	if got := l.task().Runs[run].Lasted(l.now).Round(time.Second); got != 20*time.Second {
		t.Errorf("it lasted %s", got)
	}
}
