package gitops

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// A lock keeps others out, and leaves nothing behind: not when it was let go of, and not
// when its turn was waited for in vain.
func TestRepoLocksAreForgotten(t *testing.T) {
	s := &Store{locks: map[string]*repoLock{}}
	inside, most := 0, 0
	var wg sync.WaitGroup
	for n := range 200 {
		wg.Go(func() {
			dir := fmt.Sprint(n % 5)
			unlock, err := s.lockRepo(t.Context(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			if dir == "0" { // the race detector sees two at once
				inside++
				most = max(most, inside)
				inside--
			}
		})
	}
	wg.Wait()
	unlock, err := s.lockRepo(t.Context(), "0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.lockRepo(ctx, "0"); err == nil {
		t.Fatal("two have one lock")
	}
	unlock()
	if len(s.locks) != 0 || most != 1 {
		t.Errorf("%d locks are left, and %d were inside at once", len(s.locks), most)
	}
}
