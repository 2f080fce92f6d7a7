// Package muxtest serves HTTP over a session of mux whose pipe is in memory: the
// far end of a container without the container. It owns that session and its
// server, and leaves neither after the test. It knows nothing of the streams that are served.
package muxtest

import (
	"net"
	"net/http"
	"testing"
	"time"

	"company/internal/mux"
)

// Serve has h answer at the guest's end until the test ends, and gives the
// host's end.
func Serve(t testing.TB, h http.Handler) *mux.Session {
	t.Helper()
	near, far := net.Pipe()
	host, err := mux.Host(near)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := mux.Guest(far)
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() { defer close(done); _ = web.Serve(guest) }()
	t.Cleanup(func() {
		_ = host.Close()
		_ = web.Close()
		_ = guest.Close()
		<-done
	})
	return host
}
