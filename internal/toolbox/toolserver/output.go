package toolserver

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"unicode/utf8"

	"company/internal/toolbox/toolproto"
)

// capture keeps the head and the tail of an output stream, and writes all of it to the command's log.
type capture struct {
	mu    sync.Mutex
	log   *logFile // nil until writeTo
	head  []byte
	tail  []byte // up to twice OutputTail, so that it is rarely moved
	total int64
}

// Write never fails: a full disk must not look like a failure of the command.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.log != nil {
		c.log.write(p)
	}
	n := len(p)
	c.total += int64(n)
	if room := toolproto.OutputHead - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	if len(p) > toolproto.OutputTail {
		p = p[len(p)-toolproto.OutputTail:]
	}
	c.tail = append(c.tail, p...)
	if len(c.tail) > 2*toolproto.OutputTail {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-toolproto.OutputTail:]...)
	}
	return n, nil
}

// writeTo sets the log of the output. Earlier output is written to it first.
func (c *capture) writeTo(log *logFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = log
	if len(c.head) > 0 {
		log.write(c.head)
		log.write(c.tail)
	}
}

func (c *capture) toOutput() toolproto.Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.tail[max(0, len(c.tail)-toolproto.OutputTail):]
	out := toolproto.Output{Omitted: c.total - int64(len(c.head)+len(tail))}
	if out.Omitted == 0 {
		// Join the parts, so that a character at the border stays whole.
		out.Head = string(c.head) + string(tail)
		return out
	}
	out.Head, out.Tail = string(c.head), string(tail)
	return out
}

func (c *capture) omittedBytes() int64 { return c.toOutput().Omitted }

// logFile stores a command's output in order of arrival, up to MaxLog bytes. It creates the file with the first byte,
// because many commands print no output.
type logFile struct {
	path   string
	mu     sync.Mutex
	f      *os.File // nil before the first write and after close
	closed bool
	n      int64
	recent []byte // newest output, up to twice LiveBytes, so that it is rarely moved
	seen   int64  // total bytes
}

func (l *logFile) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen += int64(len(p))
	l.recent = append(l.recent, p[max(0, len(p)-toolproto.LiveBytes):]...)
	if len(l.recent) > 2*toolproto.LiveBytes {
		l.recent = append(l.recent[:0], l.recent[len(l.recent)-toolproto.LiveBytes:]...)
	}
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

// readRecent returns the newest output, starting at a whole character, and the total number of bytes.
func (l *logFile) readRecent() (recent string, seen int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := max(0, len(l.recent)-toolproto.LiveBytes)
	for from < len(l.recent) && !utf8.RuneStart(l.recent[from]) {
		from++
	}
	return string(l.recent[from:]), l.seen
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
