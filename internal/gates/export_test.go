package gates

import (
	"fmt"
	"time"

	"company/internal/company"
)

// ErrNotBegun: the container was not ready before the time was over.
var ErrNotBegun = errNotBegun

// What tests of a real repository look at.
var CanaryPlaces = canaryPlaces

const MaxCanaries = maxCanaries

// FewerEnd and ControlEnd end the names of the containers of the first run without some test files and of its control.
var FewerEnd, ControlEnd = fmt.Sprint("-", fewerAttempt), fmt.Sprint("-", controlAttempt)

// TimeLimit is how long one run of a check may take, given the base's.
func TimeLimit(r *Runner, g company.GateCommand, base *company.GateCheck) time.Duration {
	return r.timeLimit(g, base)
}

// RedGreenLimit is how long one run without the change may take, given the check with it
// and that of the base.
func RedGreenLimit(r *Runner, c, base company.GateCheck) time.Duration {
	return r.withShortTimeout(c, base).Timeout
}

// RunReport has the first check of a job run a command.
func RunReport(j Job, command string) bool { return j.runReport(0, command) }

// TakesFirstStep says whether the first check of a job is run in two steps.
func TakesFirstStep(r *Runner, j Job) bool {
	_, ok := r.takesFirstStep(j, 0)
	return ok
}
