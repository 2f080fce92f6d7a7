package company

import "time"

// slowCheck is how long one run of a check may take before a command that does less
// is proposed: it is run several times for each ticket.
const slowCheck = 2 * time.Minute

// SlowChecks are the checks of a verdict of which one run takes long.
func (r GateResult) SlowChecks() (out []GateCheck) {
	for _, c := range r.Checks {
		if c.IsSlow() {
			out = append(out, c)
		}
	}
	return out
}

// DescribeSlow says how long one run of a slow check takes, and what does less.
func (c GateCheck) DescribeSlow() string {
	text := c.Name + " takes " + c.RunTime().Round(time.Second).String() + " a run"
	if c.Narrower == "" {
		return text + "; a command that does less can be its gate: gates.test in company.yaml"
	}
	return text + "; this does less, as gates.test in company.yaml: " + c.Narrower
}

// IsSlow says whether one run of a check takes long.
func (c GateCheck) IsSlow() bool { return c.RunTime() > slowCheck }

// RunTime is how long one run of a check took, on the average of its attempts.
func (c GateCheck) RunTime() time.Duration { return c.Took / time.Duration(len(c.Attempts)+1) }

// Needs is what the containers of a verdict's checks were given beyond what
// everybody gets, in bytes; nothing of a verdict that is not there.
func (r *GateResult) Needs() (memory, disk int64) {
	if r != nil {
		for _, c := range r.Checks {
			memory, disk = max(memory, c.Memory), max(disk, c.Disk)
		}
	}
	return memory, disk
}
