package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"company/internal/container"
	"company/internal/toolbox/mux"
	"company/internal/toolbox/toolserver"
)

// cells is a container runtime without containers: a real toolbox with a real
// git in a folder of its own, at the other end of a pipe in memory.
type cells struct {
	container.Runtime
	t    *testing.T
	port int

	// lose is asked after each call of a tool, once the tool has done its work:
	// true keeps the answer back until the caller gives up. Nil: never.
	lose func(tool string) bool
	// starve is asked after each call of a tool: true ends the cell, and its memory is
	// the reason. Nil: never.
	starve func(tool string) bool

	mu    sync.Mutex
	made  int
	last  *cell
	specs []container.Spec
	wg    sync.WaitGroup
}

func newCells(t *testing.T) *cells {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cells{t: t, port: l.Addr().(*net.TCPAddr).Port}
	c.wg.Go(func() { c.forward(l) })
	t.Cleanup(func() {
		_ = l.Close()
		c.kill()
		c.wg.Wait()
	})
	return c
}

// forward makes connections to the gateway's port streams of the newest cell.
func (c *cells) forward(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		cell := c.last
		c.mu.Unlock()
		c.wg.Go(func() {
			defer client.Close()
			host, err := cell.guest.Open(context.Background())
			if err != nil {
				return
			}
			var both sync.WaitGroup
			both.Go(func() { _, _ = io.Copy(host, client); _ = host.Close() })
			both.Go(func() {
				_, _ = io.Copy(client, host)
				_ = client.(*net.TCPConn).CloseWrite()
				_ = client.SetReadDeadline(time.Now())
			})
			both.Wait()
		})
	}
}

// started are the specs of the cells that were started so far.
func (c *cells) started() []container.Spec {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.specs)
}

// kill ends the newest cell at once.
func (c *cells) kill() {
	c.mu.Lock()
	cell := c.last
	c.mu.Unlock()
	if cell != nil {
		_ = cell.Kill(context.Background())
	}
}

func (c *cells) Start(_ context.Context, spec container.Spec) (container.Container, error) {
	dir := c.t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	s, err := toolserver.New(toolserver.Config{
		Root: filepath.Join(dir, "repo"), Temp: filepath.Join(dir, "logs"), Grace: -1,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + dir, "GIT_CONFIG_NOSYSTEM=1"},
	})
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	guest, err := mux.Guest(far)
	if err != nil {
		return nil, err
	}
	cell := &cell{near: near, server: s, guest: guest, ended: make(chan struct{})}
	cell.web = &http.Server{Handler: c.answerOrLose(cell, s.Handler()), ReadHeaderTimeout: time.Minute}
	c.mu.Lock()
	c.specs = append(c.specs, spec)
	c.made++
	cell.id = fmt.Sprintf("cell%d", c.made)
	c.last = cell
	c.mu.Unlock()
	c.wg.Go(func() { _ = cell.web.Serve(guest) })
	return cell, nil
}

// answerOrLose is a toolbox whose answers may be lost.
func (c *cells) answerOrLose(cell *cell, toolbox http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.starve != nil && c.starve(path.Base(r.URL.Path)) {
			cell.exit = container.Exit{Code: 137, OOMKilled: true}
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the caller is gone
			c.wg.Go(func() { _ = cell.Kill(context.Background()) })
			<-r.Context().Done()
			return
		}
		if c.lose == nil {
			toolbox.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		toolbox.ServeHTTP(answer, r)
		if c.lose(path.Base(r.URL.Path)) {
			<-r.Context().Done()
			return
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

type cell struct {
	container.Container
	id     string
	near   net.Conn
	server *toolserver.Server
	guest  *mux.Session
	web    *http.Server
	once   sync.Once
	ended  chan struct{}
	exit   container.Exit // set before ended is closed
}

func (c *cell) ID() string               { return c.id }
func (c *cell) Pipe() io.ReadWriteCloser { return c.near }
func (c *cell) Stderr() string           { return "" }

func (c *cell) Kill(context.Context) error {
	c.once.Do(func() {
		_ = c.near.Close()
		close(c.ended)
		_ = c.web.Close()
		_ = c.guest.Close()
		_ = c.server.Close()
	})
	return nil
}

func (c *cell) Wait(ctx context.Context) (container.Exit, error) {
	select {
	case <-c.ended:
		return c.exit, nil
	case <-ctx.Done():
		return container.Exit{}, context.Cause(ctx)
	}
}

func (c *cell) Remove(ctx context.Context) error { return c.Kill(ctx) }
