package replay

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

// TestReplayOfATaskAfterAnother: what a task waited for before it began is not part of its replay, whose
// ledger does not have the other task.
func TestReplayOfATaskAfterAnother(t *testing.T) {
	k := openDeck(t, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	submit := company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}
	for _, after := range [][]company.TaskID{nil, {"t1"}} {
		submit.After = after
		if _, err := k.commit(company.President)(submit, time.Time{}); err != nil {
			t.Fatal(err)
		}
		clear(k.state.Commands) // the deck gives all commands one id
	}
	k.must(company.Cancel{Task: "t1"})
	k.must(company.OpenApproval{Question: company.PendingQuestion{Key: "after t2 t1", Task: "t2"}})
	k.must(company.Answer{Approval: "a1", Option: company.OptApprove})
	base := company.Base{Branch: "main", OID: company.OID(strings.Repeat("a", 40)), PRBranch: "main"}
	k.must(company.RecordBase{Task: "t2",
		TaskBased: company.TaskBased{Base: base, GateHash: "g", Integration: "develop-t2",
			Gates: []company.GateCommand{{Name: "test", Command: "true"}}}})
	k.must(company.Cancel{Task: "t2"})
	r, err := readFrom(t, k, "t2")
	if err != nil {
		t.Fatal(err)
	}
	again := openReplay(t, r)
	if task := again.View().Tasks["t2"]; task == nil || len(again.View().WaitsFor(task)) > 0 {
		t.Errorf("the task of the replay waits: %+v", task)
	}
	if len(r.steps) != 1 || r.steps[0].event.Kind != "task.based" {
		t.Errorf("the steps of the record: %+v", r.steps)
	}
}
