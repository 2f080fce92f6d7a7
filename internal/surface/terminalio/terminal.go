package terminalio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"company/internal/lib/safetext"
	"company/internal/present/feed"
)

// CanPrompt reports whether the terminal can ask a person.
func (con *Console) CanPrompt() bool {
	return !con.NoInput && con.Output == "text" && IsTerminal(con.In) && IsTerminal(con.Err) && inForeground(con.In)
}

// AnswerFromTerminal reads answers from the session's terminal, if there is one. It is for a stdin
// that has been read while the person is still there.
func (con *Console) AnswerFromTerminal() {
	if con.NoInput || IsTerminal(con.In) || !IsTerminal(con.Err) {
		return
	}
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0); err == nil {
		con.In = tty // stays open until the process ends
	}
}

// inForeground reports whether this process may read the terminal. A background process that reads
// it would be stopped while it holds the office.
func inForeground(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	group, err := unix.IoctlGetInt(int(file.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // not the terminal of our session, so reading it is safe
}

// IsPiped reports whether stdin is a file or another program's output. It is false for the
// terminal and /dev/null.
func IsPiped(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return in != nil
	}
	info, err := file.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// IsTerminal asks the kernel, because /dev/null is a character device, too.
func IsTerminal(v any) bool {
	if w, ok := v.(io.Writer); ok {
		v = FileOf(w)
	}
	file, ok := v.(*os.File)
	if !ok {
		return false
	}
	return term.IsTerminal(int(file.Fd()))
}

// Keyboard reads typed lines.
type Keyboard struct {
	in      io.Reader
	lines   *bufio.Reader
	pending chan typedLine // result of a running read, nil without one
}

type typedLine struct {
	text string
	err  error
}

// Input is what a wait for a typed line ended with. If nothing was typed, the line is still awaited: the next call of
// ReadLine waits for it.
type Input struct {
	Text  string
	Typed bool       // a line was typed, or the keyboard failed
	Err   error      // failure of the keyboard
	Item  *feed.Item // item of the feed that came first
}

// ReadLine waits for a line, until done is closed, again ticks or an item comes.
func (k *Keyboard) ReadLine(done <-chan struct{}, again <-chan time.Time, items <-chan feed.Item) Input {
	if k.lines == nil {
		k.lines = bufio.NewReader(k.in)
	}
	if k.pending == nil {
		ch := make(chan typedLine, 1)
		k.pending = ch
		go func() { // ends with the line, the terminal or the process
			s, err := k.lines.ReadString('\n')
			ch <- typedLine{strings.TrimSpace(safetext.Escape(s)), err}
		}()
	}
	select {
	case t := <-k.pending:
		k.pending = nil
		return Input{Text: t.text, Typed: true, Err: t.err}
	case item := <-items:
		return Input{Item: &item}
	case <-done:
	case <-again:
	}
	return Input{}
}

// PromptLine prints a prompt and waits for a line typed after it.
func (con *Console) PromptLine(ctx context.Context, prompt string) (string, error) {
	keys := con.FreshKeyboard()
	fmt.Fprint(con.Err, prompt)
	input := keys.ReadLine(ctx.Done(), nil, nil)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return input.Text, input.Err
}

// Confirm prints a prompt and reports whether the person typed y or yes.
func (con *Console) Confirm(ctx context.Context, prompt string) (bool, error) {
	word, err := con.PromptLine(ctx, prompt)
	return err == nil && IsYes(word), err
}

// IsYes reports whether a line is y or yes.
func IsYes(line string) bool {
	word := strings.ToLower(line)
	return word == "y" || word == "yes"
}

// FreshKeyboard returns the keyboard after dropping all pending input.
func (con *Console) FreshKeyboard() *Keyboard {
	if con.keyboard == nil {
		con.keyboard = &Keyboard{in: con.In}
	}
	con.keyboard.dropPending()
	return con.keyboard
}

// dropPending drops input typed before a question, so that it cannot answer it.
func (k *Keyboard) dropPending() {
	if f, ok := k.in.(*os.File); ok {
		_ = flushInput(int(f.Fd())) // pending input would be read as an answer
	}
	if k.pending != nil {
		select {
		case <-k.pending:
			k.pending = nil
		default:
			return // the read waits for new input
		}
	}
	if k.lines != nil {
		_, _ = k.lines.Discard(k.lines.Buffered()) // discards only buffered bytes
	}
}
