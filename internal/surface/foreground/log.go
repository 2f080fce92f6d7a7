package foreground

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"company/internal/agent"
	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/office"
	"company/internal/present/termtext"
	"company/internal/present/view"
	"company/internal/surface/officeaccess"
	"company/internal/surface/terminalio"
)

// logLines limits the lines shown of a message or result in the short form.
const logLines = 12

// findRun returns the run with an id, or the newest run of a task or subtask.
func findRun(ctx context.Context, conn *client.Office, id string) (*view.Run, error) {
	th, err := conn.Shown(ctx, id)
	if err != nil {
		return nil, err
	}
	switch {
	case th.Run != nil:
		return th.Run, nil
	case th.Question != nil:
		return nil, company.E(company.EUsage, id+" is a question").Fix("company show " + id)
	}
	var run *view.Run
	if th.Subtask != nil {
		run = view.NewestRun(th.Subtask.Runs)
	} else {
		run = th.Task.NewestRun()
	}
	if run == nil {
		return nil, company.E(company.ENotFound, "no run of "+id+" has started yet").Fix("company show " + id)
	}
	return run, nil
}

// ReadLog returns a run and its conversation. It reads the stored transcript, or builds one from
// the run's journal if the transcript cannot be read.
func ReadLog(
	ctx context.Context, conn *client.Office, paths office.Paths, id string,
) (company.RunID, agent.Transcript, error) {
	run, err := findRun(ctx, conn, id)
	if err != nil {
		return "", agent.Transcript{}, err
	}
	transcript, err := officeapp.ReadTranscriptFile(paths, run.ID)
	if err != nil { // not written yet, not writable, or cut by a power failure
		if made, merr := conn.ReadTranscript(ctx, run.ID); merr == nil || errors.Is(err, fs.ErrNotExist) {
			transcript, err = made, merr
		}
	}
	return run.ID, transcript, err
}

// MostLines returns the number of lines shown of a message or result. Verbose shows all.
func MostLines(verbose bool) int {
	if verbose {
		return 1 << 30
	}
	return logLines
}

// VisibilityOf returns what is shown of a conversation: a summary, unless a person asked for all of it.
func VisibilityOf(full bool) agent.Visibility {
	if full {
		return agent.Full
	}
	return agent.Summary
}

// FollowLog prints a run's conversation until the run ends, across restarts of the company. When
// ctx ends first, it returns its cause.
func FollowLog(ctx context.Context, ent *officeaccess.Entrance, id string, full bool) error {
	l := &logFollower{console: ent.Console, visibility: VisibilityOf(full)}
	for {
		conn, paths, err := ent.ConnectOnce(ctx)
		ended := false
		if err == nil {
			// This process is not to have the office for long.
			ended, err = l.followOnce(ctx, conn, id, !ent.HasOffice())
			conn.Close()
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && ended:
			return nil
		case err != nil && !client.IsFeedCut(err) && company.CodeOf(err) != company.EHeld:
			return err
		}
		if err := ent.AwaitHolder(ctx, paths); err != nil {
			return err
		}
	}
}

// logFollower shows the conversation of one run. It shows each entry once, even if the
// conversation is read again.
type logFollower struct {
	console    *terminalio.Console
	visibility agent.Visibility
	run        company.RunID
	shown      int
}

// followOnce shows the existing entries and, with stay, new ones. It reports whether the run has
// ended.
func (l *logFollower) followOnce(
	ctx context.Context, conn *client.Office, id string, stay bool,
) (ended bool, err error) {
	if l.run == "" {
		run, err := findRun(ctx, conn, id)
		if err != nil {
			return false, err
		}
		l.run = run.ID
	}
	run, err := findRun(ctx, conn, string(l.run))
	if err != nil {
		return false, err
	}
	if run.Ended == nil && !conn.IsAtWork() {
		l.console.PrintNote("no company is working on %s; continue with: company resume %s", l.run, l.run.Task())
	}
	err = l.followEntries(ctx, conn, stay)
	return err == nil && (stay || run.Ended != nil), err
}

// followEntries shows the entries not shown before. On a terminal it draws the output of running
// calls below them, redraws it in place, and removes it at the end.
func (l *logFollower) followEntries(ctx context.Context, conn *client.Office, stay bool) error {
	ctx, cancel := context.WithCancel(ctx)
	entries, ended := make(chan agent.TranscriptEntry), make(chan error, 1)
	go func() {
		ended <- conn.StreamTranscript(ctx, l.run, stay, func(entry agent.TranscriptEntry) error {
			select {
			case entries <- entry:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	running := true
	defer func() {
		cancel()
		if running {
			<-ended
		}
	}()
	redraw := time.NewTicker(time.Second)
	defer redraw.Stop()
	foot := &termtext.Area{Out: l.console.Out}
	style := func() termtext.Style { return l.console.Style(l.console.Out) }
	defer func() { foot.Erase(style().Width) }()
	redraws := l.console.Output != "json" && !l.console.Verbose && l.console.MovesCursor(l.console.Out)
	var outputs []agent.LiveOutput
	n := 0
	for {
		select {
		case err := <-ended:
			running = false
			return err
		case entry := <-entries:
			if !l.visibility.Shows(entry) {
				break
			}
			outputs = agent.AddOutput(outputs, entry)
			if entry.Run == nil && entry.Output == nil {
				n++
			}
			if entry.Output != nil && l.console.Output == "json" || n > l.shown {
				l.shown = max(l.shown, n)
				foot.Erase(style().Width)
				if err := l.printEntry(entry); err != nil {
					return err
				}
			}
		case <-redraw.C:
		}
		if redraws {
			s := style()
			foot.Draw(s.Width, footLines(outputs, conn.Now()), s)
		}
	}
}

// Limits for the area below the entries: it must not be higher than a terminal.
const (
	mostFootCalls = 4
	mostFootLines = 6 // lines of output of all calls
)

// footLines returns the newest lines of the calls that started last.
func footLines(outputs []agent.LiveOutput, now time.Time) []string {
	outputs = outputs[max(0, len(outputs)-mostFootCalls):]
	var lines []string
	for _, liveOutput := range outputs {
		liveOutput.Lines = liveOutput.Lines[max(0, len(liveOutput.Lines)-mostFootLines/len(outputs)):]
		lines = append(lines, liveOutput.RenderLines(now)...)
	}
	return lines
}

func (l *logFollower) printEntry(entry agent.TranscriptEntry) (err error) {
	if l.console.Output == "json" {
		return l.console.PrintJSON(l.console.Out, struct {
			SchemaVersion int           `json:"schema_version"`
			Run           company.RunID `json:"run"`
			agent.TranscriptEntry
		}{1, l.run, entry})
	}
	_, err = fmt.Fprint(l.console.Out, entry.RenderText(MostLines(l.console.Verbose)))
	return err
}
