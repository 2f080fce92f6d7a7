package gates

import (
	"fmt"
	"strings"
	"testing"
)

// A check's output shows the last frame of a progress bar. Its log keeps all.
func TestOutputOfACheckHasOneFrame(t *testing.T) {
	out := newOutputBuffer()
	for round := range 2 {
		for i := range 3000 {
			fmt.Fprintf(out, "\r\x1b[K%4d of 3000 [=====>    ]", i+1)
		}
		fmt.Fprintf(out, "\nwarning %d: slow\n", round)
	}
	const want = "3000 of 3000 [=====>    ]\nwarning 0: slow\n3000 of 3000 [=====>    ]\nwarning 1: slow\n"
	if text := out.headAndTail(); text != want {
		t.Errorf("%.300q", text)
	}
	if log := string(out.log); strings.Count(log, "of 3000") != 6000 {
		t.Errorf("the log has %d frames", strings.Count(log, "of 3000"))
	}
	fmt.Fprintf(out, "%s\n", strings.Repeat("é", 10_000))
	if !strings.Contains(out.headAndTail(), " bytes left out …]\n") {
		t.Errorf("%.300q", out.headAndTail())
	}
}
