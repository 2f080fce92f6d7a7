// Package muxtest serves HTTP over a mux session with an in-memory pipe, like the far end of a container. It closes
// the session and the server at the end of the test.
package muxtest

import (
	"net"
	"net/http"
	"testing"
	"time"

	"company/internal/toolbox/mux"
)

// Serve serves h at the guest's end until the test ends, and returns the host's end.
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
