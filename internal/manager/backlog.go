package manager

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/goccy/go-yaml"

	"company/internal/company"
	"company/internal/folder"
	"company/internal/safetext"
)

// front is the front matter of a backlog file.
type front struct {
	ID       company.SubtaskID     `yaml:"id"`
	ParentID company.TaskID        `yaml:"parent_id"`
	Status   company.SubtaskStatus `yaml:"status"`
	Wave     int                   `yaml:"wave"`
	After    []company.SubtaskID   `yaml:"after,omitempty"`
	Effort   string                `yaml:"effort"`
	WriteSet []string              `yaml:"write_set"`
	Branch   string                `yaml:"branch,omitempty"`
	Run      company.RunID         `yaml:"run,omitempty"`
	Head     company.OID           `yaml:"head,omitempty"`
	Merged   company.OID           `yaml:"merged,omitempty"`
	Created  string                `yaml:"created"`
	Updated  string                `yaml:"updated"`
}

// Ticket is the text of a subtask's backlog file (SUB-10). It is a projection:
// made anew from the state, never read back.
func Ticket(t *company.Task, sub *company.Subtask) ([]byte, error) {
	head, err := yaml.Marshal(front{
		ID: sub.ID, ParentID: t.ID, Status: sub.Status, Wave: t.StepOf(sub), After: sub.After(), Effort: sub.Planned.Effort, WriteSet: sub.Planned.WriteSet,
		Branch: sub.Branch, Run: sub.Current, Head: sub.Head, Merged: sub.Merged,
		Created: t.Submitted.UTC().Format("2006-01-02T15:04:05Z"), Updated: t.Updated.UTC().Format("2006-01-02T15:04:05Z"),
	})
	if err != nil {
		return nil, fmt.Errorf("write the ticket of %s: %w", sub.ID, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "---\n%s---\n\n# %s\n\n%s\n\n## Acceptance criteria\n\n", head, oneLine(sub.Planned.Title), safetext.Escape(sub.Planned.Description))
	for _, c := range sub.Planned.AcceptanceCriteria {
		fmt.Fprintf(&b, "- %s\n", oneLine(c))
	}
	b.WriteString("\n## Log\n\n")
	for n := 1; n <= sub.Started; n++ {
		id := company.NewRunID(t.ID, sub.ID, company.Worker, n)
		if r := t.Runs[id]; r != nil && r.Ended {
			fmt.Fprintf(&b, "- %s %s %s %s\n", r.EndedAt.UTC().Format("2006-01-02T15:04:05Z"), id, r.Status, oneLine(r.Summary+r.Error))
		}
	}
	if g := sub.Gate; g != nil {
		fmt.Fprintf(&b, "- gates on %s: %s", g.Head.Short(), map[bool]string{true: "passed", false: "failed"}[g.Result.Passed])
		if len(g.Stack) > 1 {
			fmt.Fprintf(&b, ", of %d subtasks together", len(g.Stack))
		}
		b.WriteByte('\n')
	}
	if r := sub.Review.Last; r != nil {
		fmt.Fprintf(&b, "- review of %s: %s, %d findings\n", r.Head.Short(), r.Verdict, len(r.Findings))
	}
	if sub.Reason != "" {
		fmt.Fprintf(&b, "- %s\n", oneLine(sub.Reason))
	}
	return []byte(b.String()), nil
}

// WriteBacklog writes the tickets of a task, and removes those of a plan that
// no longer stands.
func WriteBacklog(backlog *folder.Folder, t *company.Task) error {
	for n := len(t.Subtasks) + 1; ; n++ {
		err := backlog.Remove(string(company.NewSubtaskID(t.ID, n)) + ".md")
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return fmt.Errorf("remove an old ticket: %w", err)
		}
	}
	for _, sub := range t.Subtasks {
		text, err := Ticket(t, sub)
		if err != nil {
			return err
		}
		if err := backlog.WriteFile(string(sub.ID)+".md", text, 0o600); err != nil {
			return fmt.Errorf("write the ticket of %s: %w", sub.ID, err)
		}
	}
	return nil
}

// oneLine is text of agents in a line of a file that people read (T18).
func oneLine(s string) string { return strings.Join(strings.Fields(safetext.Escape(s)), " ") }
