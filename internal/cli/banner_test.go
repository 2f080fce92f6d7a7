package cli

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// A look that takes a while is said once; a quick one is not.
func TestWithProgress(t *testing.T) {
	for after, want := range map[time.Duration]string{0: "", progressDelay * 4: "company " + Version + "  looking ...\n"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{err: &out, output: "text"}
			done := a.withProgress("looking")
			time.Sleep(after)
			done()
			if out.String() != want {
				t.Errorf("after %s: %q", after, out.String())
			}
		})
	}
}
