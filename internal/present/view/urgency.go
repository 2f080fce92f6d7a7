package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// deadlineLayout is the display format of a deadline, in local time.
const deadlineLayout = "2006-01-02 15:04"

// formatSpan formats a duration, in days if it is long.
func formatSpan(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%dd", int(d/(24*time.Hour)))
	}
	return FormatAge(d)
}

// deadlineText describes a task's deadline and whether it has passed. It returns "" if there is no deadline.
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

// shortDeadline formats a task's deadline for a column.
func (v Task) shortDeadline() string {
	switch {
	case v.Deadline == nil:
		return "-"
	case *v.DueInMS < 0:
		return v.Deadline.Local().Format(deadlineLayout) + " LATE"
	}
	return v.Deadline.Local().Format(deadlineLayout)
}

// tagsText formats a task's tags.
func (v Task) tagsText() string { return safetext.EscapeLine(strings.Join(v.Tags, ", "), 200) }

// urgencyText describes a task's priority, deadline and tags. It returns "" for the default ones.
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
