package gates

import (
	"fmt"
	"strings"

	"company/internal/lib/safetext"
)

// How many bytes of a check's output are kept.
const (
	maxHeadBytes = 4 << 10
	maxTailBytes = 4 << 10
	maxLogBytes  = 10 << 20
)

// outputBuffer keeps a check's output: the first maxLogBytes bytes for the blob, and the head and the tail as a
// terminal shows them. It is not safe for concurrent use; one goroutine writes stdout and stderr.
type outputBuffer struct {
	log    []byte
	screen *safetext.Screen
}

func newOutputBuffer() *outputBuffer {
	return &outputBuffer{screen: safetext.NewScreen(maxHeadBytes, maxTailBytes)}
}

// Write never fails, because a failing writer would block the container.
func (o *outputBuffer) Write(p []byte) (int, error) {
	o.log = append(o.log, p[:min(len(p), maxLogBytes-len(o.log))]...)
	return o.screen.Write(p)
}

// headAndTail returns the head and the tail of the output.
func (o *outputBuffer) headAndTail() string {
	head, tail, omitted := o.screen.HeadTail()
	if omitted == 0 {
		return validUTF8(head + tail)
	}
	return validUTF8(head) + fmt.Sprintf("\n[… %d bytes left out …]\n", omitted) + validUTF8(tail)
}

// validUTF8 returns valid text for text that may have been cut within a rune.
func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
