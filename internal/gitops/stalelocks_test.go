package gitops

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A git that was killed, or whose disk could not be written any more, leaves its locks. The
// store is opened without them; a lock that a living git has stays.
func TestStaleLocksAreRemoved(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	q, err := b.store.Quarantine(b.ctx, b.mirror, "t1-01.1", b.base.OID, nil)
	if err != nil {
		t.Fatal(err)
	}
	const ref = "refs/heads/develop-t1-k3fq"
	var locks []string
	for _, name := range []string{"HEAD.lock", "packed-refs.lock", "config.lock", "refs/remotes/origin/main.lock",
		ref + ".lock", "refs/company/base/" + string(b.base.OID) + ".lock"} {
		locks = append(locks, filepath.Join(b.mirror.Dir(), name))
	}
	locks = append(locks, filepath.Join(q.dir, "refs/heads/agent/t1-01-x.lock"))
	held := filepath.Join(b.mirror.Dir(), "refs/heads/held.lock")
	for _, lock := range append(locks, held) {
		if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.mirror.FetchBase(b.ctx, nil, Source{}, ""); err == nil {
		t.Error("git minds no lock of the base")
	}
	if err := b.mirror.UpdateRef(b.ctx, ref, b.base.OID, ""); err == nil {
		t.Error("git minds no lock of a branch")
	}
	opened, written := make(chan struct{}), make(chan error, 1)
	go func() { // other gits take the lock again, again and again: the store may be long on its way to its two looks
		for {
			select {
			case <-opened:
				written <- nil
				return
			case <-time.After(time.Millisecond): // their pace
			}
			if err := os.WriteFile(held, []byte("new"), 0o600); err != nil {
				written <- err
				return
			}
		}
	}()
	again, err := Open(b.store.cfg)
	close(opened)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, lock := range locks {
		if _, err := os.Lstat(lock); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", lock, err)
		}
	}
	if _, err := os.Lstat(held); err != nil {
		t.Errorf("a lock that changed meanwhile: %v", err)
	}
	m, err := again.Mirror(b.ctx, "project", b.checkout)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.FetchBase(b.ctx, nil, Source{}, ""); err != nil {
		t.Error(err)
	}
	if err := m.UpdateRef(b.ctx, ref, b.base.OID, ""); err != nil {
		t.Error(err)
	}
}

// Beside the process that owns a store nothing of what it has in use is cleared.
func TestGuestClearsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	inUse := filepath.Join(b.store.tempDir(), "config-in-use")
	lock := filepath.Join(b.mirror.Dir(), "refs/heads/held.lock")
	for _, name := range []string{inUse, lock} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	guest := b.store.cfg
	guest.Guest = true
	if _, err := Open(guest); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{inUse, lock} {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
}
