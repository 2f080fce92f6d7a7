package replay

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/safetext"
)

// Report is what came of a replay.
type Report struct {
	SchemaVersion int            `json:"schema_version"`
	Task          company.TaskID `json:"task"`
	Same          bool           `json:"same"` // everything that is compared came out as it is recorded
	Head          company.OID    `json:"head"` // of the integration branch in the replay, as far as it came
	Tree          company.OID    `json:"tree"` // of that
	Runs          []Run          `json:"runs"`
	Checks        []Check        `json:"checks"`
	Merges        []Merge        `json:"merges"`
	Divergence    *Divergence    `json:"divergence"` // the first one; null: none
	Warnings      []Warning      `json:"warnings"`
	Notes         []string       `json:"notes"`
}

// Run is a run that has ended in the replay.
type Run struct {
	Run      company.RunID     `json:"run"`
	Requests int               `json:"requests"`
	Status   company.RunStatus `json:"status"`
	Head     company.OID       `json:"head,omitempty"`
	Tree     company.OID       `json:"tree,omitempty"`
}

// Check is a verdict of the gates in the replay.
type Check struct {
	Subtask company.SubtaskID `json:"subtask,omitempty"` // empty: of the base, of the whole task, or of a stack
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

// Divergence is where a replay differs from its record.
type Divergence struct {
	Run      company.RunID     `json:"run,omitempty"`
	Request  int               `json:"request,omitempty"` // from 1; 0: it is not about a request
	Message  int               `json:"message,omitempty"` // of the request, from 1; 0: it is not about one
	Subtask  company.SubtaskID `json:"subtask,omitempty"`
	What     string            `json:"what"`
	Recorded string            `json:"recorded,omitempty"` // from the first difference on, bounded
	Replayed string            `json:"replayed,omitempty"`
}

// Warning is a difference that nothing hangs on.
type Warning struct {
	Run      company.RunID `json:"run,omitempty"`
	Request  int           `json:"request,omitempty"`
	Message  int           `json:"message,omitempty"`
	What     string        `json:"what"`
	Recorded string        `json:"recorded,omitempty"`
	Replayed string        `json:"replayed,omitempty"`
}

// maxWarnings bounds the warnings of a report.
const maxWarnings = 100

// shownText and shownBefore bound how much of a text is shown around a difference, in bytes.
const (
	shownText   = 400
	shownBefore = 60
)

// showDifference gives two texts from a little before their first difference on.
func showDifference(a, b string) (string, string) {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	from := max(0, at-shownBefore)
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

// Err is the error of a replay that diverged, or nil.
func (r *Report) Err() error {
	d := r.Divergence
	if d == nil {
		return nil
	}
	e := company.E(company.EDiverged, "the replay of "+string(r.Task)+" is not what is recorded").Because(d.Where() + d.What)
	e.RunID = d.Run
	return e.Fix("compare what has changed since: the version of company, its config (agents, gates, container), the image")
}

// Where names the place of a divergence, with a colon at the end; empty: it has none.
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

// RenderText is the report for people.
func (r *Report) RenderText() string {
	var b strings.Builder
	for _, w := range r.Warnings {
		at := Divergence{Run: w.Run, Request: w.Request, Message: w.Message}
		fmt.Fprintf(&b, "! %s%s\n", at.Where(), w.What)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "! %s\n", n)
	}
	if d := r.Divergence; d != nil {
		fmt.Fprintf(&b, "%s diverges at %s%s\n", r.Task, d.Where(), d.What)
		if d.Recorded != "" || d.Replayed != "" {
			fmt.Fprintf(&b, "  recorded: %s\n  replayed: %s\n", indentLines(d.Recorded), indentLines(d.Replayed))
		}
		return b.String()
	}
	fmt.Fprintf(&b, "%s came out as it is recorded: runs %d, verdicts %d, merges %d\n", r.Task, len(r.Runs), len(r.Checks), len(r.Merges))
	if r.Tree != "" {
		fmt.Fprintf(&b, "  the integration branch has the tree %s (%s)\n", r.Tree, r.Head.Short())
	}
	return b.String()
}

func indentLines(s string) string { return strings.ReplaceAll(s, "\n", "\n            ") }

// Saved is a record that was written into a file.
type Saved struct {
	SchemaVersion int            `json:"schema_version"`
	Task          company.TaskID `json:"task"`
	File          string         `json:"file"`
	Bytes         int64          `json:"bytes"` // of the file
}

// RenderText is a saved record for people.
func (s Saved) RenderText() string {
	return fmt.Sprintf("the record of %s is in %s, %d kB\n", s.Task, safetext.EscapeLine(s.File, 300), (s.Bytes+999)/1000)
}
