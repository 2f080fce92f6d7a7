package company_test

import (
	"testing"
	"time"

	. "company/internal/company"
)

// A plan gains where its tickets are large beside what each costs besides, and where they do not wait for
// each other.
func TestGainOfPlans(t *testing.T) {
	t.Parallel()
	of := func(effort, name string, after ...string) PlannedSubtask {
		s := part(name, after...)
		s.Effort = effort
		return s
	}
	for name, c := range map[string]struct {
		plan         Plan
		checks       time.Duration
		alone, split time.Duration
	}{
		"three small": {flat(of(EffortSmall, "a"), of(EffortSmall, "b"), of(EffortSmall, "c")), 0,
			4*time.Minute + 30*time.Second, 4 * time.Minute},
		"three medium": {flat(of(EffortMedium, "a"), of(EffortMedium, "b"), of(EffortMedium, "c")), time.Minute,
			17 * time.Minute, 9 * time.Minute},
		"three, long checks": {flat(of(EffortMedium, "a"), of(EffortMedium, "b"), of(EffortMedium, "c")), 10 * time.Minute,
			26 * time.Minute, 27 * time.Minute},
		"one behind another": {flat(of(EffortMedium, "a"), of(EffortMedium, "b", "a")), time.Minute, 12 * time.Minute,
			16 * time.Minute},
		"a wave behind waves": {Plan{Waves: []Wave{{[]PlannedSubtask{of(EffortLarge, "a"), of(EffortSmall, "b")}},
			{[]PlannedSubtask{of(EffortSmall, "c")}}}}, time.Minute, 19 * time.Minute, 22 * time.Minute},
	} {
		if g := c.plan.EstimateGain(c.checks); g.Alone != c.alone || g.Split != c.split {
			t.Errorf("%s: %s alone and %s split, want %s and %s", name, g.Alone, g.Split, c.alone, c.split)
		}
	}
}
