package history

import (
	"fmt"

	"company/internal/company"
)

// observeSpending: money goes to runs that are held, spent and reserved amounts
// fit under the cap at every event, and the state's books are these.
func (t *observedTask) observeSpending(d company.Data, e company.Event, at *company.Task) error {
	r := t.runs[e.Run]
	switch d := d.(type) {
	case *company.BudgetReserved:
		if !r.isHeld() {
			return fmt.Errorf("money for %s, which nobody holds", e.Run)
		}
		r.reserved = r.reserved.Add(d.Amount)
	case *company.BudgetWaiting:
		r.reserved = r.reserved.Sub(d.Back)
	case *company.BudgetRaised:
		t.cap = t.cap.Raise(d.By)
	}
	used := t.spent
	for _, r := range t.runs {
		used = used.Add(r.reserved)
	}
	switch {
	case at.Cap != t.cap:
		return fmt.Errorf("the cap of %s is %s, its books say %s", e.Task, t.cap, at.Cap)
	case at.Spent.Add(at.Reserved()) != used:
		return fmt.Errorf("%s has used %s, its books say %s", e.Task, used, at.Spent.Add(at.Reserved()))
	case !t.overdrawn && !used.Within(t.cap):
		return fmt.Errorf("%s has used %s of %s", e.Task, used, t.cap)
	}
	return nil
}
