package testenv

import (
	"net"
	"path/filepath"
	"slices"
	"time"

	"company/internal/lib/killpoint"
)

// KillPoint makes a process of a house wait at a named point, so that it can be killed exactly there.
type KillPoint struct {
	h        *House
	listener net.Listener
	setting  string
	came     chan net.Conn
	held     net.Conn // to the process that waits
}

// StopAt makes each process that is started from now on wait at its first killpoint.Hit whose name has this prefix.
func (h *House) StopAt(prefix string) *KillPoint {
	h.T.Helper()
	socket := filepath.Join(h.Dir, "k")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		h.T.Fatal(err)
	}
	k := &KillPoint{h: h, listener: listener, setting: killpoint.Env + "=" + socket + " " + prefix,
		came: make(chan net.Conn, 1)}
	h.Env = append(h.Env, k.setting)
	h.T.Cleanup(k.End)
	go func() {
		defer close(k.came)
		if conn, err := listener.Accept(); err == nil {
			k.came <- conn
		}
	}()
	return k
}

// Wait returns when p waits at the kill point.
func (k *KillPoint) Wait(timeout time.Duration, p *Process) {
	k.h.T.Helper()
	select {
	case k.held = <-k.came:
	case <-p.done:
		k.h.T.Fatalf("it ended before %s:\n%s", k.setting, p.Tell())
	case <-time.After(timeout):
		k.h.T.Fatalf("it never came to %s:\n%s", k.setting, p.Tell())
	}
}

// End lets the waiting process go on. Processes that are started from now on do not wait.
func (k *KillPoint) End() {
	_ = k.listener.Close()
	if k.held != nil {
		_ = k.held.Close()
	}
	k.h.Env = slices.DeleteFunc(k.h.Env, func(s string) bool { return s == k.setting })
}
