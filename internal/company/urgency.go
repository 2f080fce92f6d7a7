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

// Priority is the priority that the president gives a task.
type Priority string

const (
	PriorityLow    Priority = "low"
	PriorityMedium Priority = "medium" // the default
	PriorityHigh   Priority = "high"
)

// Priorities lists the priorities, the most urgent first.
var Priorities = []Priority{PriorityHigh, PriorityMedium, PriorityLow}

// rank returns the index in Priorities. Older versions accepted other values, which count as medium.
func (p Priority) rank() int {
	if i := slices.Index(Priorities, p); i >= 0 {
		return i
	}
	return slices.Index(Priorities, PriorityMedium)
}

const (
	// MaxPassedOver limits how long later tasks of its project may be preferred to a task. A task that has been open for
	// longer comes first, whatever its priority.
	MaxPassedOver = 72 * time.Hour
	// MaxDeadline limits how far in the future a deadline may be.
	MaxDeadline = 10 * 365 * 24 * time.Hour
	// MaxTags limits the number of tags of a task.
	MaxTags = 20
	// MaxTag limits a tag, in bytes.
	MaxTag = 64
)

// urgency holds the criteria that order the open tasks of one project.
type urgency struct {
	old      bool // it has been open for MaxPassedOver
	rank     int  // of its priority
	deadline time.Time
	number   int // of the task: lower is older
}

// urgencyOf returns the urgency of a task at the time of the newest event, so the order changes only with events.
func (s *State) urgencyOf(task *Task) urgency {
	return urgency{old: s.Time.Sub(task.Submitted) >= MaxPassedOver, rank: task.Priority.rank(), deadline: task.Deadline,
		number: task.ID.Number()}
}

// compareTo orders the open tasks of one project. Tasks that have been open for long come first, the oldest first. Then
// come the higher priority, the nearer deadline, and the older task.
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

// compareDeadlines orders deadlines, the nearer first. No deadline is last.
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

// validateUrgency refuses an invalid priority, tags or deadline.
func (c Submit) validateUrgency(now time.Time) error {
	if c.Priority != "" && !slices.Contains(Priorities, c.Priority) {
		return E(EUsage, fmt.Sprintf("unknown priority %q", cutText(string(c.Priority), 40))).
			Fix("--priority low, medium or high")
	}
	if len(c.Tags) > MaxTags {
		return E(EUsage, fmt.Sprintf("too many tags: %d", len(c.Tags))).Fix(fmt.Sprintf("a task has at most %d", MaxTags))
	}
	for _, tag := range c.Tags {
		if err := validateTag(tag); err != nil {
			return err
		}
	}
	switch {
	case c.Deadline.IsZero():
	case !c.Deadline.After(now):
		return E(EUsage, "the deadline has passed").
			Because("it is " + c.Deadline.UTC().Format(time.RFC3339) + ", and it is now " + now.UTC().Format(time.RFC3339)).
			Fix("--deadline 36h, or a future day")
	case c.Deadline.Sub(now) > MaxDeadline:
		return E(EUsage, "the deadline is more than ten years ahead").Fix("--deadline 2026-12-01")
	}
	return nil
}

// validateTag refuses an invalid tag. A tag has letters, digits and . _ - : / and begins with a letter or a digit.
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
		return E(EUsage, fmt.Sprintf("invalid tag %q", tag)).
			Because("a tag starts with a letter or a digit; . _ - : and / may follow").Fix("--tag api")
	}
	return nil
}

// inheritUrgency fills in missing values from the followed task, and the default priority.
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

// withoutRepeats returns the entries of a list in their order, each once.
func withoutRepeats[T comparable](list []T) (out []T) {
	for _, x := range list {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// UntilDeadline returns the time from now, or from the end of an ended task, to its deadline. It is negative if the
// deadline has passed. The bool is false if there is no deadline.
func (t *Task) UntilDeadline(now time.Time) (time.Duration, bool) {
	if !t.Ended.IsZero() {
		now = t.Ended
	}
	return t.Deadline.Sub(now), !t.Deadline.IsZero()
}
