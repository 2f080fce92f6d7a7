package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"company/internal/client"
	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
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
	d := &desk{ctx: ctx, entrance: e, out: o.Out}
	m := newModel(d, o.Color, o.Task)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(&endingScreen{file: o.Out, ended: ctx.Done()}), tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler())
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

// endingScreen is the terminal of the screens. One that takes nothing does not keep them from
// their end.
type endingScreen struct {
	file  *os.File
	ended <-chan struct{}
	gone  atomic.Bool
}

func (s *endingScreen) Read(p []byte) (int, error) { return s.file.Read(p) }

// Close leaves the terminal to the process.
func (*endingScreen) Close() error { return nil }

// Fd is the terminal itself, to measure and to set.
func (s *endingScreen) Fd() uintptr { return s.file.Fd() }

// Write writes, as long as the terminal takes something or the screens go on.
func (s *endingScreen) Write(p []byte) (int, error) {
	if s.gone.Load() {
		return 0, os.ErrClosed
	}
	if err := screen.WriteUntil(s.file, p, s.ended); err != nil {
		s.gone.Store(true)
		return 0, err
	}
	return len(p), nil
}

// errQuit ends the reads when the user quits.
var errQuit = errors.New("tui: the user quits")

// desk is the office behind the screens.
type desk struct {
	*feeder
	ctx      context.Context // of the program
	entrance Entrance
	out      *os.File // the terminal, which other programs get
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

func (d *desk) retryTask(id company.TaskID) tea.Cmd {
	return func() tea.Msg {
		defer d.wakeReader()
		return makeResult(fmt.Sprintf("%s is reopened", id), d.entrance.Retry(d.ctx, id))
	}
}

func (d *desk) readPull(number int) tea.Cmd {
	return func() tea.Msg {
		text, err := d.entrance.ReadPull(d.ctx, number, view.Style{})
		return pullMsg{number: number, text: text, err: err}
	}
}

// runCommand leaves the screens for a command, and stays there until the person has read
// what it printed.
func (d *desk) runCommand(args ...string) tea.Cmd {
	cmd, err := d.entrance.Program(args...)
	if err != nil {
		return func() tea.Msg { return makeResult("", err) }
	}
	cmd.Stdout, cmd.Stderr = d.out, d.out
	return tea.Exec(&pausingProgram{Cmd: cmd}, func(err error) tea.Msg {
		d.wakeReader()
		if err != nil {
			return resultMsg{text: "company " + strings.Join(args, " ") + " did not do it", bad: true}
		}
		return resultMsg{text: "company " + strings.Join(args, " ") + " is done"}
	})
}

// pausingProgram is a program that has the terminal. Enter ends it once more, so that what it
// printed can be read.
type pausingProgram struct{ *exec.Cmd }

// SetStdin gives it the keys. Its other streams are the terminal already.
func (p *pausingProgram) SetStdin(r io.Reader) { p.Stdin = r }
func (*pausingProgram) SetStdout(io.Writer)    {}
func (*pausingProgram) SetStderr(io.Writer)    {}

// Run runs the program, and waits for Enter.
func (p *pausingProgram) Run() error {
	err := p.Cmd.Run()
	fmt.Fprint(p.Stdout, "\nEnter goes back to company watch ")
	_, _ = bufio.NewReader(p.Stdin).ReadString('\n') // its end is an Enter, too
	return err
}

func (d *desk) editText(text string) tea.Cmd {
	cmd, read, err := d.entrance.EditText(text)
	if err != nil {
		return func() tea.Msg { return editedMsg{err: err} }
	}
	cmd.Stdout, cmd.Stderr = d.out, d.out
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		written, err := read(err)
		return editedMsg{text: written, err: err}
	})
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
