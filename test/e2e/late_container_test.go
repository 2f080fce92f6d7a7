package e2e

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"company/test/testenv"
)

// slowDaemon stands in front of the Docker daemon and holds the first request
// back that has these words in it: the daemon gets it when the test says
// so, whether or not who asked is still alive.
type slowDaemon struct {
	t      *testing.T
	path   string // of its socket
	words  []string
	held   chan struct{}
	let    chan struct{}
	once   sync.Once
	letGo  sync.Once
	listen net.Listener
	wg     sync.WaitGroup
}

func newSlowDaemon(t *testing.T, path string, words ...string) *slowDaemon {
	t.Helper()
	s := &slowDaemon{t: t, path: path, words: words, held: make(chan struct{}), let: make(chan struct{})}
	var err error
	if s.listen, err = net.Listen("unix", path); err != nil {
		t.Fatal(err)
	}
	s.wg.Go(func() {
		for {
			in, err := s.listen.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", "/var/run/docker.sock")
			if err != nil {
				_ = in.Close()
				continue
			}
			s.wg.Go(func() { s.ask(in, out) })
			s.wg.Go(func() {
				_, _ = io.Copy(in, out) // until the daemon ends it
				_, _ = in.Close(), out.Close()
			})
		}
	})
	return s
}

// ask passes requests on. The held one is passed on whole although its asker is
// gone, and the connection stays until the daemon has answered.
func (s *slowDaemon) ask(in, out net.Conn) {
	chunk := make([]byte, 64<<10)
	held := false
	for {
		n, err := in.Read(chunk)
		text := chunk[:n]
		if !slices.ContainsFunc(s.words, func(w string) bool { return !bytes.Contains(text, []byte(w)) }) {
			s.once.Do(func() {
				// Whole, before its asker is killed: the daemon makes nothing of half.
				text = bytes.Clone(text)
				for held = true; err == nil && !isWholeRequest(text); {
					n, err = in.Read(chunk)
					text = append(text, chunk[:n]...)
				}
				close(s.held)
				<-s.let
			})
		}
		if len(text) > 0 {
			if _, werr := out.Write(text); werr != nil {
				return
			}
		}
		if err != nil {
			break
		}
	}
	if !held {
		_ = out.(*net.UnixConn).CloseWrite()
	}
}

var length = regexp.MustCompile(`(?i)\r\ncontent-length: *([0-9]+)\r\n`)

// isWholeRequest reports whether a request is there to its end.
func isWholeRequest(request []byte) bool {
	head, body, ok := bytes.Cut(request, []byte("\r\n\r\n"))
	m := length.FindSubmatch(append(bytes.Clone(head), "\r\n"...))
	if !ok || m == nil {
		return ok && bytes.HasSuffix(body, []byte("0\r\n\r\n"))
	}
	n, err := strconv.Atoi(string(m[1]))
	return err == nil && len(body) >= n
}

// waitHeld waits until the request is there.
func (s *slowDaemon) waitHeld(t *testing.T, p *testenv.Process) {
	t.Helper()
	select {
	case <-s.held:
	case <-time.After(patience):
		t.Fatalf("nothing of %q was asked for:\n%s", s.words, p.Tell())
	}
}

// release lets the held request go, and whatever comes later.
func (s *slowDaemon) release() { s.letGo.Do(func() { close(s.let) }) }

func (s *slowDaemon) close() {
	_ = s.listen.Close()
	s.release()          // first: once waits for the request that is held
	s.once.Do(func() {}) // nothing is held from now on
}

// TestContainerOfAKilledCompanyComesLate: the company is killed while the daemon
// is to make a container for it, and the daemon makes it after the next company
// has swept. It is gone when that one leaves.
func TestContainerOfAKilledCompanyComesLate(t *testing.T) {
	t.Parallel()
	hold := stopAt("t1-01.1", 0)
	h := openFarewells(t, hold)
	daemon := newSlowDaemon(t, filepath.Join(h.Dir, "docker.sock"), "/containers/create?name=", "-t1-01.1-1-")
	t.Cleanup(daemon.close)
	h.Env = append(slices.Clone(h.Env), "DOCKER_HOST=unix://"+daemon.path)
	p := h.Start("submit", "say goodbye")
	daemon.waitHeld(t, p)
	p.Kill()

	p = h.Start("resume")
	hold.wait(t, p)
	daemon.release()
	waitForContainer(t, h, "-t1-01.1-1-") // of the dead company's epoch
	hold.release()
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	if left := h.Containers(); slices.ContainsFunc(
		left, func(n string) bool { return strings.Contains(n, "-t1-01.1-1-") }) {
		t.Errorf("left: %v", left)
	}
}
