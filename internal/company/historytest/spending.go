package historytest

import (
	"fmt"

	"company/internal/company"
)

// observeSpending checks that only held runs get money. Spent and reserved amounts must stay under the cap at every
// event, and the state's amounts must equal the checker's.
func (t *observedTask) observeSpending(data company.Data, event company.Event, task *company.Task) error {
	observedRun := t.runs[event.Run]
	switch d := data.(type) {
	case *company.BudgetReserved:
		if !observedRun.isHeld() {
			return fmt.Errorf("money for %s, which nobody holds", event.Run)
		}
		observedRun.reserved = observedRun.reserved.Add(d.Amount)
	case *company.BudgetWaiting:
		observedRun.reserved = observedRun.reserved.Sub(d.Back)
	case *company.BudgetRaised:
		t.cap = t.cap.Raise(d.By)
	}
	used := t.spent
	for _, r := range t.runs {
		used = used.Add(r.reserved)
	}
	switch {
	case task.Cap != t.cap:
		return fmt.Errorf("the cap of %s is %s, its books say %s", event.Task, t.cap, task.Cap)
	case task.Spent.Add(task.Reserved()) != used:
		return fmt.Errorf("%s has used %s, its books say %s", event.Task, used, task.Spent.Add(task.Reserved()))
	case !t.overdrawn && !used.Within(t.cap):
		return fmt.Errorf("%s has used %s of %s", event.Task, used, t.cap)
	}
	return nil
}
