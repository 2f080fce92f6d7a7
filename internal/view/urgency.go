package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// deadlineLayout is how people read a deadline, where they are.
const deadlineLayout = "2006-01-02 15:04"

// priorityOf is the priority of a task. Events of older versions may lack one.
func priorityOf(t *company.Task) company.Priority {
	return cmp.Or(t.Priority, company.PriorityMedium)
}

// formatSpan is a while, in days where it is long.
func formatSpan(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%dd", int(d/(24*time.Hour)))
	}
	return FormatAge(d)
}

// deadlineText tells a task's deadline and whether it has passed; "": it has none.
func (v Task) deadlineText() string {
	if v.Deadline == nil {
		return ""
	}
	at, left := v.Deadline.Local().Format(deadlineLayout), time.Duration(*v.DueInMS)*time.Millisecond
	switch {
	case v.Ended != nil && left < 0:
		return "was due " + at + ", ended " + formatSpan(-left) + " LATE"
	case v.Ended != nil:
		return "was due " + at + ", in time"
	case left < 0:
		return "was due " + at + ", LATE by " + formatSpan(-left)
	}
	return "due " + at + ", in " + formatSpan(left)
}

// shortDeadline is a task's deadline in a column.
func (v Task) shortDeadline() string {
	switch {
	case v.Deadline == nil:
		return "-"
	case *v.DueInMS < 0:
		return v.Deadline.Local().Format(deadlineLayout) + " LATE"
	}
	return v.Deadline.Local().Format(deadlineLayout)
}

// tagsText is a task's tags, for people.
func (v Task) tagsText() string { return safetext.EscapeLine(strings.Join(v.Tags, ", "), 200) }

// urgencyText tells a task's priority, deadline and tags; "": it has the usual ones.
func (v Task) urgencyText() string {
	var parts []string
	if v.Priority != company.PriorityMedium {
		parts = append(parts, safetext.EscapeLine(string(v.Priority), 40)+" priority")
	}
	if v.Deadline != nil {
		parts = append(parts, v.deadlineText())
	}
	if len(v.Tags) > 0 {
		parts = append(parts, "tagged "+v.tagsText())
	}
	return strings.Join(parts, "; ")
}
