package company_test

import (
	"testing"

	. "company/internal/company"
)

// A copy has the original's ledger. It keeps what has ended, and lets go of
// what the original works on or waits for: of two offices one does it.
func TestACopyLetsGoOfWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	w := delivered(t) // t1 waits at the forge
	w.must(President,
		Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"},
			Settings: Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}}})
	if w.s.Tasks["t1"].PR.State != PROpen || len(w.s.Open) != 1 {
		t.Fatalf("%+v, open %v", w.s.Tasks["t1"].PR, w.s.Open)
	}
	was, epoch := w.s.Office.ID, w.s.Office.Epoch
	copied := AdoptCopy{Office: "copy", From: []string{was}}
	w.must(Company, copied)
	if w.s.Office.ID != "copy" || w.s.Office.Epoch != epoch || len(w.s.Open) != 0 || len(Due(w.s, w.now, 9)) != 0 {
		t.Errorf("%+v, open %v, due %v", w.s.Office, w.s.Open, Due(w.s, w.now, 9))
	}
	if t1 := w.s.Tasks["t1"]; t1.Status != StatusCompleted || t1.PR.State != PRClosed {
		t.Errorf("t1: %s, %s", t1.Status, t1.PR.State)
	}
	if t2 := w.s.Tasks["t2"]; t2.Status != StatusCancelled ||
		t2.Reason != "this office is a copy of "+was+", which goes on with it" {
		t.Errorf("t2: %s, %s", t2.Status, t2.Reason)
	}
	if again := w.must(Company, copied); len(again) != 0 {
		t.Errorf("taken a second time: %v", again)
	}
	// From here on it is an office as any other.
	w.must(Company, StartOffice{Office: "copy"})
	w.must(President,
		Submit{Instruction: "its own", Project: Project{ID: "p", Path: "/p"},
			Settings: Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}}})
	if len(Due(w.s, w.now, 9)) == 0 {
		t.Error("nothing is due in the copy")
	}
	// A copy of a copy that never said a word.
	w.must(Company, AdoptCopy{Office: "next", From: []string{"never", "copy"}})
	if w.s.Office.ID != "next" {
		t.Errorf("it is %s", w.s.Office.ID)
	}
}
