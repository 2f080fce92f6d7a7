package remotetest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreePort is a free port of 127.0.0.1. It lies below those that the kernel
// hands out, so no other test is given it before it is used.
func FreePort(t testing.TB) int {
	t.Helper()
	var err error
	for range 1000 {
		port := 20_000 + rand.IntN(12_000)
		var l net.Listener
		if l, err = net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatalf("no port is free: %v", err)
	return 0
}
