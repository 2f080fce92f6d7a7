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
	"time"

	tea "charm.land/bubbletea/v2"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
	"company/internal/present/view"
)

// Options holds the settings of the UI.
type Options struct {
	In, Out *os.File       // the terminal
	Environ []string       // environment of the process
	Color   bool           // use colours
	Task    company.TaskID // task shown first, empty for the overview
	Refresh time.Duration  // interval at which the office is read if no event comes
}

// Run shows an office on a terminal until the user quits, or ctx ends. It returns the cause of ctx
// then.
func Run(ctx context.Context, entrance Entrance, options Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d := &desk{ctx: ctx, entrance: entrance, out: options.Out}
	m := newModel(d, options.Color, options.Task)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(options.In),
		tea.WithOutput(&endingScreen{file: options.Out, ended: ctx.Done()}), tea.WithEnvironment(options.Environ),
		tea.WithoutSignalHandler())
	d.feeder = newFeeder(entrance, func(s snapshotMsg) { p.Send(s) })
	d.feeder.refresh = options.Refresh
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

// endingScreen writes to the terminal of the UI. A terminal that stopped reading does not keep the
// UI from ending.
type endingScreen struct {
	file  *os.File
	ended <-chan struct{}
	gone  atomic.Bool
}

func (s *endingScreen) Read(p []byte) (int, error) { return s.file.Read(p) }

// Close does nothing, because the process still needs the terminal.
func (*endingScreen) Close() error { return nil }

// Fd returns the terminal's descriptor, for its size and mode.
func (s *endingScreen) Fd() uintptr { return s.file.Fd() }

// Write writes to the terminal. It gives up on a blocked terminal once the UI ends.
func (s *endingScreen) Write(p []byte) (int, error) {
	if s.gone.Load() {
		return 0, os.ErrClosed
	}
	if err := termtext.WriteUntil(s.file, p, s.ended); err != nil {
		s.gone.Store(true)
		return 0, err
	}
	return len(p), nil
}

// errQuit is the cause of cancelled reads when the user quits.
var errQuit = errors.New("tui: the user quits")

// desk implements deskOffice.
type desk struct {
	*feeder
	ctx      context.Context // of the program
	entrance Entrance
	out      *os.File // terminal for other programs
}

// withOffice calls do with the followed office, or connects to the office for the call.
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

func (d *desk) sendCommand(command company.Command, done string) tea.Cmd {
	return func() tea.Msg {
		err := d.withOffice(func(office *client.Office) error {
			_, err := office.Do(d.ctx, "", command)
			return err
		})
		if task, ok := continuedTask(command); ok && err == nil {
			err = d.entrance.GoOn(d.ctx, task)
		}
		return makeResult(done, err)
	}
}

// continuedTask returns the task that a command may let continue, or "" for all tasks. ok is false for other
// commands.
func continuedTask(command company.Command) (task company.TaskID, ok bool) {
	switch c := command.(type) {
	case company.Pause:
		return c.Task, c.Off
	case company.RaiseBudget:
		return c.Task, true
	case company.Resume:
		return "", true
	}
	return "", false
}

func (d *desk) sendAnswer(answer company.Answer, task company.TaskID, confirmed bool) tea.Cmd {
	return func() tea.Msg {
		var out tea.Msg
		err := d.withOffice(func(office *client.Office) error {
			if !confirmed {
				all, err := office.EndedBy(d.ctx, task, answer)
				if err != nil {
					return err
				}
				if all != "" {
					out = endsMsg{answer: answer, task: task, all: all}
					return nil
				}
			}
			if _, err := office.Do(d.ctx, "", answer); err != nil {
				return err
			}
			approval, err := office.Approval(d.ctx, answer.Approval)
			if err != nil {
				return err
			}
			progress, err := office.AskerProgress(d.ctx, task)
			if err == nil {
				out = makeResult(view.AnsweredText(approval, *progress), nil)
			}
			return err
		})
		if _, ends := out.(endsMsg); err == nil && !ends && task != "" {
			err = d.entrance.GoOn(d.ctx, task)
		}
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

// runCommand leaves the screens to run a command, and waits until the person has read its output.
func (d *desk) runCommand(args ...string) tea.Cmd {
	cmd, err := d.entrance.Program(args...)
	if err != nil {
		return func() tea.Msg { return makeResult("", err) }
	}
	cmd.Stdout, cmd.Stderr = d.out, d.out
	return tea.Exec(&pausingProgram{Cmd: cmd}, func(err error) tea.Msg {
		d.wakeReader()
		if err != nil {
			return resultMsg{text: "company " + strings.Join(args, " ") + " failed", bad: true}
		}
		return resultMsg{text: "company " + strings.Join(args, " ") + " is done"}
	})
}

// pausingProgram is a program on the terminal. It waits for Enter at its end, so that the person
// can read its output.
type pausingProgram struct{ *exec.Cmd }

// SetStdin sets the keyboard input. The other streams use the terminal already.
func (p *pausingProgram) SetStdin(r io.Reader) { p.Stdin = r }
func (*pausingProgram) SetStdout(io.Writer)    {}
func (*pausingProgram) SetStderr(io.Writer)    {}

// Run runs the program and waits for Enter.
func (p *pausingProgram) Run() error {
	err := p.Cmd.Run()
	fmt.Fprint(p.Stdout, "\nEnter goes back to company watch ")
	_, _ = bufio.NewReader(p.Stdin).ReadString('\n') // the end of input counts as Enter, too
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

// makeResult returns the result of a command as one line.
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
