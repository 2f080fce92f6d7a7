package gates

import (
	"fmt"
	"strings"
)

// How much of a check's output is kept, in bytes.
const (
	maxHeadBytes = 4 << 10
	maxTailBytes = 4 << 10
	maxLogBytes  = 10 << 20
)

// outputBuffer keeps what a check prints: the first maxLogBytes bytes of it for the
// blob, and the last maxTailBytes whatever came before, since that is where a
// failure is summed up. stdout and stderr come one after the other from one
// goroutine.
type outputBuffer struct {
	log   []byte
	tail  []byte
	total int64
}

// Write never fails: a failing writer would hold the container back.
func (o *outputBuffer) Write(p []byte) (int, error) {
	o.total += int64(len(p))
	o.log = append(o.log, p[:min(len(p), maxLogBytes-len(o.log))]...)
	if len(p) >= maxTailBytes {
		o.tail = append(o.tail[:0], p[len(p)-maxTailBytes:]...)
	} else {
		o.tail = append(o.tail, p...)
		o.tail = append(o.tail[:0], o.tail[max(0, len(o.tail)-maxTailBytes):]...)
	}
	return len(p), nil
}

// headAndTail is the head and the tail of the output.
func (o *outputBuffer) headAndTail() string {
	if o.total <= maxHeadBytes+maxTailBytes {
		return validUTF8(o.log)
	}
	return validUTF8(o.log[:maxHeadBytes]) + fmt.Sprintf("\n[… %d bytes left out …]\n", o.total-maxHeadBytes-maxTailBytes) + validUTF8(o.tail)
}

// validUTF8 is what can be shown of bytes that may have been cut within a rune.
func validUTF8(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
