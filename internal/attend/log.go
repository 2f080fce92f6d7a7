package attend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"company/internal/agent"
	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/company"
	"company/internal/console"
	"company/internal/entrance"
	"company/internal/office"
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
	n := 0
	err = conn.StreamTranscript(ctx, l.run, true, func(e agent.TranscriptEntry) error {
		if e.Run != nil {
			return nil
		}
		if n++; n <= l.shown {
			return nil
		}
		l.shown = n
		return l.printEntry(e)
	})
	return err == nil && (conn.IsServed() || run.Ended != nil), err
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
