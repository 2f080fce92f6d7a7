package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"

	"company/internal/company"
	"company/internal/present/feed"
)

// slowOffice answers a command when it is told to.
type slowOffice struct {
	*fakeOffice
	begun, answer chan struct{}
}

func (o slowOffice) DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error) {
	close(o.begun)
	select {
	case <-o.answer:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return o.fakeOffice.DoID(ctx, id, actor, c)
}

// serveOffice serves an office on a socket of the test's own, and dials it.
func serveOffice(t *testing.T, o Office) (*Server, *Client) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := New(o, ServerInfo{}, slog.New(slog.DiscardHandler), nil)
	srv.Start(l)
	c := Dial(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	})
	t.Cleanup(func() {
		c.Close()
		srv.Stop()
	})
	return srv, c
}

// A command under way is answered by a server that stops; a feed ends at once.
func TestLastCommandIsAnswered(t *testing.T) {
	o := slowOffice{newFakeOffice(t), make(chan struct{}), make(chan struct{})}
	srv, c := serveOffice(t, o)
	answered, following, stopped := make(chan error, 1), make(chan error, 1), make(chan struct{})
	go func() {
		_, err := c.Do(t.Context(), "", company.Stop{Why: "enough"})
		answered <- err
	}()
	<-o.begun
	first := make(chan struct{}, 16)
	go func() {
		following <- c.Follow(t.Context(), feed.Range{}, func(feed.Item) error { first <- struct{}{}; return nil })
	}()
	<-first
	go func() { srv.Stop(); close(stopped) }()
	if err := <-following; !errors.Is(err, io.EOF) {
		t.Errorf("the feed: %v", err)
	}
	close(o.answer)
	if err := <-answered; err != nil {
		t.Errorf("the command: %v", err)
	}
	<-stopped
}

// A command whose server dies is made once more at the one that follows, under its id:
// it is done once. Without another server the error says that there is none.
func TestCommandsAtTheNextServer(t *testing.T) {
	o := newFakeOffice(t)
	first, c := serveOffice(t, o)
	submit := company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}
	if _, err := c.Do(t.Context(), "c-1", submit); err != nil {
		t.Fatal(err)
	}
	first.Stop()
	if _, err := c.Do(t.Context(), "c-1", submit); company.CodeOf(err) != company.EHeld {
		t.Errorf("nothing answers: %v", err)
	}
	reached := 0
	c.Reconnect(func(context.Context) (*Client, error) {
		reached++
		_, next := serveOffice(t, o)
		return next, nil
	})
	for range 2 {
		if done, err := c.Do(t.Context(), "c-1", submit); err != nil || done.Task != "t1" {
			t.Errorf("%+v, %v", done, err)
		}
	}
	if n := len(o.View().Tasks); reached != 1 || n != 1 {
		t.Errorf("reconnected %d times, %d tasks", reached, n)
	}
	c.Reconnect(func(context.Context) (*Client, error) { return InProcess(o), nil })
	if _, err := c.Do(t.Context(), "", company.Pause{Task: "t9"}); company.CodeOf(err) != company.ENotFound {
		t.Errorf("a refusal: %v", err)
	}
}
