package company

import (
	"fmt"
	"slices"
)

// Granularity limits the size of a plan's subtasks and of its split (SUB-13). A zero field means the default.
type Granularity struct {
	MaxSubtasks int    `json:"max_subtasks,omitempty"`  // of one plan, and of a task whose tickets are replanned
	MaxWriteSet int    `json:"max_write_set,omitempty"` // paths and globs of one subtask
	MaxEffort   string `json:"max_effort,omitempty"`    // small | medium | large: the largest effort of one subtask
	AllowTiny   bool   `json:"allow_tiny,omitempty"`    // a plan may split into parts that are all tiny
}

// efforts lists the possible estimates, the smallest first.
var efforts = []string{EffortSmall, EffortMedium, EffortLarge}

// withDefaults replaces zero fields with their defaults. A limit above the program's own is reduced to it.
func (g Granularity) withDefaults() Granularity {
	bound := func(n *int, limit int) {
		if *n <= 0 || *n > limit {
			*n = limit
		}
	}
	bound(&g.MaxSubtasks, defaultMaxSubtasks)
	bound(&g.MaxWriteSet, maxListed)
	if g.MaxEffort == "" {
		g.MaxEffort = EffortLarge
	}
	return g
}

// Describe returns a sentence for a manager about each limit that is tighter than the program's own. It returns nil for
// the defaults.
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

// isLarger reports whether an effort is above the allowed maximum. An unknown effort is reported elsewhere.
func (g Granularity) isLarger(effort string) bool {
	return slices.Index(efforts, effort) > slices.Index(efforts, g.MaxEffort)
}

// checkGranularity reports a subtask that is too large. The manager should split it. If it cannot be split, the plan
// stays refused and the task fails for that reason.
func (c *planCheck) checkGranularity(at string, subtask PlannedSubtask) {
	const split = "split it into subtasks that are smaller, each with an own write set or after another; where it " +
		"cannot be split, ask the president"
	granularity := c.rules.Granularity
	if granularity.isLarger(subtask.Effort) {
		c.add(at,
			fmt.Sprintf("is too large: its effort is %s, and plan.max_effort is %s", subtask.Effort, granularity.MaxEffort),
			split)
	}
	if n := len(subtask.WriteSet); n > granularity.MaxWriteSet && n <= maxListed {
		c.add(at,
			fmt.Sprintf("is too large: its write set has %d paths or globs, and plan.max_write_set is %d", n,
				granularity.MaxWriteSet),
			split)
	}
}

// checkCount reports more subtasks than a task may have. The problem's text begins with what.
func (c *planCheck) checkCount(n int, what, fix string) {
	if limit := c.rules.Granularity.MaxSubtasks; n > limit {
		because := ""
		if limit < defaultMaxSubtasks {
			because = " by plan.max_subtasks"
		}
		c.add("plan", fmt.Sprintf("%s, %d are allowed%s", what, limit, because), fix)
	}
}
