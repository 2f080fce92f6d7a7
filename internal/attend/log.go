package attend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"company/internal/agent"
	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/company"
	"company/internal/console"
	"company/internal/entrance"
	"company/internal/office"
	"company/internal/screen"
	"company/internal/view"
)

// logLines bounds the lines shown of one message or result, unless all of it is wanted.
const logLines = 12

// findRun is the run that an id names: the newest of a subtask or of a task.
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
		return nil, company.E(company.ENotFound, "no run of "+id+" has begun yet").Fix("company show " + id)
	}
	return run, nil
}

// ReadLog is the run that an id names, and its conversation: the transcript that is kept
// whole, else the one that its journal makes.
func ReadLog(ctx context.Context, conn *client.Office, paths office.Paths, id string) (company.RunID, agent.Transcript, error) {
	run, err := findRun(ctx, conn, id)
	if err != nil {
		return "", agent.Transcript{}, err
	}
	t, err := officeapp.ReadTranscriptFile(paths, run.ID)
	if err != nil { // it is not written yet, cannot be, or was cut by a power cut
		if made, merr := conn.ReadTranscript(ctx, run.ID); merr == nil || errors.Is(err, fs.ErrNotExist) {
			t, err = made, merr
		}
	}
	return run.ID, t, err
}

// MostLines is how many lines of one message or result are shown; verbose: all.
func MostLines(verbose bool) int {
	if verbose {
		return 1 << 30
	}
	return logLines
}

// FollowLog prints a run's conversation until the run ends, over the ends of companies
// and the starts of others. When ctx ends first it returns its cause.
func FollowLog(ctx context.Context, ent *entrance.Entrance, id string) error {
	l := &logFollower{console: ent.Console}
	for {
		conn, paths, err := ent.ConnectOnce(ctx)
		ended := false
		if err == nil {
			ended, err = l.followOnce(ctx, conn, id)
			conn.Close()
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && ended:
			return nil
		case err != nil && !client.IsFeedCut(err) && company.CodeOf(err) != company.EHeld:
			return err
		case err == nil:
			ent.Console.PrintNote("no company is at work on %s; it goes on with: company resume %s", l.run, l.run.Task())
		}
		if err := office.AwaitHolder(ctx, paths); err != nil {
			return err
		}
	}
}

// logFollower shows the conversation of one run, each entry once, however often it is
// read anew.
type logFollower struct {
	console *console.Console
	run     company.RunID
	shown   int
}

// followOnce shows what there is and, where a company is at work, what comes. It says
// whether the run has ended.
func (l *logFollower) followOnce(ctx context.Context, conn *client.Office, id string) (ended bool, err error) {
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
	err = l.followEntries(ctx, conn)
	return err == nil && (conn.IsServed() || run.Ended != nil), err
}

// followEntries shows the entries that were not shown before. On a terminal the output of
// the calls under way is drawn below them, anew in place, and taken away at the end.
func (l *logFollower) followEntries(ctx context.Context, conn *client.Office) error {
	ctx, cancel := context.WithCancel(ctx)
	entries, ended := make(chan agent.TranscriptEntry), make(chan error, 1)
	go func() {
		ended <- conn.StreamTranscript(ctx, l.run, true, func(e agent.TranscriptEntry) error {
			select {
			case entries <- e:
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
	foot := &screen.Area{Out: l.console.Out}
	style := func() screen.Style { return l.console.Style(l.console.Out) }
	defer func() { foot.Erase(style().Width) }()
	redraws := l.console.Output != "json" && !l.console.Verbose && l.console.MovesCursor(l.console.Out)
	var outputs []agent.LiveOutput
	n := 0
	for {
		select {
		case err := <-ended:
			running = false
			return err
		case e := <-entries:
			outputs = agent.AddOutput(outputs, e)
			if e.Run == nil && e.Output == nil {
				n++
			}
			if e.Output != nil && l.console.Output == "json" || n > l.shown {
				l.shown = max(l.shown, n)
				foot.Erase(style().Width)
				if err := l.printEntry(e); err != nil {
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

// Bounds of the foot: it must not be higher than a terminal.
const (
	mostFootCalls = 4
	mostFootLines = 6 // of output, of all calls
)

// footLines are the newest lines of the calls that began last.
func footLines(outputs []agent.LiveOutput, now time.Time) []string {
	outputs = outputs[max(0, len(outputs)-mostFootCalls):]
	var lines []string
	for _, o := range outputs {
		o.Lines = o.Lines[max(0, len(o.Lines)-mostFootLines/len(outputs)):]
		lines = append(lines, o.RenderLines(now)...)
	}
	return lines
}

func (l *logFollower) printEntry(e agent.TranscriptEntry) (err error) {
	if l.console.Output == "json" {
		return l.console.PrintJSON(l.console.Out, struct {
			SchemaVersion int           `json:"schema_version"`
			Run           company.RunID `json:"run"`
			agent.TranscriptEntry
		}{1, l.run, e})
	}
	_, err = fmt.Fprint(l.console.Out, e.RenderText(MostLines(l.console.Verbose)))
	return err
}
