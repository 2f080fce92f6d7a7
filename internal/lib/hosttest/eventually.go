package hosttest

import (
	"testing"
	"time"
)

// patience is how long Eventually waits. It is for a machine that is busy, and no measure.
const patience = 2 * time.Minute

// Eventually calls ok until it returns done. If that takes longer than patience, the test fails, and prints what it
// waited for and the state that ok returned last. Use it for what sends no event, such as a file or somebody else's
// process. A goroutine or a server of the test itself reports on a channel.
func Eventually(t testing.TB, what string, ok func() (state any, done bool)) {
	t.Helper()
	if state, done := WaitUntil(ok); !done {
		t.Fatalf("%s: not after %s. Last seen: %v", what, patience, state)
	}
}

// WaitUntil is Eventually for goroutines other than the test's, where t.Fatal is not allowed. The caller checks done.
func WaitUntil(ok func() (state any, done bool)) (state any, done bool) {
	pause := time.Millisecond
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		if state, done = ok(); done || time.Now().After(end) {
			return state, done
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
}
