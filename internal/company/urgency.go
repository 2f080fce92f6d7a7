package company

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Priority is how urgent the president calls a task.
type Priority string

const (
	PriorityLow    Priority = "low"
	PriorityMedium Priority = "medium" // of a task that names none
	PriorityHigh   Priority = "high"
)

// Priorities lists their names, the most urgent first.
var Priorities = []Priority{PriorityHigh, PriorityMedium, PriorityLow}

// rank is the place among Priorities. A word that is none of them, which older
// versions took, counts as medium.
func (p Priority) rank() int {
	if i := slices.Index(Priorities, p); i >= 0 {
		return i
	}
	return slices.Index(Priorities, PriorityMedium)
}

const (
	// MaxPassedOver is how long later tasks of its project may go before a task.
	// One that has been open for longer comes first, whatever its priority.
	MaxPassedOver = 72 * time.Hour
	// MaxDeadline is how far ahead a deadline may lie.
	MaxDeadline = 10 * 365 * 24 * time.Hour
	// MaxTags is how many tags a task has at most.
	MaxTags = 20
	// MaxTag is the longest tag, in bytes.
	MaxTag = 64
)

// urgency is what orders the open tasks of one project.
type urgency struct {
	old      bool // it has been open for MaxPassedOver
	rank     int  // of its priority
	deadline time.Time
	number   int // of the task: lower is older
}

// urgencyOf goes by the time of the newest event, so the order changes with events
// only.
func (s *State) urgencyOf(t *Task) urgency {
	return urgency{old: s.Time.Sub(t.Submitted) >= MaxPassedOver, rank: t.Priority.rank(), deadline: t.Deadline, number: t.ID.Number()}
}

// compareTo orders the open tasks of one project: what has been passed over for long,
// the oldest first; then the higher priority, then the nearer deadline, then the older
// task.
func (u urgency) compareTo(o urgency) int {
	age := cmp.Compare(u.number, o.number)
	switch {
	case u.old && o.old:
		return age
	case u.old:
		return -1
	case o.old:
		return 1
	}
	return cmp.Or(cmp.Compare(u.rank, o.rank), compareDeadlines(u.deadline, o.deadline), age)
}

// compareDeadlines puts the nearer one first, and none last.
func compareDeadlines(a, b time.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case a.IsZero():
		return 1
	case b.IsZero():
		return -1
	}
	return a.Compare(b)
}

// validateUrgency refuses a priority, tags and a deadline that cannot be kept.
func (c Submit) validateUrgency(now time.Time) error {
	if c.Priority != "" && !slices.Contains(Priorities, c.Priority) {
		return E(EUsage, fmt.Sprintf("there is no priority %q", cutText(string(c.Priority), 40))).Fix("--priority low, medium or high")
	}
	if len(c.Tags) > MaxTags {
		return E(EUsage, fmt.Sprintf("%d tags are too many", len(c.Tags))).Fix(fmt.Sprintf("a task has at most %d", MaxTags))
	}
	for _, tag := range c.Tags {
		if err := validateTag(tag); err != nil {
			return err
		}
	}
	switch {
	case c.Deadline.IsZero():
	case !c.Deadline.After(now):
		return E(EUsage, "the deadline has passed already").Because("it is " + c.Deadline.UTC().Format(time.RFC3339) + ", and now is " + now.UTC().Format(time.RFC3339)).
			Fix("--deadline 36h, or a day to come")
	case c.Deadline.Sub(now) > MaxDeadline:
		return E(EUsage, "the deadline lies more than ten years ahead").Fix("--deadline 2026-12-01")
	}
	return nil
}

// validateTag refuses a text that is no tag: a word of letters, digits and . _ - : /
func validateTag(tag string) error {
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	bad := func(r rune) bool { return !part(r) && !strings.ContainsRune("._-:/", r) }
	first, _ := utf8.DecodeRuneInString(tag)
	switch {
	case tag == "":
		return E(EUsage, "a tag is empty").Fix("--tag api")
	case len(tag) > MaxTag:
		return E(EUsage, fmt.Sprintf("the tag %q is longer than %d bytes", cutText(tag, 20), MaxTag)).Fix("shorten it")
	case !utf8.ValidString(tag) || !part(first) || strings.ContainsFunc(tag, bad):
		return E(EUsage, fmt.Sprintf("%q is no tag", tag)).Because("a tag begins with a letter or a digit; after it . _ - : and / may stand, too").Fix("--tag api")
	}
	return nil
}

// inheritUrgency takes from the task that is followed what the submission does not
// name.
func (c Submit) inheritUrgency(followed *Task) Submit {
	if followed != nil {
		c.Priority = cmp.Or(c.Priority, followed.Priority)
		if len(c.Tags) == 0 {
			c.Tags = followed.Tags
		}
		if c.Deadline.IsZero() {
			c.Deadline = followed.Deadline
		}
	}
	c.Priority = cmp.Or(c.Priority, PriorityMedium)
	return c
}

// withoutRepeats is the entries of a list in their order, each once.
func withoutRepeats[T comparable](list []T) (out []T) {
	for _, x := range list {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// UntilDeadline is how long a task has until its deadline: from its end, or from now
// where it has not ended. Below 0 the deadline has passed. It has none: false.
func (t *Task) UntilDeadline(now time.Time) (time.Duration, bool) {
	if !t.Ended.IsZero() {
		now = t.Ended
	}
	return t.Deadline.Sub(now), !t.Deadline.IsZero()
}
