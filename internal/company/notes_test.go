package company

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The notes of a run reach later runs of its task: bounded, the newest run first, each text once.
func TestNotes(t *testing.T) {
	t.Parallel()
	many := []string{" ", "a \n b", "a b", strings.Repeat("long ", 300)}
	for i := range 12 {
		many = append(many, fmt.Sprint("note ", i))
	}
	bounded := boundNotes(many)
	if len(bounded) != maxNotes || bounded[0] != "note 2" || bounded[9] != "note 11" {
		t.Errorf("%q", bounded)
	}
	if got := boundNotes(many[:4]); len(got) != 2 || got[0] != "a b" || len(got[1]) > maxNote ||
		!strings.HasSuffix(got[1], "…") {
		t.Errorf("%q", got)
	}
	at := time.Unix(1000, 0)
	task := &Task{Runs: map[RunID]*Run{
		"t1-01.1": {ID: "t1-01.1", Ended: true, EndedAt: at, Notes: []string{"old", "twice"}},
		"t1-02.1": {ID: "t1-02.1", Ended: true, EndedAt: at.Add(time.Minute), Notes: []string{"new", "twice"}},
		"t1-03.1": {ID: "t1-03.1", Notes: []string{"of a run that goes on"}},
	}}
	if got, want := task.Notes(), []Note{{"t1-02.1", "new"}, {"t1-02.1", "twice"}, {"t1-01.1", "old"}}; !slices.Equal(
		got, want) {
		t.Errorf("%v", got)
	}
}
