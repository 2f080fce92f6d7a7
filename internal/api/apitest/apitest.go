// Package apitest serves offices of tests at their sockets, like a running company. The test
// provides the office's answers.
package apitest

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"company/internal/api"
	"company/internal/api/client"
	"company/internal/office"
)

// ServeOffice opens the office of a checkout and serves it at its socket, until stop is called or
// the test ends.
func ServeOffice(t *testing.T, checkout string, o api.Office) (stop func()) {
	t.Helper()
	paths, err := office.Find(office.FindOptions{Dir: checkout, Env: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	off, err := office.Open(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	lock, held, err := office.TryLock(paths)
	if err != nil || lock == nil {
		t.Fatalf("%v, %v", held, err)
	}
	listener, err := office.ListenSocket(lock, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	server := api.New(o, api.ServerInfo{Office: off.ID, PID: os.Getpid()}, slog.New(slog.DiscardHandler), nil)
	server.Start(listener)
	stop = sync.OnceFunc(func() {
		server.Stop()
		if err := errors.Join(lock.Release(), off.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// Connect returns a client of an office that a server of this process answers until the test ends.
func Connect(t testing.TB, o api.Office) *client.Office {
	t.Helper()
	dir, err := os.MkdirTemp("", "company-api-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := api.New(o, api.ServerInfo{PID: os.Getpid()}, slog.New(slog.DiscardHandler), nil)
	server.Start(listener)
	conn, err := client.Dial(t.Context(), &office.Holder{Socket: socket})
	if conn == nil || err != nil {
		t.Fatalf("no answer: %v", err)
	}
	t.Cleanup(func() {
		conn.Close()
		server.Stop()
		_ = os.RemoveAll(dir)
	})
	return conn
}
