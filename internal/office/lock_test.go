package office

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"company/internal/office/config/configtest"
)

// TestLockBesideOthers takes and gives back a lock while others look at it, and while
// processes are started that have a copy of every open file for a moment.
func TestLockBesideOthers(t *testing.T) {
	t.Parallel()
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	mustOpen(t, p)
	done := make(chan struct{})
	var others sync.WaitGroup
	for _, disturb := range []func(){
		func() { FindHolder(p) },
		func() { _ = exec.Command("true").Run() },
	} {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					disturb()
				}
			}
		})
	}
	for range 100 {
		l, held, err := TryLock(p)
		if err != nil || held != nil {
			t.Errorf("the lock is free: %+v %v", held, err)
			break
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	close(done)
	others.Wait()
}
