package gates

import (
	"fmt"
	"strings"
)

// How many bytes of a check's output are kept.
const (
	maxHeadBytes = 4 << 10
	maxTailBytes = 4 << 10
	maxLogBytes  = 10 << 20
)

// outputBuffer keeps a check's output: the first maxLogBytes bytes for the blob, and the last maxTailBytes bytes,
// because a failure is summed up there. It is not safe for concurrent use; one goroutine writes stdout and stderr.
type outputBuffer struct {
	log   []byte
	tail  []byte
	total int64
}

// Write never fails, because a failing writer would block the container.
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

// headAndTail returns the head and the tail of the output.
func (o *outputBuffer) headAndTail() string {
	if o.total <= maxHeadBytes+maxTailBytes {
		return validUTF8(o.log)
	}
	return validUTF8(o.log[:maxHeadBytes]) +
		fmt.Sprintf("\n[… %d bytes left out …]\n", o.total-maxHeadBytes-maxTailBytes) + validUTF8(o.tail)
}

// validUTF8 returns valid text for bytes that may have been cut within a rune.
func validUTF8(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
