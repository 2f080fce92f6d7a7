package console

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"company/internal/screen"
)

const (
	// streamPatience is how long a write waits for a reader that takes nothing: a terminal
	// that is held (Ctrl-S), the other end of a connection that hangs.
	streamPatience = time.Second
	// maxUnread is how many bytes of stderr wait for such a reader.
	maxUnread = 1 << 20
)

// Stdout is stdout. It remembers the first write that went wrong, so that
// a command whose result was lost does not end with success. Nothing of a text that
// it gets steers a terminal, and a reader that takes nothing does not keep the process from its end.
type Stdout struct {
	W io.Writer
	// Ended is closed when the process is to end: from then on a write waits for a second.
	// Nil: it never is.
	Ended <-chan struct{}
	Err   error

	guard outputGuard
}

// Write writes, unless a write went wrong before.
func (r *Stdout) Write(p []byte) (int, error) {
	if r.Err != nil {
		return 0, r.Err
	}
	text := r.guard.escapeOutput(r.W, p)
	if _, isFile := r.W.(*os.File); !isFile || r.Ended == nil {
		_, r.Err = r.W.Write(text)
	} else {
		r.Err = screen.WriteUntil(r.W, text, r.Ended)
	}
	if r.Err != nil {
		return 0, r.Err
	}
	return len(p), nil
}

// Stderr is stderr. A reader that takes nothing holds up nobody: what it leaves waits in
// memory, and beyond maxUnread it is left out, which a line says once it reads again. Nothing
// of a text that it gets steers a terminal. It is for concurrent use.
type Stderr struct {
	W io.Writer

	mu      sync.Mutex
	guard   outputGuard
	unread  []byte        // of writes that were not taken yet
	left    int           // bytes that are left out
	stalled bool          // a write waited in vain, and its text is not taken yet
	taken   chan struct{} // closed when nothing waits any more, which nil says, too
}

// Write hands a text over, and waits for the reader as long as that is patient.
func (e *Stderr) Write(p []byte) (int, error) {
	e.mu.Lock()
	text := e.guard.escapeOutput(e.W, p)
	if _, isFile := e.W.(*os.File); !isFile {
		defer e.mu.Unlock()
		_, err := e.W.Write(text)
		return len(p), err
	}
	if len(e.unread)+len(text) > maxUnread {
		e.left += len(text)
	} else {
		e.unread = append(e.unread, text...)
	}
	if e.taken == nil {
		e.taken = make(chan struct{})
		go e.passOn()
	}
	taken, stalled := e.taken, e.stalled
	e.mu.Unlock()
	if !stalled && !e.awaitTaken(taken) {
		e.mu.Lock()
		e.stalled = e.taken != nil
		e.mu.Unlock()
	}
	return len(p), nil // a stderr that is closed was closed on purpose
}

// Flush waits for the reader once more, as long as that is patient. It is called at the end of
// the process.
func (e *Stderr) Flush() {
	e.mu.Lock()
	taken := e.taken
	e.mu.Unlock()
	if taken != nil {
		e.awaitTaken(taken)
	}
}

func (e *Stderr) awaitTaken(taken <-chan struct{}) bool {
	t := time.NewTimer(streamPatience)
	defer t.Stop()
	select {
	case <-taken:
		return true
	case <-t.C:
		return false
	}
}

// passOn writes what waits, until nothing does.
func (e *Stderr) passOn() {
	for {
		e.mu.Lock()
		text := e.unread
		if e.unread = nil; e.left > 0 && len(text) == 0 {
			text, e.left = fmt.Appendf(nil, "[%d bytes are not shown: nobody read them in time]\n", e.left), 0
		}
		if len(text) == 0 {
			e.stalled = false
			close(e.taken)
			e.taken = nil
			e.mu.Unlock()
			return
		}
		e.mu.Unlock()
		_, _ = e.W.Write(text) // see Write
	}
}

// outputGuard is the last check of a text on its way to a terminal. The texts that it gets are
// escaped already. The zero value is ready.
type outputGuard struct {
	half []byte // of a character that the next write goes on with
}

// escapeOutput returns the bytes to write for p: on a terminal the escaped ones, elsewhere p itself.
func (g *outputGuard) escapeOutput(w io.Writer, p []byte) []byte {
	if !IsTerminal(w) {
		return p
	}
	text := append(g.half, p...)
	g.half = nil
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				g.half = append(g.half, end...)
				text = text[:len(text)-n]
			}
			break
		}
	}
	return []byte(screen.Guard(string(text)))
}

// FileOf is the file behind a stream of this process, for a program that gets the terminal; w
// itself where there is none.
func FileOf(w io.Writer) io.Writer {
	switch s := w.(type) {
	case *Stdout:
		return s.W
	case *Stderr:
		return s.W
	}
	return w
}
