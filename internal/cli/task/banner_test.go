package task

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"company/internal/cli/command"
)

// A look that takes a while is said once; a quick one is not.
func TestWithProgress(t *testing.T) {
	for after, want := range map[time.Duration]string{0: "", progressDelay * 4: "company " + command.Version + "  looking ...\n"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			env := &command.Environment{Err: &out, Output: "text"}
			done := withProgress(env, "looking")
			time.Sleep(after)
			done()
			if out.String() != want {
				t.Errorf("after %s: %q", after, out.String())
			}
		})
	}
}
