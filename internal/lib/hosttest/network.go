package hosttest

import (
	"net"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// HostNetworkVariable is the environment variable that names the network of the host (by a file of /proc, as in
// network_namespaces(7)), if tests run in one that has a loopback alone.
const HostNetworkVariable = "COMPANY_TEST_HOST_NETWORK"

// ListenOnHost listens at a free port of the loopback of the host's network, which its Docker daemon reaches.
func ListenOnHost(t testing.TB) net.Listener {
	t.Helper()
	type result struct {
		net.Listener
		err error
	}
	listened := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // without unlocking: the thread, which is in the other network then, ends with this goroutine
		if name := os.Getenv(HostNetworkVariable); name != "" {
			if err := enterNetwork(name); err != nil {
				listened <- result{err: err}
				return
			}
		}
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		listened <- result{l, err}
	}()
	r := <-listened
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.Listener
}

// enterNetwork moves the calling thread into a network.
func enterNetwork(name string) error {
	network, err := os.Open(name)
	if err != nil {
		return err
	}
	defer network.Close()
	return os.NewSyscallError("setns", unix.Setns(int(network.Fd()), unix.CLONE_NEWNET))
}
