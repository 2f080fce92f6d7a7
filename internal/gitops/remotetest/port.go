package remotetest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreePort returns a free port of 127.0.0.1. It is below the kernel's range of automatic ports, so that no other test
// gets it before it is used.
func FreePort(t testing.TB) int {
	t.Helper()
	var err error
	for range 1000 {
		port := 20_000 + rand.IntN(12_000)
		var listener net.Listener
		if listener, err = net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			_ = listener.Close()
			return port
		}
	}
	t.Fatalf("no port is free: %v", err)
	return 0
}
