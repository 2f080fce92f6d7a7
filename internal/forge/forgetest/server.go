// Package forgetest provides forges for tests: loopback HTTP servers that behave like GitHub and Gitea, with real
// bare git repositories and pushes over https. The servers and their folders exist for one test. git determines
// heads, merges and files. The rest (duplicates, permissions, rate limits, pages, entity tags, faults) follows the
// forges' documentation. Every request and reply of the GitHub fake is validated against GitHub's own description
// (Contract). It is not for production, and does not depend on our drivers.
package forgetest

import (
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is one fake forge.
type Server struct {
	URL    string // https://127.0.0.1:port
	CAFile string // certificate to trust, PEM

	*faultProxy
	t               testing.TB
	http            *httptest.Server
	dir             string
	backend         string // git http-backend
	path            string // URL path that it is served below; may be empty
	mergeCheckLooks int    // of Gitea: number of requests until mergeability is known
	duplicates      int    // of Gitea: number of others that open the same pull request at the same time

	mu     sync.Mutex
	repos  map[string]*Repo
	tokens map[string]*Token
	apps   map[int64]*githubApp
	last   int64
	clock  time.Time
	skew   time.Duration
}

func newServer(t testing.TB) *Server {
	t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatalf("git: %v", err)
	}
	server := &Server{faultProxy: newFaultProxy(), t: t, dir: t.TempDir(),
		backend: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		repos:   map[string]*Repo{}, tokens: map[string]*Token{}, apps: map[int64]*githubApp{},
		clock: time.Now().Add(-time.Hour).Truncate(time.Second)}
	return server
}

// start serves api below /api/ and git at /owner/name.git.
func (s *Server) start(api http.Handler) {
	mux := http.NewServeMux()
	mux.HandleFunc("/{owner}/{repo}/{rest...}", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.PathValue("rest"), "info/refs") && !strings.HasPrefix(r.PathValue("rest"), "git-") {
			http.NotFound(w, r)
			return
		}
		s.serveGit(w, r)
	})
	inside := http.StripPrefix(s.path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			api.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	s.http = httptest.NewUnstartedServer(s.wrapHandler(inside))
	s.http.Config.ReadTimeout, s.http.Config.WriteTimeout = time.Minute, 2*time.Minute
	s.http.Config.ErrorLog = nil
	s.http.StartTLS()
	s.t.Cleanup(func() {
		close(s.done) // faults must not delay the shutdown
		s.http.Close()
	})
	s.URL = s.http.URL + s.path
	s.CAFile = writeCA(s.t, s.dir, s.http)
}

// writeCA writes the certificate that a client must trust.
func writeCA(t testing.TB, dir string, of *httptest.Server) string {
	t.Helper()
	file := filepath.Join(dir, "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: of.Certificate().Raw})
	if err := os.WriteFile(file, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Client returns a client that trusts the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// CloneURL returns the address of a repository for git.
func (s *Server) CloneURL(r *Repo) string { return s.URL + "/" + r.fullName() + ".git" }

// AdvanceClock moves the server's clock.
func (s *Server) AdvanceClock(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew += d
}

func (s *Server) currentTime() time.Time { return time.Now().Add(s.skew) }

// nextTime returns a time that increases by a second with each call.
func (s *Server) nextTime() time.Time {
	s.clock = s.clock.Add(time.Second)
	return s.clock
}

func (s *Server) nextID() int64 {
	s.last++
	return 1000 + s.last
}

// sendJSON answers with JSON. It answers a conditional GET for unchanged content with 304.
func sendJSON(w http.ResponseWriter, r *http.Request, code int, v any) {
	js, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if r.Method == http.MethodGet && code == http.StatusOK {
		tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(js))
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(code)
	_, _ = w.Write(js)
}

// pageOf returns the requested page of a list and sets the headers that link to the other pages.
func pageOf[T any](w http.ResponseWriter, r *http.Request, server *Server, all []T, size string, limit int) []T {
	n := parseNumber(r.URL.Query().Get(size), 30)
	n = min(max(n, 1), limit)
	index := max(parseNumber(r.URL.Query().Get("page"), 1), 1)
	last := max((len(all)+n-1)/n, 1)
	var links []string
	link := func(page int, rel string) {
		address := *r.URL
		q := address.Query()
		q.Set("page", strconv.Itoa(page))
		address.RawQuery = q.Encode()
		links = append(links, fmt.Sprintf(`<%s%s>; rel="%s"`, server.URL, address.String(), rel))
	}
	if index < last {
		link(index+1, "next")
		link(last, "last")
	}
	if index > 1 {
		link(index-1, "prev")
		link(1, "first")
	}
	if len(links) > 0 {
		w.Header().Set("Link", strings.Join(links, ", "))
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(len(all)))
	from := min((index-1)*n, len(all))
	return append([]T{}, all[from:min(from+n, len(all))]...) // an empty page is encoded as [], not null
}

func parseNumber(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return otherwise
	}
	return n
}

func mustURL(t testing.TB, s string) *url.URL {
	t.Helper()
	address, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return address
}
