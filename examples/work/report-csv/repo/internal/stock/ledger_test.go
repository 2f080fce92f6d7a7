package stock

import (
	"errors"
	"strings"
	"testing"
)

func TestOnHandIsTheSumOfMovements(t *testing.T) {
	l, err := Open(strings.NewReader("in bolt-8 100 first\nout bolt-8 30\nin nut-8 5\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.OnHand("bolt-8"); got != 70 {
		t.Errorf("OnHand = %d, want 70", got)
	}
	if err := l.Ship("bolt-8", 71, ""); err == nil {
		t.Error("71 of 70 were shipped")
	}
	if err := l.Ship("bolt-8", 70, ""); err != nil {
		t.Error(err)
	}
	if got := l.OnHand("bolt-8"); got != 0 {
		t.Errorf("OnHand = %d, want 0", got)
	}
}

func TestJournalHoldsWhatHappened(t *testing.T) {
	var journal strings.Builder
	l, err := Open(strings.NewReader(""), &journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Receive("nut-8", 12, "monday"), l.Ship("nut-8", 2, "")); err != nil {
		t.Fatal(err)
	}
	again, err := Open(strings.NewReader(journal.String()), nil)
	if err != nil {
		t.Fatalf("replay of %q: %v", journal.String(), err)
	}
	if got := again.OnHand("nut-8"); got != 10 {
		t.Errorf("OnHand after a replay = %d, want 10", got)
	}
}

// full is a disk with no space left.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWhatIsNotWrittenDoesNotCount(t *testing.T) {
	l, err := Open(strings.NewReader(""), full{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Receive("nut-8", 12, ""); err == nil {
		t.Error("a movement that could not be written was accepted")
	}
	if got := l.OnHand("nut-8"); got != 0 {
		t.Errorf("OnHand = %d, want 0", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, line := range []string{"in", "lost nut-8 3", "in nut-8 0", "out nut-8 -4", "in nut-8 many"} {
		if _, err := Open(strings.NewReader(line), nil); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("Open(%q): %v, want an error that names the line", line, err)
		}
	}
}
