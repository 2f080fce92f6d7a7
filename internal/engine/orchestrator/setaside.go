package orchestrator

import (
	"fmt"
	"time"

	"company/internal/company"
	"company/internal/ledger/marks"
)

// trialTime is how long a suspect effect is tried before the next one starts. A suspect effect was running when an
// earlier process died.
const trialTime = 5 * time.Minute

// trialEnd returns when the next suspect effect may be tried, by the office's clock. It is zero if none is running.
func (o *Orchestrator) trialEnd() (end time.Time) {
	for _, job := range o.jobs {
		if job.suspect && job.began.Add(trialTime).After(end) {
			end = job.began.Add(trialTime)
		}
	}
	return end
}

// checkEventSetAside returns an error if the company repeatedly died at an event that is still to be read, because a
// state without this event would be wrong. Events that a repair has removed from the ledger are ignored.
func (o *Orchestrator) checkEventSetAside() error {
	for _, death := range o.cfg.Marks.SetAside(marks.Ledger) {
		if death.Doing == marks.Event && death.N > int(o.ahead.Seq) &&
			death.N <= int(o.cfg.Ledger.Head().Seq) { // sequences of events
			return company.E(company.ECrash, "the ledger is not read any more").
				Because(fmt.Sprintf("company died %s in a row while %s", company.Count(death.Count, "time"), death.Place))
		}
	}
	return nil
}

// checkEffectSetAside returns an error for an effect in which the company repeatedly died, so that the president is
// asked. If it is due again afterwards, the president has answered, and it gets one more attempt. If the run has its
// own record at which the company died, the run itself asks.
func (o *Orchestrator) checkEffectSetAside(effect company.Effect) error {
	for _, death := range o.cfg.Marks.SetAside(effect.Key) {
		switch {
		case effect.Run != "" && len(o.cfg.Marks.SetAside(string(effect.Run))) > 0:
			o.cfg.Marks.Forget(effect.Key)
			return nil
		case !death.Shown:
			return company.E(company.ECrash, effect.Key+" is set aside").
				Because(fmt.Sprintf("company died %s in a row while %s", company.Count(death.Count, "time"), death.Place)).
				Fix("yes tries once more, as after an update of company or with more memory; no gives the task up. The log of " +
					"the office says how company died").
				NeedsPerson()
		}
	}
	o.cfg.Marks.Retry(effect.Key)
	return nil
}

// noteShown records that the refusal of checkEffectSetAside is in the ledger and the president is asked.
func (o *Orchestrator) noteShown(e company.Effect) {
	for _, d := range o.cfg.Marks.SetAside(e.Key) {
		o.cfg.Marks.Show(d.Place)
	}
}
