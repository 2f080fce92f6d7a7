package orchestrator

import (
	"fmt"

	"company/internal/company"
	"company/internal/marks"
)

// checkEventSetAside refuses to read an event at which the company died again and again: a state without it
// would be another one. An event that the ledger does not have any more, after a repair, is none.
func (o *Orchestrator) checkEventSetAside() error {
	for _, d := range o.cfg.Marks.SetAside(marks.Ledger) {
		if d.Doing == marks.Event && d.N > int(o.ahead.Seq) && d.N <= int(o.cfg.Ledger.Head().Seq) { //nolint:gosec // sequences of events
			return company.E(company.ECrash, "the ledger is not read any more").
				Because(fmt.Sprintf("company died %s in a row while %s", company.Count(d.Count, "time"), d.Place))
		}
	}
	return nil
}

// checkEffectSetAside refuses an effect in which the company died again and again, so that the president
// is asked. One that is due again after that has the answer: it gets one more attempt. A
// run that has a record of its own at which the company died asks for itself.
func (o *Orchestrator) checkEffectSetAside(e company.Effect) error {
	for _, d := range o.cfg.Marks.SetAside(e.Key) {
		switch {
		case e.Run != "" && len(o.cfg.Marks.SetAside(string(e.Run))) > 0:
			o.cfg.Marks.Forget(e.Key)
			return nil
		case !d.Shown:
			return company.E(company.ECrash, e.Key+" is set aside").
				Because(fmt.Sprintf("company died %s in a row while %s", company.Count(d.Count, "time"), d.Place)).
				Fix("yes tries once more, as after an update of company; no gives the task up. The log of the office has the stack").
				NeedsPerson()
		}
	}
	o.cfg.Marks.Retry(e.Key)
	return nil
}

// noteShown notes that the ledger has what checkEffectSetAside refused: the president is asked.
func (o *Orchestrator) noteShown(e company.Effect) {
	for _, d := range o.cfg.Marks.SetAside(e.Key) {
		o.cfg.Marks.Show(d.Place)
	}
}
