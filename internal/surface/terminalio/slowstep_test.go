package terminalio

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// A look that takes a while is said once; a quick one is not.
func TestNameSlowStep(t *testing.T) {
	for after, want := range map[time.Duration]string{0: "", progressDelay * 4: "company 1.2  looking ...\n"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			con := &Console{Err: &out, Output: "text"}
			done := con.NameSlowStep("company 1.2", "looking")
			time.Sleep(after)
			done()
			if out.String() != want {
				t.Errorf("after %s: %q", after, out.String())
			}
		})
	}
}
