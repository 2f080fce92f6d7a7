package app

import (
	"context"
	"strings"

	"company/internal/company"
)

// LineWriter writes lines of the config that mend a cause into the operator's own file for a
// repository.
type LineWriter interface {
	// PlaceLine gives a line with the file that it would be written to, and its text there.
	// Not ok: what it asks for holds already. An error: something else sets the key.
	PlaceLine(ctx context.Context, checkout string, l company.ConfigLine) (placed company.ConfigLine, ok bool, err error)
	// WriteLine writes it. A line that holds already is no error.
	WriteLine(ctx context.Context, checkout string, l company.ConfigLine) error
}

// PlaceLine gives a line for a task with its file, or nil where it cannot be written: the question
// then offers none. A follow-up is judged by the gates of the task that it follows.
func (a *App) PlaceLine(ctx context.Context, id company.TaskID, l company.ConfigLine) *company.ConfigLine {
	t := a.View().Tasks[id]
	if a.lines == nil || t == nil || t.Follows != "" && strings.HasPrefix(l.Key, "gates.") {
		return nil
	}
	placed, ok, err := a.lines.PlaceLine(ctx, t.Project.Path, l)
	if err != nil || !ok {
		return nil
	}
	return &placed
}

// writeAnsweredLine writes the line of a question that is answered so. It is in the file before
// the answer counts, since the next try reads it.
func (a *App) writeAnsweredLine(ctx context.Context, c company.Command) error {
	ans, ok := c.(company.Answer)
	if !ok || ans.Option != company.OptWrite {
		return nil
	}
	s := a.View()
	q := s.Approvals[ans.Approval]
	if q == nil || q.Line == nil || !q.Open() || s.Tasks[q.Task] == nil || s.Tasks[q.Task].Status.Ended() {
		return nil // the core refuses the answer
	}
	if a.lines == nil {
		return company.E(company.EConfig, "this company cannot write its config").Fix("write it by hand, then: company approve " + string(q.ID))
	}
	return a.lines.WriteLine(ctx, s.Tasks[q.Task].Project.Path, *q.Line)
}
