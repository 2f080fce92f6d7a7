package console

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

	"company/internal/safetext"
)

// CanPrompt says whether a person can be asked on the terminal.
func (con *Console) CanPrompt() bool {
	return !con.NoInput && con.Output == "text" && IsTerminal(con.In) && IsTerminal(con.Err) && inForeground(con.In)
}

// AnswerFromTerminal has questions answered at the terminal of the session,
// where there is one: stdin has been read, and the person is still there.
func (con *Console) AnswerFromTerminal() {
	if con.NoInput || IsTerminal(con.In) || !IsTerminal(con.Err) {
		return
	}
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0); err == nil {
		con.In = tty // open until the process ends
	}
}

// inForeground says whether this process may read the terminal: one that the
// shell has put into the background would be stopped by that while it holds the
// office.
func inForeground(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // not the terminal of our session: reading it is safe
}

// IsPiped says whether stdin is another program's output or a file, not the terminal nor
// /dev/null.
func IsPiped(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return in != nil
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// IsTerminal asks the kernel: /dev/null is a character device, too.
func IsTerminal(v any) bool {
	if w, ok := v.(io.Writer); ok {
		v = FileOf(w)
	}
	f, ok := v.(*os.File)
	if !ok {
		return false
	}
	return term.IsTerminal(int(f.Fd()))
}

// Keyboard is what a person types, a line at a time.
type Keyboard struct {
	in      io.Reader
	lines   *bufio.Reader
	pending chan typedLine // of a read that is under way; nil: there is none
}

type typedLine struct {
	text string
	err  error
}

// ReadLine waits for a line. A wait that is given up leaves the read under way: the
// next wait goes on with it.
func (k *Keyboard) ReadLine(done <-chan struct{}, again <-chan time.Time) (text string, got bool, err error) {
	if k.lines == nil {
		k.lines = bufio.NewReader(k.in)
	}
	if k.pending == nil {
		ch := make(chan typedLine, 1)
		k.pending = ch
		go func() { // it ends with the line, with the terminal, or with the process
			s, err := k.lines.ReadString('\n')
			ch <- typedLine{strings.TrimSpace(safetext.Escape(s)), err}
		}()
	}
	select {
	case t := <-k.pending:
		k.pending = nil
		return t.text, true, t.err
	case <-done:
	case <-again:
	}
	return "", false, nil
}

// PromptLine prompts and waits for a line that is typed after that.
func (con *Console) PromptLine(ctx context.Context, prompt string) (string, error) {
	keys := con.FreshKeyboard()
	fmt.Fprint(con.Err, prompt)
	text, _, err := keys.ReadLine(ctx.Done(), nil)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return text, err
}

// Confirm prompts, and says whether the person typed y or yes.
func (con *Console) Confirm(ctx context.Context, prompt string) (bool, error) {
	word, err := con.PromptLine(ctx, prompt)
	return err == nil && IsYes(word), err
}

// IsYes says whether a line is y or yes.
func IsYes(line string) bool {
	word := strings.ToLower(line)
	return word == "y" || word == "yes"
}

// FreshKeyboard is the keyboard, with nothing on it that was typed before.
func (con *Console) FreshKeyboard() *Keyboard {
	if con.keyboard == nil {
		con.keyboard = &Keyboard{in: con.In}
	}
	con.keyboard.dropPending()
	return con.keyboard
}

// dropPending drops input from before a question: it answers nothing.
func (k *Keyboard) dropPending() {
	if f, ok := k.in.(*os.File); ok {
		_ = flushInput(int(f.Fd())) // pending input would be read as an answer
	}
	if k.pending != nil {
		select {
		case <-k.pending:
			k.pending = nil
		default:
			return // it waits for input from now on
		}
	}
	if k.lines != nil {
		_, _ = k.lines.Discard(k.lines.Buffered()) // no more than there is
	}
}
