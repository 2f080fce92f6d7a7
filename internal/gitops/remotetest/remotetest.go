// Package remotetest provides remotes for tests: an https server for git's smart protocol that requires a password,
// and a real sshd. Both listen on the loopback interface and are removed after the test. The package does not depend
// on the company.
package remotetest

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// HTTP serves the repositories below Root and requires a user and secret for each request. If both are empty, it
// requires no login.
type HTTP struct {
	Server *httptest.Server
	Root   string
	CA     string // certificate file for SSL_CERT_FILE; empty for plain http

	mu       sync.Mutex
	user     string
	secret   string
	seen     []string // "user:secret" of requests, in order; "" without a login
	refuse   []int    // statuses for the next requests
	redirect string
	look     func() // called before each request is answered, or nil
}

// NewHTTPS starts a server with its own certificate.
func NewHTTPS(t testing.TB, user, secret string) *HTTP {
	t.Helper()
	h := &HTTP{Root: t.TempDir(), user: user, secret: secret}
	h.Server = httptest.NewTLSServer(h)
	t.Cleanup(h.Server.Close)
	h.CA = filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: h.Server.Certificate().Raw}
	if err := os.WriteFile(h.CA, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// NewHTTP starts a server without a certificate.
func NewHTTP(t testing.TB, user, secret string) *HTTP {
	t.Helper()
	h := &HTTP{Root: t.TempDir(), user: user, secret: secret}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Server.Close)
	return h
}

// Repository creates a bare repository with a name such as acme/app.git from the repository at from. It returns its
// folder and its address.
func (h *HTTP) Repository(t testing.TB, name, from string) (dir, url string) {
	t.Helper()
	dir = filepath.Join(h.Root, filepath.FromSlash(name))
	cloneBare(t, from, dir)
	return dir, h.Server.URL + "/" + name
}

// cloneBare creates a bare repository at dir with only the head of from, as main.
func cloneBare(t testing.TB, from, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "--bare", "-b", "main", dir},
		{"-C", from, "push", "-q", dir, "HEAD:refs/heads/main"}} {
		cmd := exec.Command("git", args...)
		cmd.Env = gitEnv()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

func gitEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null"}
}

// Secret sets the secret that the server accepts from now on.
func (h *HTTP) Secret(secret string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.secret = secret
}

// Refuse answers the next requests with these statuses.
func (h *HTTP) Refuse(statuses ...int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refuse = statuses
}

// Redirect redirects every request to another server. "" stops this.
func (h *HTTP) Redirect(to string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.redirect = to
}

// Watch calls look before it answers each later request.
func (h *HTTP) Watch(look func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.look = look
}

// Seen returns the user:secret of each request so far, or "" for requests without a login.
func (h *HTTP) Seen() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.seen...)
}

// authorize decides on one request. Status 0 accepts it.
func (h *HTTP) authorize(r *http.Request) (status int, to string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	user, secret, ok := r.BasicAuth()
	if ok {
		h.seen = append(h.seen, user+":"+secret)
	} else {
		h.seen = append(h.seen, "")
	}
	switch {
	case h.redirect != "":
		return http.StatusMovedPermanently, h.redirect + r.URL.RequestURI()
	case len(h.refuse) > 0:
		status, h.refuse = h.refuse[0], h.refuse[1:]
		return status, ""
	case h.secret != "" && (user != h.user && h.user != "" || secret != h.secret):
		return http.StatusUnauthorized, ""
	}
	return 0, ""
}

// ServeHTTP implements the smart protocol.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	look := h.look
	h.mu.Unlock()
	if look != nil {
		look()
	}
	status, to := h.authorize(r)
	switch {
	case to != "":
		http.Redirect(w, r, to, status)
		return
	case status == http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		fallthrough
	case status != 0:
		http.Error(w, http.StatusText(status), status)
		return
	}
	service := ""
	repo, advertise := strings.CutSuffix(r.URL.Path, "/info/refs")
	if advertise {
		service = r.URL.Query().Get("service")
	} else {
		i := strings.LastIndexByte(r.URL.Path, '/')
		repo, service = r.URL.Path[:i], r.URL.Path[i+1:]
	}
	dir := filepath.Join(h.Root, filepath.FromSlash(filepath.Clean("/"+repo)))
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil ||
		service != "git-upload-pack" && service != "git-receive-pack" {
		http.NotFound(w, r)
		return
	}
	args := []string{strings.TrimPrefix(service, "git-"), "--stateless-rpc"}
	if advertise {
		args = append(args, "--advertise-refs")
	}
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in = z
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(r.Context(), "git", append(args, dir)...)
	cmd.Stdin, cmd.Stdout = in, &out
	cmd.Env = append(gitEnv(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_PROTOCOL="+r.Header.Get("Git-Protocol"))
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if advertise {
		w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
		line := "# service=" + service + "\n"
		fmt.Fprintf(w, "%04x%s0000", len(line)+4, line)
	} else {
		w.Header().Set("Content-Type", "application/x-"+service+"-result")
	}
	_, _ = w.Write(out.Bytes()) // fails if the client has disconnected
}
