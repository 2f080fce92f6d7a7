package app

import (
	"context"
	"strings"

	"company/internal/company"
)

// LineWriter writes config lines that fix a problem to the operator's own file for a repository.
type LineWriter interface {
	// PlaceLine returns a line with the file to write it to, and its text there. ok is false if the
	// setting already applies. It returns an error if the key is set elsewhere.
	PlaceLine(ctx context.Context, checkout string, l company.ConfigLine) (placed company.ConfigLine, ok bool, err error)
	// WriteLine writes the line. A setting that already applies is not an error.
	WriteLine(ctx context.Context, checkout string, l company.ConfigLine) error
}

// PlaceLine returns a task's line with its file. It returns nil if the line cannot be written, and
// the question then offers no line. A follow-up uses the gates of the task that it follows, so it
// gets no gates line.
func (a *App) PlaceLine(ctx context.Context, id company.TaskID, configLine company.ConfigLine) *company.ConfigLine {
	task := a.View().Tasks[id]
	if a.lines == nil || task == nil || task.Follows != "" && strings.HasPrefix(configLine.Key, "gates.") {
		return nil
	}
	placed, ok, err := a.lines.PlaceLine(ctx, task.Project.Path, configLine)
	if err != nil || !ok {
		return nil
	}
	return &placed
}

// writeAnsweredLine writes the line of a question if the answer chooses it. It writes the file
// before the answer is recorded, because the next try reads it.
func (a *App) writeAnsweredLine(ctx context.Context, c company.Command) error {
	ans, ok := c.(company.Answer)
	if !ok || ans.Option != company.OptWrite {
		return nil
	}
	state := a.View()
	approval := state.Approvals[ans.Approval]
	if approval == nil || approval.Line == nil || !approval.Open() || state.Tasks[approval.Task] == nil ||
		state.Tasks[approval.Task].Status.Ended() {
		return nil // the core rejects the answer
	}
	if a.lines == nil {
		return company.E(company.EConfig, "cannot write the config").
			Fix("write it by hand, then: company approve " + string(approval.ID))
	}
	return a.lines.WriteLine(ctx, state.Tasks[approval.Task].Project.Path, *approval.Line)
}
