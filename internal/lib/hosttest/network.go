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
		runtime.LockOSThread() // and never unlocked, so that a thread in another network ends with this goroutine
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

// BringUpLoopback brings up the loopback of the network that this process is in, which a new network has down.
func BringUpLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return os.NewSyscallError("bring up the loopback", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, loopback))
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
