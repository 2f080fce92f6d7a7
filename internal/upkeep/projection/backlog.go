package projection

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/goccy/go-yaml"

	"company/internal/company"
	"company/internal/lib/safedir"
	"company/internal/lib/safetext"
)

// frontMatter is the YAML header of a backlog file.
type frontMatter struct {
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

// formatTicket returns the text of a subtask's backlog file (SUB-10). The file is generated from the state and never
// read back.
func formatTicket(task *company.Task, sub *company.Subtask) ([]byte, error) {
	head, err := yaml.Marshal(frontMatter{
		ID: sub.ID, ParentID: task.ID, Status: sub.Status, Wave: task.StepOf(sub), After: sub.After(),
		Effort:   sub.Planned.Effort,
		WriteSet: sub.Planned.WriteSet,
		Branch:   sub.Branch, Run: sub.Current, Head: sub.Head, Merged: sub.Merged,
		Created: task.Submitted.UTC().Format("2006-01-02T15:04:05Z"),
		Updated: task.Updated.UTC().Format("2006-01-02T15:04:05Z"),
	})
	if err != nil {
		return nil, fmt.Errorf("write the ticket of %s: %w", sub.ID, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "---\n%s---\n\n# %s\n\n%s\n",
		head, oneLine(sub.Planned.Title), safetext.Escape(task.DescriptionOf(sub)))
	if len(sub.Planned.AcceptanceCriteria) > 0 {
		b.WriteString("\n## Acceptance criteria\n\n")
	}
	for _, c := range sub.Planned.AcceptanceCriteria {
		fmt.Fprintf(&b, "- %s\n", oneLine(c))
	}
	b.WriteString("\n## Log\n\n")
	for n := 1; n <= sub.Started; n++ {
		id := company.NewRunID(task.ID, sub.ID, company.Worker, n)
		if run := task.Runs[id]; run != nil && run.Ended {
			fmt.Fprintf(&b, "- %s %s %s %s\n", run.EndedAt.UTC().Format("2006-01-02T15:04:05Z"), id, run.Status,
				oneLine(run.Summary+run.Error))
		}
	}
	if gateFinished := sub.Gate; gateFinished != nil {
		fmt.Fprintf(&b, "- gates on %s: %s", gateFinished.Head.Short(),
			map[bool]string{true: "passed", false: "failed"}[gateFinished.Result.Passed])
		if len(gateFinished.Stack) > 1 {
			fmt.Fprintf(&b, ", of %s together", company.Count(len(gateFinished.Stack), "subtask"))
		}
		b.WriteByte('\n')
	}
	if r := sub.Review.Last; r != nil {
		fmt.Fprintf(&b, "- review of %s: %s, %s\n", r.Head.Short(), r.Verdict, company.Count(len(r.Findings), "finding"))
	}
	if sub.Reason != "" {
		fmt.Fprintf(&b, "- %s\n", oneLine(sub.Reason))
	}
	return []byte(b.String()), nil
}

// writeBacklog writes the tickets of a task, and removes tickets beyond the current plan.
func writeBacklog(backlog *safedir.Folder, task *company.Task) error {
	for n := len(task.Subtasks) + 1; ; n++ {
		err := backlog.Remove(string(company.NewSubtaskID(task.ID, n)) + ".md")
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return fmt.Errorf("remove an old ticket: %w", err)
		}
	}
	for _, sub := range task.Subtasks {
		text, err := formatTicket(task, sub)
		if err != nil {
			return err
		}
		if err := backlog.WriteFile(string(sub.ID)+".md", text, 0o600); err != nil {
			return fmt.Errorf("write the ticket of %s: %w", sub.ID, err)
		}
	}
	return nil
}

// oneLine makes agents' text safe for one line of a file for people (T18).
func oneLine(s string) string { return strings.Join(strings.Fields(safetext.Escape(s)), " ") }
