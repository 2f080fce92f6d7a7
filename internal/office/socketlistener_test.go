package office

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"company/internal/office/config/configtest"
)

// TestSocketThatIsTakenAway: a logout removes XDG_RUNTIME_DIR, and what tidies up a socket. The
// holder is reached all the same, also by who waits for connections since before.
func TestSocketThatIsTakenAway(t *testing.T) {
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	mustOpen(t, p)
	run := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	l, held, err := TryLock(p)
	if err != nil || held != nil {
		t.Fatalf("%v %v", held, err)
	}
	ln, err := ListenSocket(l, configtest.Env(map[string]string{"XDG_RUNTIME_DIR": run}))
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	reach := func(what string) {
		t.Helper()
		c, err := DialSocket(t.Context(), FindHolder(p).Socket)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := errors.Join(c.Close(), (<-accepted).Close()); err != nil {
			t.Error(err)
		}
	}
	reach("at first")
	listener := ln.(*socketListener)
	listener.openIfGone()
	reach("nothing was taken away")
	if err := os.Remove(l.Holder().Socket); err != nil {
		t.Fatal(err)
	}
	listener.openIfGone()
	reach("without its socket")
	if err := os.RemoveAll(run); err != nil {
		t.Fatal(err)
	}
	listener.openIfGone()
	reach("without its folder")
	if at := l.Holder().Socket; filepath.Dir(at) == run {
		t.Errorf("it listens at %s", at)
	}
	last := l.Holder().Socket
	if err := errors.Join(ln.Close(), l.Release()); err != nil {
		t.Fatal(err)
	}
	if _, open := <-accepted; open {
		t.Error("it goes on behind its end")
	}
	if _, err := os.Lstat(last); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its socket is left: %v", err)
	}
	_ = os.Remove(filepath.Dir(last)) // only when nobody else uses it
}
