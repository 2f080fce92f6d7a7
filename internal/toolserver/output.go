package toolserver

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"unicode/utf8"

	"company/internal/toolproto"
)

// capture keeps the head and the tail of one output, and passes all of it on
// to the command's log.
type capture struct {
	mu    sync.Mutex
	log   *logFile // nil: not known yet
	head  []byte
	tail  []byte // up to twice OutputTail, so that it is moved seldom
	total int64
}

// Write never fails: a full disk must not look like a command's own failure.
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

// writeTo gives the output its log. What has come so far goes there first.
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
		// One piece, so that a character on the border stays whole.
		out.Head = string(c.head) + string(tail)
		return out
	}
	out.Head, out.Tail = string(c.head), string(tail)
	return out
}

func (c *capture) omittedBytes() int64 { return c.toOutput().Omitted }

// logFile is a command's whole output in order of arrival, up to MaxLog. The file is
// made with the first byte: many commands print nothing.
type logFile struct {
	path   string
	mu     sync.Mutex
	f      *os.File // nil: nothing was written, or it is closed
	closed bool
	n      int64
	recent []byte // the newest, up to twice LiveBytes, so that it is moved seldom
	seen   int64  // bytes ever
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
			l.closed = true // a full disk costs the log, and never the command
			return
		}
	}
	if room := toolproto.MaxLog - l.n; int64(len(p)) > room {
		p = p[:room]
	}
	n, _ := l.f.Write(p)
	l.n += int64(n)
}

// readRecent is what came last, from the start of a character on, and how many bytes came
// ever.
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
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was printed
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, io.LimitReader(f, toolproto.MaxLog))
	return err
}
