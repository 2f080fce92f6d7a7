package terminalio

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"company/internal/present/termtext"
)

const (
	// streamPatience limits the wait for a reader that stopped reading: a paused terminal (Ctrl-S),
	// or a connection that hangs.
	streamPatience = time.Second
	// maxUnread limits the bytes of stderr kept in memory for such a reader.
	maxUnread = 1 << 20
)

// Stdout wraps stdout. It remembers the first failed write, so that a command with a lost result
// cannot succeed. It escapes text on a terminal. A reader that stopped reading does not keep the
// process from ending.
type Stdout struct {
	W io.Writer
	// Ended is closed when the process must end. Writes then wait for at most a second. A nil Ended
	// means never.
	Ended <-chan struct{}
	Err   error

	guard outputGuard
}

// Write writes p unless an earlier write failed.
func (r *Stdout) Write(p []byte) (int, error) {
	if r.Err != nil {
		return 0, r.Err
	}
	text := r.guard.escapeOutput(r.W, p)
	if _, isFile := r.W.(*os.File); !isFile || r.Ended == nil {
		_, r.Err = r.W.Write(text)
	} else {
		r.Err = termtext.WriteUntil(r.W, text, r.Ended)
	}
	if r.Err != nil {
		return 0, r.Err
	}
	return len(p), nil
}

// Stderr wraps stderr. A reader that stopped reading does not block writers: unread text is kept
// in memory up to maxUnread. The rest is dropped, and a line reports that later. It escapes text
// on a terminal. It is safe for concurrent use.
type Stderr struct {
	W io.Writer

	mu      sync.Mutex
	guard   outputGuard
	unread  []byte        // text that was not written yet
	left    int           // number of dropped bytes
	stalled bool          // a write timed out and its text is not written yet
	taken   chan struct{} // closed when no text is pending (nil means the same)
}

// Write queues p and waits for the reader for a limited time.
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
	return len(p), nil // a closed stderr was closed on purpose
}

// Flush waits for the reader once more, for a limited time. It is called at the end of the
// process.
func (e *Stderr) Flush() {
	e.mu.Lock()
	taken := e.taken
	e.mu.Unlock()
	if taken != nil {
		e.awaitTaken(taken)
	}
}

func (e *Stderr) awaitTaken(taken <-chan struct{}) bool {
	timer := time.NewTimer(streamPatience)
	defer timer.Stop()
	select {
	case <-taken:
		return true
	case <-timer.C:
		return false
	}
}

// passOn writes pending text until there is none.
func (e *Stderr) passOn() {
	for {
		e.mu.Lock()
		text := e.unread
		if e.unread = nil; e.left > 0 && len(text) == 0 {
			text, e.left = fmt.Appendf(nil, "[%d bytes are not shown: they were not read in time]\n", e.left), 0
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

// outputGuard is the last check of text on its way to a terminal. Its input is escaped already.
// The zero value is ready to use.
type outputGuard struct {
	half []byte // start of a character that the next write continues
}

// escapeOutput returns the bytes to write for p: escaped for a terminal, otherwise unchanged.
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
	return []byte(termtext.Guard(string(text)))
}

// FileOf returns the stream under a Stdout or Stderr, for a program that uses the terminal. It
// returns other writers unchanged.
func FileOf(w io.Writer) io.Writer {
	switch s := w.(type) {
	case *Stdout:
		return s.W
	case *Stderr:
		return s.W
	}
	return w
}
