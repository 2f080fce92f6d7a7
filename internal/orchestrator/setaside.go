package orchestrator

import (
	"fmt"
	"time"

	"company/internal/company"
	"company/internal/marks"
)

// trialTime is how long an effect that was under way when an earlier process died is tried before another
// one is tried beside it.
const trialTime = 5 * time.Minute

// trialEnd is when another effect of those may be tried, by the office's clock. It is zero where none is under way.
func (o *Orchestrator) trialEnd() (end time.Time) {
	for _, j := range o.jobs {
		if j.suspect && j.began.Add(trialTime).After(end) {
			end = j.began.Add(trialTime)
		}
	}
	return end
}

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
				Fix("yes tries once more, as after an update of company or with more memory; no gives the task up. The log of the office says how company died").
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
