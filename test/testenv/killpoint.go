package testenv

import (
	"net"
	"path/filepath"
	"slices"
	"time"

	"company/internal/lib/killpoint"
)

// KillPoint is a moment at which the processes of a house stop, to be killed there.
type KillPoint struct {
	h        *House
	listener net.Listener
	setting  string
	came     chan net.Conn
	held     net.Conn // that of the process that stands still
}

// StopAt has the processes that are started from now on stop at the first moment whose name (killpoint.Hit) begins so.
func (h *House) StopAt(begins string) *KillPoint {
	h.T.Helper()
	socket := filepath.Join(h.Dir, "k")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		h.T.Fatal(err)
	}
	k := &KillPoint{h: h, listener: listener, setting: killpoint.Env + "=" + socket + " " + begins,
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

// Wait waits until p stands still.
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

// End lets the process that stands still go on, and those that are started from now on pass.
func (k *KillPoint) End() {
	_ = k.listener.Close()
	if k.held != nil {
		_ = k.held.Close()
	}
	k.h.Env = slices.DeleteFunc(k.h.Env, func(s string) bool { return s == k.setting })
}
