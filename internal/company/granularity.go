package company

import (
	"fmt"
	"slices"
)

// Granularity is how large and how small the subtasks of a plan may be (SUB-13). A zero field
// stands for the default.
type Granularity struct {
	MaxSubtasks int    `json:"max_subtasks,omitempty"`  // of one plan, and of a task whose tickets are planned anew
	MaxWriteSet int    `json:"max_write_set,omitempty"` // paths and globs of one subtask
	MaxEffort   string `json:"max_effort,omitempty"`    // small | medium | large: the largest that one subtask may have
	AllowTiny   bool   `json:"allow_tiny,omitempty"`    // a plan may split into parts that are all tiny
}

// efforts are the estimates of a manager, the smallest first.
var efforts = []string{EffortSmall, EffortMedium, EffortLarge}

// withDefaults fills in the fields that are zero. A limit above that of the program counts as
// the program's.
func (g Granularity) withDefaults() Granularity {
	bound := func(n *int, most int) {
		if *n <= 0 || *n > most {
			*n = most
		}
	}
	bound(&g.MaxSubtasks, defaultMaxSubtasks)
	bound(&g.MaxWriteSet, maxListed)
	if g.MaxEffort == "" {
		g.MaxEffort = EffortLarge
	}
	return g
}

// Describe lists the limits that are tighter than the program's own, a sentence each, for a
// manager; none: the defaults.
func (g Granularity) Describe() []string {
	g = g.withDefaults()
	var out []string
	if g.MaxSubtasks < defaultMaxSubtasks {
		out = append(out, Count(g.MaxSubtasks, "subtask")+" at most")
	}
	if g.MaxWriteSet < maxListed {
		out = append(out, fmt.Sprintf("at most %d paths or globs in the write set of each subtask", g.MaxWriteSet))
	}
	if g.MaxEffort != EffortLarge {
		out = append(out, "no subtask of an effort above "+g.MaxEffort)
	}
	return out
}

// isLarger reports whether an effort is above the largest that is allowed. An effort that is
// not known is another fault.
func (g Granularity) isLarger(effort string) bool {
	return slices.Index(efforts, effort) > slices.Index(efforts, g.MaxEffort)
}

// checkGranularity looks for a subtask that is too large. A manager splits it; where it cannot
// be split the plan stays refused, and the task fails for that reason.
func (c *planCheck) checkGranularity(at string, s PlannedSubtask) {
	const split = "split it into subtasks that are smaller, each with an own write set or after another; where it cannot be split, ask the president"
	g := c.rules.Granularity
	if g.isLarger(s.Effort) {
		c.add(at, fmt.Sprintf("is too large: its effort is %s, and plan.max_effort is %s", s.Effort, g.MaxEffort), split)
	}
	if n := len(s.WriteSet); n > g.MaxWriteSet && n <= maxListed {
		c.add(at, fmt.Sprintf("is too large: its write set has %d paths or globs, and plan.max_write_set is %d", n, g.MaxWriteSet), split)
	}
}

// checkCount looks for more subtasks than a task may have. The problem begins with what.
func (c *planCheck) checkCount(n int, what, fix string) {
	if most := c.rules.Granularity.MaxSubtasks; n > most {
		because := ""
		if most < defaultMaxSubtasks {
			because = " by plan.max_subtasks"
		}
		c.add("plan", fmt.Sprintf("%s, %d are allowed%s", what, most, because), fix)
	}
}
