package gitops

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Who cancels amid the move of a reference leaves no lock: each later move of it would be
// refused, and a base could not be fetched any more.
func TestCancelledMoveLeavesNoLock(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for i := range 150 {
		ref := fmt.Sprintf("refs/company/runs/t%d-01.1", i)
		ctx, cancel := context.WithTimeout(b.ctx, time.Duration(i%30)*time.Millisecond/2)
		_, err := b.store.run(
			ctx, call{dir: b.mirror.Dir(), args: []string{"update-ref", "--no-deref", ref, string(b.base.OID)}})
		cancel()
		if _, left := os.Lstat(filepath.Join(b.mirror.Dir(), ref+".lock")); left == nil {
			t.Fatalf("%s.lock is left: %v", ref, err)
		}
	}
}
