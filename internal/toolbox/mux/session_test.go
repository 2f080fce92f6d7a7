package mux

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// patience bounds every wait of these tests; nothing depends on its value.
const patience = 2 * time.Minute

func newPair(t *testing.T) (host, guest *Session) {
	t.Helper()
	a, b := net.Pipe()
	host, err := Host(a)
	if err != nil {
		t.Fatal(err)
	}
	guest, err = Guest(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close(); _ = guest.Close() })
	return host, guest
}

// newHost is a host and its peer's end of the pipe, at which what the host sends
// is thrown away.
func newHost(t *testing.T) (host *Session, peer net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	host, err := Host(near)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(io.Discard, far) })
	t.Cleanup(func() { _ = host.Close(); _ = far.Close(); wg.Wait() })
	return host, far
}

func waitDone(t *testing.T, s *Session) {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(patience):
		t.Fatal("the session did not end")
	}
}

// echo answers every connection with its own bytes until the session ends.
func echo(t *testing.T, s *Session) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { _, _ = io.Copy(c, c); _ = c.Close() })
		}
	})
	t.Cleanup(func() { _ = s.Close(); wg.Wait() })
}

func TestBulkBothWaysAtOnce(t *testing.T) {
	host, guest := newPair(t)
	echo(t, host)
	echo(t, guest)
	want := make([]byte, 8<<20)
	_, _ = rand.Read(want)
	var wg sync.WaitGroup
	for _, s := range []*Session{host, guest, host, guest} {
		wg.Go(func() {
			c, err := s.Open(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			wg.Go(func() { _, _ = c.Write(want); _ = c.Close() })
			got, err := io.ReadAll(c)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("got %d bytes, %v; want the %d that were sent", len(got), err, len(want))
			}
		})
	}
	wg.Wait()
}

func TestTenThousandStreamsOneAfterAnother(t *testing.T) {
	host, guest := newPair(t)
	echo(t, host)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 1250 {
				c, err := guest.Open(t.Context())
				if err != nil {
					t.Errorf("stream %d of %d: %v", i, w, err)
					return
				}
				_, _ = fmt.Fprint(c, "hello")
				_ = c.Close()
				if got, err := io.ReadAll(c); err != nil || string(got) != "hello" {
					t.Errorf("stream %d of %d: %q, %v", i, w, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := host.Err(); err != nil {
		t.Fatalf("an honest peer was cut: %v", err)
	}
}

// An honest session never breaks the peer's limit: Open waits, under its
// context.
func TestOpenWaitsForASlot(t *testing.T) {
	host, guest := newPair(t)
	var held []net.Conn
	for range MaxStreams {
		c, err := guest.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := guest.Open(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("stream %d: %v, want it to wait", MaxStreams+1, err)
	}
	peer, err := host.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = held[0].Close()
	_ = peer.Close()
	c, err := guest.Open(t.Context())
	if err != nil {
		t.Fatalf("after a stream was closed: %v", err)
	}
	_ = c.Close()
	if host.Err() != nil {
		t.Fatal(host.Err())
	}
}

func TestHTTPBothWays(t *testing.T) {
	host, guest := newPair(t)
	for name, pair := range map[string][2]*Session{"host to guest": {host, guest}, "guest to host": {guest, host}} {
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		}), ReadHeaderTimeout: patience}
		done := make(chan struct{})
		go func() { defer close(done); _ = srv.Serve(pair[1]) }()
		t.Cleanup(func() { _ = srv.Close(); <-done })
		client := &http.Client{Transport: pair[0].Transport(), Timeout: patience}
		t.Cleanup(client.CloseIdleConnections)
		for range 3 {
			resp, err := client.Post("http://peer/x", "text/plain", strings.NewReader(name))
			if err != nil {
				t.Fatal(name, err)
			}
			got, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if string(got) != name {
				t.Fatalf("%s: got %q", name, got)
			}
		}
	}
}

// frame is one raw yamux header of a hostile peer.
func frame(kind byte, flags uint16, id, length uint32) []byte {
	b := make([]byte, headerSize)
	b[1] = kind
	binary.BigEndian.PutUint16(b[2:], flags)
	binary.BigEndian.PutUint32(b[4:], id)
	binary.BigEndian.PutUint32(b[8:], length)
	return b
}

// T4: whatever a hostile container sends, the session ends with a reason and
// memory stays bounded.
func TestHostilePeerIsCut(t *testing.T) {
	repeat := func(n int, f func(i uint32) []byte) []byte {
		var b []byte
		for i := range n {
			b = append(b, f(uint32(i))...)
		}
		return b
	}
	cases := map[string]struct {
		send []byte
		why  string
	}{
		"10k SYNs": {repeat(10_000, func(i uint32) []byte { return frame(typeWindow, flagSYN, 2*i+2, 0) }),
			"more than 64 open streams"},
		"65 SYNs, half ended": {repeat(65, func(i uint32) []byte { return frame(typeWindow, flagSYN|flagFIN, 2*i+2, 0) }),
			"more than 64 open streams"},
		"ping flood":   {repeat(10_000, func(i uint32) []byte { return frame(typePing, flagSYN, 0, i) }), "flood"},
		"empty frames": {repeat(10_000, func(uint32) []byte { return frame(typeData, 0, 2, 0) }), "flood"},
		"our id":       {frame(typeWindow, flagSYN, 1, 0), "not the peer's"},
		"id zero":      {frame(typeWindow, flagSYN, 0, 0), "not the peer's"},
		"twice":        {repeat(2, func(uint32) []byte { return frame(typeWindow, flagSYN, 2, 0) }), "opened twice"},
		"bad version":  {[]byte{7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "bad frame"},
		"bad type":     {frame(9, 0, 2, 0), "bad frame"},
		"bad flags":    {frame(typeData, 0x100, 2, 0), "bad frame"},
		"4 GB frame":   {frame(typeData, flagSYN, 2, 1<<32-1), "the window is"},
		"text":         {[]byte("SSH-2.0-OpenSSH_9.2p1 Debian\r\n"), "bad frame"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			host, peer := newHost(t)
			written := make(chan struct{})
			t.Cleanup(func() { _ = peer.Close(); <-written })
			go func() { defer close(written); _, _ = peer.Write(c.send) }()
			waitDone(t, host)
			var breach *ProtocolViolation
			if err := host.Err(); !errors.As(err, &breach) || !strings.Contains(err.Error(), c.why) {
				t.Fatalf("Err() = %v, want a breach that says %q", err, c.why)
			}
			if _, err := host.Accept(); err == nil {
				t.Fatal("Accept on a cut session")
			}
			if _, err := host.Open(t.Context()); err == nil {
				t.Fatal("Open on a cut session")
			}
		})
	}
}

// Streams that are opened and reset at once hold nothing.
func TestChurnOfStreamsHoldsNoMemory(t *testing.T) {
	host, b := newHost(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range uint32(20_000) {
		if _, err := b.Write(frame(typeWindow, flagSYN, 2*i+2, 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Write(frame(typeWindow, flagRST, 2*i+2, 0)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Fatalf("heap grew by %d bytes", grown)
	}
	if host.Err() != nil {
		t.Fatal(host.Err())
	}
}

func TestPeerThatDies(t *testing.T) {
	host, guest := newPair(t)
	c, err := host.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = guest.guard.rwc.Close()
	waitDone(t, host)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Fatal("read from a dead peer")
	}
	if host.Err() == nil {
		t.Fatal("no reason for the end")
	}
}

func TestCloseIsFinalAndRepeatable(t *testing.T) {
	host, guest := newPair(t)
	if host.Err() != nil {
		t.Fatal(host.Err())
	}
	for range 2 {
		if err := host.Close(); err != nil {
			t.Fatal(err)
		}
	}
	waitDone(t, guest)
	if !errors.Is(host.Err(), net.ErrClosed) {
		t.Fatalf("Err() = %v", host.Err())
	}
}

// deaf is a blocking standard input: Close does not wake its Read.
type deaf struct{ wake chan struct{} }

func (d deaf) Read([]byte) (int, error)    { <-d.wake; return 0, io.EOF }
func (d deaf) Write(p []byte) (int, error) { return len(p), nil }
func (d deaf) Close() error                { return nil }

// The trap: yamux over a stream that cannot be woken waits for ever in Close.
func TestCloseComesBackOverADeafStream(t *testing.T) {
	d := deaf{make(chan struct{})}
	s, err := Guest(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil {
		t.Fatal("Close should say that the stream hangs")
	}
	waitDone(t, s)
	close(d.wake)
}

func FuzzGuest(f *testing.F) {
	f.Add(frame(typeWindow, flagSYN, 2, 0))
	f.Add(append(frame(typeData, flagSYN, 2, 3), "abc"...))
	f.Add(frame(typeGoAway, 0, 0, 1))
	f.Fuzz(func(t *testing.T, sent []byte) {
		host, b := newHost(t)
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				c, err := host.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
			}
		})
		_, _ = b.Write(sent)
		_ = b.Close()
		waitDone(t, host)
		_ = host.Close()
		wg.Wait()
	})
}
