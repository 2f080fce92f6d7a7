package orchestrator

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/safedir/foldertest"
)

// TestLargeStateIsSavedUnderLoad: with a large state and commands without a pause there
// is always a snapshot that is not much older than it may be.
func TestLargeStateIsSavedUnderLoad(t *testing.T) {
	t.Parallel()
	const every = 200
	b := setup(t, func(c *Config) { c.SnapshotEvery = every })
	b.run()
	for n := range 40 { // some megabytes
		b.do(company.Submit{Instruction: fmt.Sprintf("%0100000d", n), Project: company.Project{ID: "p", Path: "/p"},
			Settings: company.Settings{}})
		b.do(company.Cancel{Task: company.NewTaskID(n + 1), Why: "enough"})
	}
	ctx, stop := context.WithCancel(b.ctx)
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	for range 8 {
		writers.Go(func() {
			for by := 1; ctx.Err() == nil; by = -by {
				_, _ = b.orch.Do(ctx, company.President, company.ScaleWorkers{By: by}) // too many is refused
			}
		})
	}
	fresh := map[uint64]bool{} // snapshots that were no older than twice what lies between two
	b.until("snapshots of a state that is written to all the time", func() bool {
		head := b.orch.View().Seq
		seq, _, ok, err := openedSnapshot(b)
		if err != nil {
			t.Fatal(err)
		}
		if ok && head < seq+2*max(every, seq/10) {
			fresh[seq] = true
		}
		return len(fresh) >= 3
	})
}

// openedSnapshot is the snapshot that a process would start with now.
func openedSnapshot(b *bundle) (uint64, []byte, bool, error) {
	l, err := ledger.Open(b.ctx, b.bus, ledger.Options{Folder: foldertest.Open(b.t, b.dir)})
	if err != nil {
		return 0, nil, false, err
	}
	return l.LoadSnapshot(b.ctx)
}
