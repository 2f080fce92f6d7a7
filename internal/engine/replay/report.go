package replay

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Report is the result of a replay.
type Report struct {
	SchemaVersion int            `json:"schema_version"`
	Task          company.TaskID `json:"task"`
	Same          bool           `json:"same"` // everything that is compared matches the record
	Head          company.OID    `json:"head"` // head of the integration branch in the replay, as far as it got
	Tree          company.OID    `json:"tree"` // tree of that head
	Runs          []Run          `json:"runs"`
	Checks        []Check        `json:"checks"`
	Merges        []Merge        `json:"merges"`
	Divergence    *Divergence    `json:"divergence"` // the first divergence, or null
	Warnings      []Warning      `json:"warnings"`
	Notes         []string       `json:"notes"`
}

// Run is a run that ended in the replay.
type Run struct {
	Run      company.RunID     `json:"run"`
	Requests int               `json:"requests"`
	Status   company.RunStatus `json:"status"`
	Head     company.OID       `json:"head,omitempty"`
	Tree     company.OID       `json:"tree,omitempty"`
}

// Check is a gate verdict in the replay.
type Check struct {
	Subtask company.SubtaskID `json:"subtask,omitempty"` // empty for the base, the whole task, or a stack
	Event   string            `json:"event"`
	Tree    company.OID       `json:"tree"`
	Passed  bool              `json:"passed"`
	Exits   []int             `json:"exits"` // exit codes of its checks, in order
}

// Merge is a merge in the replay.
type Merge struct {
	Subtask company.SubtaskID `json:"subtask"`
	Commit  company.OID       `json:"commit"`
	Tree    company.OID       `json:"tree"`
}

// Divergence is the place where a replay differs from its record.
type Divergence struct {
	Run      company.RunID     `json:"run,omitempty"`
	Request  int               `json:"request,omitempty"` // from 1; 0 if it is not about a request
	Message  int               `json:"message,omitempty"` // index in the request, from 1; 0 if it is not about a message
	Subtask  company.SubtaskID `json:"subtask,omitempty"`
	What     string            `json:"what"`
	Recorded string            `json:"recorded,omitempty"` // from the first difference on, truncated
	Replayed string            `json:"replayed,omitempty"`
}

// Warning is a difference that does not affect the result.
type Warning struct {
	Run      company.RunID `json:"run,omitempty"`
	Request  int           `json:"request,omitempty"`
	Message  int           `json:"message,omitempty"`
	What     string        `json:"what"`
	Recorded string        `json:"recorded,omitempty"`
	Replayed string        `json:"replayed,omitempty"`
}

// maxWarnings limits the warnings of a report.
const maxWarnings = 100

// shownText and shownBefore limit how much text around a difference is shown, in bytes.
const (
	shownText   = 400
	shownBefore = 60
)

// showDifference returns excerpts of two texts that start a little before their first difference.
func showDifference(a, b string) (string, string) {
	index := 0
	for index < len(a) && index < len(b) && a[index] == b[index] {
		index++
	}
	from := max(0, index-shownBefore)
	cut := func(s string) string {
		start := min(from, len(s))
		for start > 0 && start < len(s) && !utf8.RuneStart(s[start]) {
			start--
		}
		text := safetext.EscapeControl(safetext.Head(s[start:], shownText))
		if start > 0 {
			text = "…" + text
		}
		if len(s)-start > shownText {
			text += "…"
		}
		return text
	}
	return cut(a), cut(b)
}

// Err returns the error of a diverged replay, or nil.
func (r *Report) Err() error {
	divergence := r.Divergence
	if divergence == nil {
		return nil
	}
	fault := company.E(company.EDiverged, "the replay of "+string(r.Task)+" differs from the record").
		Because(divergence.Where() + divergence.What)
	fault.RunID = divergence.Run
	return fault.Fix("compare what has changed since: the version of company, its config (agents, gates, container), " +
		"the " +
		"image")
}

// Where returns the place of a divergence followed by a colon, or "" if it has no place.
func (d Divergence) Where() string {
	switch {
	case d.Run != "" && d.Request > 0 && d.Message > 0:
		return string(d.Run) + ", request " + strconv.Itoa(d.Request) + ", message " + strconv.Itoa(d.Message) + ": "
	case d.Run != "" && d.Request > 0:
		return string(d.Run) + ", request " + strconv.Itoa(d.Request) + ": "
	case d.Run != "":
		return string(d.Run) + ": "
	case d.Subtask != "":
		return string(d.Subtask) + ": "
	}
	return ""
}

// RenderText returns the report for people.
func (r *Report) RenderText() string {
	var b strings.Builder
	for _, warning := range r.Warnings {
		at := Divergence{Run: warning.Run, Request: warning.Request, Message: warning.Message}
		fmt.Fprintf(&b, "! %s%s\n", at.Where(), warning.What)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "! %s\n", n)
	}
	if divergence := r.Divergence; divergence != nil {
		fmt.Fprintf(&b, "%s diverges at %s%s\n", r.Task, divergence.Where(), divergence.What)
		if divergence.Recorded != "" || divergence.Replayed != "" {
			fmt.Fprintf(&b, "  recorded: %s\n  replayed: %s\n", indentLines(divergence.Recorded),
				indentLines(divergence.Replayed))
		}
		return b.String()
	}
	fmt.Fprintf(&b, "%s came out as it is recorded: runs %d, verdicts %d, merges %d\n", r.Task, len(r.Runs), len(r.Checks),
		len(r.Merges))
	if r.Tree != "" {
		fmt.Fprintf(&b, "  the integration branch has the tree %s (%s)\n", r.Tree, r.Head.Short())
	}
	return b.String()
}

func indentLines(s string) string { return strings.ReplaceAll(s, "\n", "\n            ") }

// Saved describes a record that was written to a file.
type Saved struct {
	SchemaVersion int            `json:"schema_version"`
	Task          company.TaskID `json:"task"`
	File          string         `json:"file"`
	Bytes         int64          `json:"bytes"` // of the file
}

// RenderText describes a saved record for people.
func (s Saved) RenderText() string {
	return fmt.Sprintf("the record of %s is in %s, %d kB\n", s.Task, safetext.EscapeLine(s.File, 300), (s.Bytes+999)/1000)
}
