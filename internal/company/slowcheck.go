package company

import "time"

// slowCheck limits the time of one run of a check. Above it, a narrower command is proposed, since the check runs
// several times for each ticket.
const slowCheck = 2 * time.Minute

// SlowChecks returns the slow checks of a verdict.
func (r GateResult) SlowChecks() (out []GateCheck) {
	for _, gateCheck := range r.Checks {
		if gateCheck.IsSlow() {
			out = append(out, gateCheck)
		}
	}
	return out
}

// DescribeSlow returns how long one run of a slow check takes, and a narrower command.
func (c GateCheck) DescribeSlow() string {
	text := c.Name + " takes " + c.RunTime().Round(time.Second).String() + " a run"
	if c.Narrower == "" {
		return text + "; a command that does less can be its gate: gates.test in company.yaml"
	}
	return text + "; this does less, as gates.test in company.yaml: " + c.Narrower
}

// IsSlow reports whether one run of a check takes long.
func (c GateCheck) IsSlow() bool { return c.RunTime() > slowCheck }

// RunTime returns the average time of one run of a check.
func (c GateCheck) RunTime() time.Duration { return c.Took / time.Duration(len(c.Attempts)+1) }

// Needs returns the largest memory and disk space, in bytes, that a check of the verdict had beyond the default. It
// returns zeros for a nil verdict.
func (r *GateResult) Needs() (memory, disk int64) {
	if r != nil {
		for _, c := range r.Checks {
			memory, disk = max(memory, c.Memory), max(disk, c.Disk)
		}
	}
	return memory, disk
}
