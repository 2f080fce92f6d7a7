package nats

import (
	"os"
	"path/filepath"
	"testing"
)

// TestStore: nobody else on the machine may look in, or dial, and what is
// acknowledged is on the disk (DST-3).
func TestStore(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the store has mode %v, %v", info.Mode(), err)
	}
	// A kill -9 cannot show this: the page cache survives it.
	if !b.(*Bus).server.JetStreamConfig().SyncAlways {
		t.Error("records are acknowledged before they are synced")
	}
	if addr := b.(*Bus).server.Addr(); addr != nil {
		t.Errorf("the server listens on %v", addr) // BUS-5
	}
}
