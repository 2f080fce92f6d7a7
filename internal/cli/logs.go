package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/agent"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/office"
	"company/internal/safetext"
	"company/internal/view"
)

// logLines bounds what logs shows of one message or result without -v.
const logLines = 12

const transcriptFile = "transcript.ndjson"

func newLogs(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "logs <run|subtask>", Short: "Show the conversation of a run",
		Example: "  company logs t12-03\n  company logs t12-03.2 -v\n  company logs t12-plan.1 -o json",
		Long: `Shows what was said and done in a run: the transcript that is kept when it
ends, else what its journal holds so far. Of a subtask, its newest run. Long
messages and results are shortened; -v shows them whole. While another process
is at work on the office, the journal is that one's: then only runs that have
ended can be shown.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeIDs(func(v view.IDs) []string { return v.All }),
		RunE: func(c *cobra.Command, args []string) error { return a.runLogs(c.Context(), args[0]) },
	}
}

func (a *app) runLogs(ctx context.Context, id string) error {
	conn, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	th, err := conn.Shown(ctx, id)
	if err != nil {
		return err
	}
	run := th.Run
	if run == nil {
		if th.Subtask == nil {
			return company.E(company.EUsage, id+" is neither a run nor a subtask").Because(describeRuns(th.Task)).Fix("company logs <run>")
		}
		if run = newestRun(th.Subtask.Runs); run == nil {
			return company.E(company.ENotFound, "no run of "+id+" has begun yet").Fix("company show " + id)
		}
	}
	unwritten := slices.ContainsFunc(run.Unwritten, func(u company.UnwrittenFile) bool { return u.File == run.ID.FilePath(transcriptFile) })
	t, err := readTranscript(paths, run.ID)
	if errors.Is(err, fs.ErrNotExist) || err != nil && unwritten {
		t, err = conn.ReadJournal(ctx, run.ID)
	}
	if err != nil {
		return err
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{
			"schema_version": 1, "run": run.ID, "agent": t.AgentID, "total_tokens": t.TotalTokens,
			"messages": emptyIfNil(t.Messages), "tool_calls": emptyIfNil(t.ToolCalls),
		})
	}
	most := logLines
	if a.verbose {
		most = 1 << 30
	}
	fmt.Fprint(a.out, transcriptText(t, most))
	return nil
}

func emptyIfNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func describeRuns(t *view.TaskDetail) string {
	if t == nil {
		return "it has no runs yet"
	}
	var ids []string
	for _, r := range t.Runs {
		ids = append(ids, string(r.ID))
	}
	for _, sub := range t.Plan {
		for _, r := range sub.Runs {
			ids = append(ids, string(r.ID))
		}
	}
	if len(ids) == 0 {
		return "it has no runs yet"
	}
	slices.Sort(ids)
	return string(t.ID) + " has the runs " + strings.Join(ids, ", ")
}

// newestRun is the worker's run that was claimed last.
func newestRun(runs []view.Run) *view.Run {
	var last *view.Run
	for i, r := range runs {
		if r.Role == company.Worker && r.Claimed != nil && (last == nil || r.Claimed.After(*last.Claimed)) {
			last = &runs[i]
		}
	}
	return last
}

func readTranscript(p office.Paths, run company.RunID) (agent.Transcript, error) {
	text, err := p.ReadRunFile(run, transcriptFile, officeapp.MaxTranscript)
	if errors.Is(err, fs.ErrNotExist) {
		return agent.Transcript{}, err
	}
	if err != nil {
		return agent.Transcript{}, company.E(company.EInvalid, filepath.Join(p.Run(run), "transcript.ndjson")+" is no transcript").Wrap(err).
			Fix("move it away; the journal has it, too")
	}
	return agent.DecodeTranscript(text)
}

// transcriptText shows a conversation in the order in which it happened.
func transcriptText(t agent.Transcript, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s, %s, %s\n", t.RunID, safetext.EscapeLine(t.AgentID, 40), company.Count(len(t.Messages), "message"), company.Count(len(t.ToolCalls), "tool call"), company.Count(int(t.TotalTokens), "token"))
	m, c := 0, 0
	for m < len(t.Messages) || c < len(t.ToolCalls) {
		if c == len(t.ToolCalls) || m < len(t.Messages) && !t.ToolCalls[c].Timestamp.Before(t.Messages[m].Timestamp) {
			msg := t.Messages[m]
			m++
			if msg.Content == "" {
				continue // its tool calls follow
			}
			fmt.Fprintf(&b, "\n%s  %s\n%s", msg.Timestamp.Local().Format("15:04:05"), msg.Role, view.IndentLines(msg.Content, most))
			continue
		}
		call := t.ToolCalls[c]
		c++
		sign := "+"
		if call.IsError {
			sign = "x"
		}
		fmt.Fprintf(&b, "\n%s  %s %s %s  %.1fs\n%s", call.Timestamp.Local().Format("15:04:05"), sign, safetext.EscapeLine(call.Name, 40), safetext.EscapeLine(call.Arguments, 300), float64(call.DurationMS)/1000, view.IndentLines(call.Result, most))
	}
	return b.String()
}
