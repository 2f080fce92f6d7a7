package gates

import (
	"fmt"
	"strings"
)

// How much of a check's output is kept, in bytes.
const (
	keepHead = 4 << 10
	keepTail = 4 << 10
	keepLog  = 10 << 20
)

// output keeps what a check prints: the first keepLog bytes of it for the
// blob, and the last keepTail whatever came before, since that is where a
// failure is summed up. stdout and stderr come one after the other from one
// goroutine.
type output struct {
	log   []byte
	tail  []byte
	total int64
}

// Write never fails: a failing writer would hold the container back.
func (o *output) Write(p []byte) (int, error) {
	o.total += int64(len(p))
	o.log = append(o.log, p[:min(len(p), keepLog-len(o.log))]...)
	if len(p) >= keepTail {
		o.tail = append(o.tail[:0], p[len(p)-keepTail:]...)
	} else {
		o.tail = append(o.tail, p...)
		o.tail = append(o.tail[:0], o.tail[max(0, len(o.tail)-keepTail):]...)
	}
	return len(p), nil
}

// text is the head and the tail of the output.
func (o *output) text() string {
	if o.total <= keepHead+keepTail {
		return valid(o.log)
	}
	return valid(o.log[:keepHead]) + fmt.Sprintf("\n[… %d bytes left out …]\n", o.total-keepHead-keepTail) + valid(o.tail)
}

// valid is what can be shown of bytes that may have been cut within a rune.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
