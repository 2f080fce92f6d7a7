package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	tea "charm.land/bubbletea/v2"

	"company/internal/client"
	"company/internal/company"
	"company/internal/safetext"
	"company/internal/view"
)

// Options are what the screens are shown with.
type Options struct {
	In, Out *os.File       // the terminal
	Environ []string       // of the process
	Color   bool           // the terminal shows colours
	Task    company.TaskID // that is shown first; empty: the overview
}

// Run shows an office on a terminal until its user quits, or ctx ends, whose cause it
// returns then.
func Run(ctx context.Context, e Entrance, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d := &desk{ctx: ctx, entrance: e}
	m := newModel(d, o.Color, o.Task)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler())
	d.feeder = newFeeder(e, func(s snapshotMsg) { p.Send(s) })
	var reading sync.WaitGroup
	reading.Go(func() { d.feedScreens(ctx) })
	_, err := p.Run()
	ended := context.Cause(ctx)
	cancel(errQuit)
	reading.Wait()
	switch {
	case ended != nil:
		return ended
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("show the screens: %w", err)
	}
	return nil
}

// errQuit ends the reads when the user quits.
var errQuit = errors.New("tui: the user quits")

// desk is the office behind the screens.
type desk struct {
	*feeder
	ctx      context.Context // of the program
	entrance Entrance
}

// withOffice gives the office that is followed, or one that is connected to for this.
func (d *desk) withOffice(do func(*client.Office) error) error {
	d.mu.Lock()
	office := d.office
	d.mu.Unlock()
	if office == nil {
		var err error
		if office, err = d.entrance.Connect(d.ctx); err != nil {
			return err
		}
		defer office.Close()
	}
	defer d.wakeReader()
	return do(office)
}

func (d *desk) sendCommand(c company.Command, done string) tea.Cmd {
	return func() tea.Msg {
		err := d.withOffice(func(office *client.Office) error {
			_, err := office.Do(d.ctx, "", c)
			return err
		})
		return makeResult(done, err)
	}
}

func (d *desk) sendAnswer(a company.Answer, task company.TaskID, confirmed bool) tea.Cmd {
	return func() tea.Msg {
		var out tea.Msg
		err := d.withOffice(func(office *client.Office) error {
			if !confirmed {
				all, err := office.EndedBy(d.ctx, task, a)
				if err != nil {
					return err
				}
				if all != "" {
					out = endsMsg{answer: a, task: task, all: all}
					return nil
				}
			}
			if _, err := office.Do(d.ctx, "", a); err != nil {
				return err
			}
			q, err := office.Approval(d.ctx, a.Approval)
			if err != nil {
				return err
			}
			t, err := office.AskerProgress(d.ctx, task)
			if err == nil {
				out = makeResult(view.AnsweredText(q, *t), nil)
			}
			return err
		})
		if err != nil {
			return makeResult("", err)
		}
		return out
	}
}

func (d *desk) submitTask(instruction string) tea.Cmd {
	return func() tea.Msg {
		defer d.wakeReader()
		task, err := d.entrance.Submit(d.ctx, view.Submission{Instruction: instruction})
		if err != nil {
			return makeResult("", err)
		}
		return submittedMsg{task}
	}
}

// makeResult is what became of a command, in a line.
func makeResult(done string, err error) resultMsg {
	if err == nil {
		return resultMsg{text: safetext.EscapeLine(done, 300)}
	}
	text := err.Error()
	if e := new(company.Error); errors.As(err, &e) && e.Hint != "" {
		text += "; " + e.Hint
	}
	return resultMsg{text: safetext.EscapeLine(text, 300), bad: true}
}
