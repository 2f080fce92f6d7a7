package toolserver

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"unicode/utf8"

	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// capture keeps the head and the tail of an output stream as a terminal shows it, and writes all of it to the command's
// log.
type capture struct {
	mu     sync.Mutex
	log    *logFile
	screen *safetext.Screen
}

func newCapture(log *logFile) *capture {
	return &capture{log: log, screen: safetext.NewScreen(toolproto.OutputHead, toolproto.OutputTail)}
}

// Write never fails: a full disk must not look like a failure of the command.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log.write(p)
	return c.screen.Write(p)
}

func (c *capture) toOutput() toolproto.Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	head, tail, omitted := c.screen.HeadTail()
	if omitted == 0 {
		// Join the parts, so that a character at the border stays whole.
		return toolproto.Output{Head: head + tail}
	}
	return toolproto.Output{Head: head, Omitted: omitted, Tail: tail}
}

// logFile stores a command's output in order of arrival, up to MaxLog bytes. It creates the file with the first byte,
// because many commands print no output.
type logFile struct {
	path   string
	mu     sync.Mutex
	f      *os.File // nil before the first write and after close
	closed bool
	n      int64
	recent *safetext.Screen // newest output; nil before the first write
	seen   int64            // total bytes
}

func (l *logFile) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen += int64(len(p))
	if l.recent == nil {
		l.recent = safetext.NewScreen(0, toolproto.LiveBytes)
	}
	_, _ = l.recent.Write(p)
	if l.closed || len(p) == 0 {
		return
	}
	if l.f == nil {
		var err error
		if l.f, err = os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			l.closed = true // a full disk affects the log, but never the command
			return
		}
	}
	if room := toolproto.MaxLog - l.n; int64(len(p)) > room {
		p = p[:room]
	}
	n, _ := l.f.Write(p)
	l.n += int64(n)
}

// readRecent returns the newest output as a terminal shows it, starting at a whole character, and the total number of
// bytes.
func (l *logFile) readRecent() (recent string, seen int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.recent == nil {
		return "", 0
	}
	_, recent, _ = l.recent.HeadTail()
	for recent != "" && !utf8.RuneStart(recent[0]) {
		recent = recent[1:]
	}
	return recent, l.seen
}

func (l *logFile) bytesWritten() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.f != nil {
		_ = l.f.Close()
		l.f = nil
	}
}

func (l *logFile) closeAndRemove() {
	l.close()
	_ = os.Remove(l.path)
}

func (l *logFile) copy(w io.Writer) error {
	file, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no output was printed
	}
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, io.LimitReader(file, toolproto.MaxLog))
	return err
}
