package hosttest

import (
	"testing"
	"time"
)

// patience is how long Eventually waits. It is for a machine that is busy, and no measure.
const patience = 2 * time.Minute

// Eventually waits until ok reports that it is done. ok also returns the state that it saw. If it is never done, the
// test fails with what and the last state. It is for what tells nobody when it happens, such as a file or a process of
// others: a goroutine or a server of the test itself can say so on a channel.
func Eventually(t testing.TB, what string, ok func() (state any, done bool)) {
	t.Helper()
	if state, done := WaitUntil(ok); !done {
		t.Fatalf("%s: not after %s. Last seen: %v", what, patience, state)
	}
}

// WaitUntil is Eventually for a goroutine other than the test's, which may not end the test.
func WaitUntil(ok func() (state any, done bool)) (state any, done bool) {
	pause := time.Millisecond
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		if state, done = ok(); done || time.Now().After(end) {
			return state, done
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
}
