package gates

import (
	"time"

	"company/internal/company"
)

// What tests of a real repository look at.
var CanaryPlaces = canaryPlaces

const MaxCanaries = maxCanaries

// TimeLimit is how long one run of a check may take, given the base's.
func TimeLimit(r *Runner, base *company.GateCheck) time.Duration { return r.timeLimit(base) }
