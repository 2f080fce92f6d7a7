package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/lib/hosttest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const testRun company.RunID = "t1-01.1"

type bundle struct {
	store  *gitops.Store
	mirror *gitops.Mirror
	source string // the president's checkout
	base   company.OID
	q      *gitops.Quarantine
	g      *Gateway
	addr   string
	url    string
	clone  string // the worker's clone

	mu     sync.Mutex
	events []Event
}

func setup(t testing.TB, change func(*Config)) *bundle {
	t.Helper()
	b := &bundle{source: filepath.Join(t.TempDir(), "src")}
	gitexectest.Git(t, filepath.Dir(b.source), "init", "-q", "-b", "main", b.source)
	b.commit(t, b.source, "README", "hello\n")
	var err error
	if b.store, err = gitops.Open(gitops.Config{Root: filepath.Join(t.TempDir(), "git")}); err != nil {
		t.Fatal(err)
	}
	if b.mirror, err = b.store.Mirror(t.Context(), "project", b.source); err != nil {
		t.Fatal(err)
	}
	info, err := b.mirror.FetchBase(t.Context(), nil, gitops.Source{}, "")
	if err != nil {
		t.Fatal(err)
	}
	b.base = info.OID
	if b.q, err = b.store.Quarantine(t.Context(), b.mirror, testRun, b.base, nil); err != nil {
		t.Fatal(err)
	}
	cfg := Config{Quarantine: b.q, Run: testRun, Logger: slog.New(slog.DiscardHandler), OnSecurity: func(e Event) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.events = append(b.events, e)
	}}
	if change != nil {
		change(&cfg)
	}
	if b.g, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- b.g.Serve(l) }()
	t.Cleanup(func() {
		if err := b.g.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	b.addr = l.Addr().String()
	b.url = "http://" + b.addr + b.g.Path()
	b.clone = filepath.Join(t.TempDir(), "clone")
	gitexectest.Git(t, filepath.Dir(b.clone), "clone", "-q", b.url, b.clone)
	return b
}

func (b *bundle) commit(t testing.TB, dir, name, content string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	gitexectest.Git(t, dir, "add", "-A")
	gitexectest.Git(t, dir, "commit", "-q", "-m", name)
	return gitexectest.Git(t, dir, "rev-parse", "HEAD")
}

// kinds lists the security events so far and forgets them.
func (b *bundle) kinds() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, e := range b.events {
		out = append(out, e.Kind)
	}
	b.events = nil
	return strings.Join(out, " ")
}

func (b *bundle) refs(t testing.TB) string {
	t.Helper()
	return gitexectest.Git(t, b.q.Dir(), "--git-dir=.", "for-each-ref", "--format=%(refname)")
}

func noise(n int, seed int64) string {
	p := make([]byte, n)
	rand.New(rand.NewSource(seed)).Read(p)
	return string(p)
}

// The way of every run: clone, commit, push, checkpoint, and the host takes it.
func TestCloneAndPush(t *testing.T) {
	b := setup(t, nil)
	if got := gitexectest.Git(t, b.clone, "symbolic-ref", "HEAD"); got != gitops.BaseBranch {
		t.Errorf("the clone is on %s", got)
	}
	b.commit(t, b.clone, "big", noise(5<<20, 1)) // over http.postBuffer: chunked
	start := time.Now()
	gitexectest.Git(t, b.clone, "push", "-q", "origin", "HEAD:refs/heads/agent/t1-01-x")
	t.Logf("pushed 5 MiB in %v", time.Since(start))
	one := b.commit(t, b.clone, "f", "1")
	gitexectest.Git(t, b.clone, "push", "-q", "origin", "HEAD:"+gitops.CheckpointRef(testRun))
	gitexectest.Git(t, b.clone, "reset", "-q", "--hard", "HEAD~1")
	two := b.commit(t, b.clone, "f", "2")
	// force is for checkpoints
	gitexectest.Git(t, b.clone, "push", "-q", "-f", "origin", "HEAD:"+gitops.CheckpointRef(testRun))
	gitexectest.Git(t, b.clone, "push", "-q", "origin", "HEAD:refs/heads/agent/t1-01-x")
	if id, ok, err := b.q.Checkpoint(t.Context()); !ok || err != nil || string(id) != two {
		t.Error(id, ok, err)
	}
	// A fetch with a long list of haves, which git sends as gzip.
	gitexectest.Git(t, b.clone, "fetch", "-q", "origin")
	// The checkpoint that was dropped is not served any more.
	fresh := t.TempDir()
	gitexectest.Git(t, fresh, "init", "-q")
	if out, err := gitexectest.TryGit(fresh, "", "fetch", b.url, one); err == nil {
		t.Errorf("a dropped commit was served: %s", out)
	}
	if err := b.g.Close(); err != nil {
		t.Fatal(err)
	}
	head, ok, err := b.q.Head(t.Context(), "")
	if !ok || err != nil || string(head) != two {
		t.Fatal(head, ok, err)
	}
	taken, err := b.mirror.Take(t.Context(), b.q, head, gitops.ResultRef(testRun))
	if err != nil || len(taken.Changes) != 2 {
		t.Errorf("%+v, %v", taken, err)
	}
	if k := b.kinds(); k != "" {
		t.Errorf("security events: %s", k)
	}
	if out, err := gitexectest.TryGit(b.clone, "", "fetch", "origin"); err == nil {
		t.Errorf("a closed gateway answered: %s", out)
	}
}

// What git's own checks refuse before anybody is asked is an event too, once;
// a push that changes nothing is none.
func TestObjectsThatGitRefuses(t *testing.T) {
	b := setup(t, nil)
	blob := gitexectest.Git(t, b.clone, "rev-parse", "HEAD:README")
	raw := fmt.Sprintf("100644 .git\x00%s", string(must(hex.DecodeString(blob))))
	file := filepath.Join(t.TempDir(), "tree")
	if err := os.WriteFile(file, []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := gitexectest.Git(t, b.clone, "hash-object", "-t", "tree", "-w", "--literally", file)
	commit := gitexectest.Git(t, b.clone, "commit-tree", tree, "-m", "x")
	out, err := gitexectest.TryGit(b.clone, "", "push", "origin", commit+":refs/heads/agent/t1-01-x")
	if err == nil {
		t.Fatalf("accepted: %s", out)
	}
	b.mu.Lock()
	if len(b.events) != 1 || b.events[0].Kind != "push" || !strings.Contains(b.events[0].Detail, "hasDotgit") {
		t.Errorf("%+v\n%s", b.events, out)
	}
	b.mu.Unlock()
	b.kinds()
	gitexectest.Git(t, b.clone, "push", "-q", "origin", "HEAD:refs/heads/agent/t1-01-ok")
	gitexectest.Git(t, b.clone, "push", "-q", "origin", "HEAD:refs/heads/agent/t1-01-ok")
	if k := b.kinds(); k != "" {
		t.Errorf("events of a good push: %s", k)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// T8: a run pushes branches of its own ticket, and its own checkpoint.
func TestPushRules(t *testing.T) {
	b := setup(t, nil)
	b.commit(t, b.clone, "f", "1")
	gitexectest.Git(t, b.clone, "tag", "v1")
	gitexectest.Git(t, b.clone, "tag", "-a", "-m", "x", "v2")
	gitexectest.Git(t, b.clone, "push", "-q", "origin", "HEAD:refs/heads/agent/t1-01-ok")
	before := b.refs(t)
	for _, specs := range [][]string{
		{"HEAD:refs/heads/main"}, {"HEAD:refs/heads/base"}, {"+HEAD:refs/heads/base"}, {"v1:refs/tags/v1"}, {"v2"},
		{"HEAD:refs/heads/agent/t1-02-x"}, {"HEAD:refs/heads/agent/t1-010-x"}, {"HEAD:refs/heads/agent/t1-01-"},
		{"HEAD:refs/heads/agent/t1-01-X"},
		{"HEAD:refs/heads/agent/t1-01-" + strings.Repeat("x", 65)}, {"HEAD:refs/heads/agent/t1-01-\u202ex"},
		{"HEAD:refs/heads/agent/t1-01-a/b"},
		{"HEAD:refs/company/checkpoint/t1-02.1"}, {"HEAD:refs/company/taken/x"}, {"HEAD:refs/replace/" + string(b.base)},
		{"HEAD:refs/notes/x"}, {":refs/heads/agent/t1-01-ok"}, {":refs/heads/base"},
		{"HEAD:refs/heads/agent/t1-01-good", "HEAD:refs/heads/main"}, {"v2:" + gitops.CheckpointRef(testRun)},
	} {
		for _, atomic := range []string{"--atomic", "--no-atomic"} {
			out, err := gitexectest.TryGit(b.clone, "", append([]string{"push", atomic, "origin"}, specs...)...)
			if err == nil {
				t.Errorf("%q was accepted: %s", specs, out)
			}
		}
	}
	if after := b.refs(t); after != before {
		t.Errorf("references before:\n%s\nafter:\n%s", before, after)
	}
	if k := b.kinds(); !strings.Contains(k, "push") {
		t.Errorf("no event: %q", k)
	}
	if out, _ := gitexectest.TryGit(b.clone, "", "push", "origin", "HEAD:refs/heads/main"); !strings.Contains(
		out, "E_PROTECTED") || !strings.Contains(out, "refs/heads/main") {
		t.Errorf("the worker is not told why: %s", out)
	}
	// Rewriting is for checkpoints.
	gitexectest.Git(t, b.clone, "commit", "-q", "--amend", "-m", "again")
	out, err := gitexectest.TryGit(b.clone, "", "push", "-f", "origin", "HEAD:refs/heads/agent/t1-01-ok")
	if err == nil || !strings.Contains(out, "on top") {
		t.Errorf("%v, %s", err, out)
	}
	// 16 branches and no more.
	var specs []string
	for i := range gitops.MaxBranches - 1 {
		specs = append(specs, fmt.Sprintf("HEAD:refs/heads/agent/t1-01-n%d", i))
	}
	gitexectest.Git(t, b.clone, append([]string{"push", "-q", "origin"}, specs...)...)
	if out, err := gitexectest.TryGit(b.clone, "", "push", "origin", "HEAD:refs/heads/agent/t1-01-more"); err == nil {
		t.Errorf("a 17th branch: %s", out)
	}
}

// T9: bombs out of a few kilobytes never get in.
func TestBombs(t *testing.T) {
	hosttest.Long(t, "TestBombsAreRefused of internal/gitops has them where a result is taken")
	b := setup(t, nil)
	gitexectest.Git(t, b.clone, "config", "core.compression", "1") // the time of the client is not the point
	gitexectest.Git(t, b.clone, "config", "core.bigFileThreshold", "1m")
	big, err := gitexectest.TryGit(b.clone, strings.Repeat("\x00", 150<<20), "hash-object", "-w", "--stdin")
	if err != nil {
		t.Fatal(big)
	}
	mktree := func(lines string) string {
		t.Helper()
		id, err := gitexectest.TryGit(b.clone, lines, "mktree")
		if err != nil {
			t.Fatal(id)
		}
		return id
	}
	leaf, err := gitexectest.TryGit(b.clone, "x", "hash-object", "-w", "--stdin")
	if err != nil {
		t.Fatal(leaf)
	}
	entry := "100644 blob " + leaf
	var wide string
	for range 8 {
		var lines strings.Builder
		for i := range 10 {
			fmt.Fprintf(&lines, "%s\t%d\n", entry, i)
		}
		wide = mktree(lines.String())
		entry = "040000 tree " + wide
	}
	for name, tree := range map[string]string{"a blob of 150 MB": mktree("100644 blob " + big + "\tbig\n"),
		"10^8 files": wide} {
		head := gitexectest.Git(t, b.clone, "commit-tree", tree, "-p", string(b.base), "-m", name)
		start := time.Now()
		out, err := gitexectest.TryGit(b.clone, "", "push", "origin", head+":refs/heads/agent/t1-01-bomb")
		if err == nil || !strings.Contains(out, "E_OBJECTS") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
		t.Logf("%s: refused after %v", name, time.Since(start))
		if _, err := gitexectest.TryGit(b.q.Dir(), "", "--git-dir=.", "cat-file", "-e", head); err == nil {
			t.Errorf("%s stayed in the repository", name)
		}
	}
	if got := b.refs(t); got != gitops.BaseBranch {
		t.Error(got)
	}
	// Too much by size alone.
	for i := range 7 {
		b.commit(t, b.clone, fmt.Sprint("noise", i), noise(10<<20, int64(i)))
	}
	if out, err := gitexectest.TryGit(b.clone, "", "push", "origin", "HEAD:refs/heads/agent/t1-01-big"); err == nil {
		t.Errorf("a pack over the limit: %s", out)
	}
	if leftovers, err := filepath.Glob(filepath.Join(b.q.Dir(), "objects", "*incoming*")); err != nil ||
		len(leftovers) != 0 {
		t.Errorf("left over: %v, %v", leftovers, err)
	}
}

// T10 at the door: one poisoned tree is refused with the reason shown.
func TestPoisonedPush(t *testing.T) {
	b := setup(t, nil)
	if err := os.Symlink("../../etc/passwd", filepath.Join(b.clone, "l")); err != nil {
		t.Fatal(err)
	}
	b.commit(t, b.clone, "f", "1")
	out, err := gitexectest.TryGit(b.clone, "", "push", "origin", "HEAD:refs/heads/agent/t1-01-x")
	if err == nil || !strings.Contains(out, "leaves the tree") {
		t.Errorf("%v, %s", err, out)
	}
	if k := b.kinds(); k != "push" {
		t.Errorf("events: %q", k)
	}
}

// T6, T7: one exact name; nothing of siblings, of the mirror, or hidden.
func TestNothingElseIsServed(t *testing.T) {
	b := setup(t, nil)
	foreign := b.commit(t, b.source, "secret", "s")
	if _, err := b.mirror.FetchBase(t.Context(), nil, gitops.Source{}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Quarantine(t.Context(), b.mirror, "t1-02.1", company.OID(foreign), nil); err != nil {
		t.Fatal(err)
	}
	b.kinds()
	for _, path := range []string{
		"/", "/git/", "/git/t1-02.1.git/info/refs?service=git-upload-pack", "/git/t1-01.1/info/refs?service=git-upload-pack",
		"/git/t1-01.1.git/../t1-02.1.git/info/refs?service=git-upload-pack",
		"/git/t1-01.1.git/%2e%2e/t1-02.1.git/info/refs?service=git-upload-pack",
		"/git/t1-01.1.git/..%2ft1-02.1.git/info/refs", "/git/t1-01%2e1.git/info/refs?service=git-upload-pack",
		"//git/t1-01.1.git/info/refs?service=git-upload-pack",
		"/git/t1-01.1.git/config", "/git/t1-01.1.git/HEAD", "/git/t1-01.1.git/info/refs",
		"/git/t1-01.1.git/objects/info/packs",
		"/git/t1-01.1.git/info/refs?service=git-upload-archive", "/git/t1-01.1.git/info/refs?service=git-upload-pack&x=1",
		"/git/t1-01.1.git/info/refs?service=--upload-pack", "/v1/chat/completions", "/goproxy/x",
		"/git/t1-01.1.git/git-upload-pack?x",
	} {
		status, body := raw(t, b.addr, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
		if status != 403 && status != 404 || !strings.Contains(body, "served") {
			t.Errorf("%s: %d %s", path, status, body)
		}
		if k := b.kinds(); k != "path" {
			t.Errorf("%s: events %q", path, k)
		}
	}
	fresh := t.TempDir()
	gitexectest.Git(t, fresh, "init", "-q")
	for _, version := range []string{"0", "1", "2"} {
		if out, err := gitexectest.TryGit(fresh, "", "-c", "protocol.version="+version, "fetch", b.url, foreign); err == nil {
			t.Errorf("protocol %s: a foreign commit was served: %s", version, out)
		}
	}
	for _, service := range []string{"git-upload-pack", "git-receive-pack"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+"/info/refs?service="+service, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Git-Protocol", "version=2") // dropped
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != 200 || strings.Contains(string(body), "version 2") ||
			strings.Contains(string(body), ".have") || strings.Contains(string(body), foreign) ||
			!strings.Contains(string(body), string(b.base)) {
			t.Errorf("%s: %d %q, %v", service, res.StatusCode, body, err)
		}
	}
}

// raw sends bytes and reads the answer to its end.
func raw(t testing.TB, addr, request string) (int, string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(c, request) }()
	answer, _ := io.ReadAll(c) // a reset after the answer is no matter
	var status int
	_, _ = fmt.Sscanf(string(answer), "HTTP/1.1 %d", &status)
	return status, string(answer)
}

// T5: anything that two readers could read differently is refused, and a
// connection carries one request.
func TestSmuggling(t *testing.T) {
	b := setup(t, nil)
	b.kinds()
	post := "POST /git/t1-01.1.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Type: " +
		"application/x-git-upload-pack-request\r\n"
	get := "GET /git/t1-01.1.git/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: x\r\n"
	for name, c := range map[string]struct {
		request string
		status  int
	}{
		"both lengths":     {post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"two lengths":      {post + "Content-Length: 4\r\nContent-Length: 5\r\n\r\n0000", 400},
		"odd length":       {post + "Content-Length: +4\r\n\r\n0000", 400},
		"odd encoding":     {post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400},
		"two encodings":    {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", 400},
		"blank in a name":  {post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
		"folded line":      {post + "X: y\r\n Content-Length: 4\r\n\r\n0000", 400},
		"bare line feed":   {get + "X: y\nContent-Length: 4\r\n\r\n", 400},
		"NUL":              {get + "X: \x00\r\n\r\n", 400},
		"upgrade":          {get + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 400},
		"two hosts":        {get + "Host: y\r\n\r\n", 400},
		"connect":          {"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"absolute form":    {"GET http://x/git/t1-01.1.git/info/refs HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"HTTP/2":           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
		"HTTP/0.9":         {"GET /\r\n\r\n", 400},
		"large header":     {get + "X: " + strings.Repeat("y", 17<<10) + "\r\n\r\n", 431},
		"wrong media type": {"POST /git/t1-01.1.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 415},
		"wrong encoding":   {post + "Content-Encoding: br\r\nContent-Length: 0\r\n\r\n", 415},
		"wrong method":     {"GET /git/t1-01.1.git/git-upload-pack HTTP/1.1\r\nHost: x\r\n\r\n", 405},
		"declared too big": {post + "Content-Length: 999999999\r\n\r\n", 413},
	} {
		if status, answer := raw(t, b.addr, c.request); status != c.status {
			t.Errorf("%s: %d, want %d: %.300s", name, status, c.status, answer)
		}
		if k := b.kinds(); k == "" {
			t.Errorf("%s: no event", name)
		}
	}
	if _, answer := raw(t, b.addr, get+"\r\n"+get+"\r\n"); strings.Count(answer, "HTTP/1.1 ") != 1 {
		t.Errorf("a connection carried two requests: %.300s", answer)
	}
}

// T5: what a small body inflates to is capped.
func TestGzipBomb(t *testing.T) {
	hosttest.NotRaced(t, "it packs and unpacks megabytes")
	b := setup(t, nil)
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	// Valid so far: haves without end, which git would go on reading.
	line := "0032have " + strings.Repeat("1", 40) + "\n"
	if _, err := io.WriteString(z, "0032want "+string(b.base)+"\n0000"); err != nil {
		t.Fatal(err)
	}
	for range 2 * maxFetchRequest / len(line) {
		if _, err := io.WriteString(z, line); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	b.kinds()
	status, answer := raw(t, b.addr,
		fmt.Sprintf("POST %s/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Type: "+
			"application/x-git-upload-pack-request\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", b.g.Path(),
			body.Len(), body.String()))
	if k := b.kinds(); k != "body" {
		t.Errorf("events %q; %d %.300s", k, status, answer)
	}
	status, _ = raw(t, b.addr, fmt.Sprintf("POST %s/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Type: "+
		"application/x-git-upload-pack-request\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", b.g.Path()))
	if status != 400 {
		t.Errorf("no gzip: %d", status)
	}
}

// git asks with an empty push first when a push is large; the answer is empty
// too, and must arrive every time.
func TestProbe(t *testing.T) {
	b := setup(t, nil)
	for range 60 {
		status, answer := raw(t, b.addr,
			"POST "+b.g.Path()+"/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Type: "+
				"application/x-git-receive-pack-request\r\nContent-Length: 4\r\n\r\n0000")
		if status != 200 {
			t.Fatalf("%d %q", status, answer)
		}
	}
}

// deadlines is a ResponseWriter that remembers its read deadline.
type deadlines struct {
	http.ResponseWriter
	read time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error { d.read = t; return nil }

// The deadline holds while a body is awaited and no longer: net/http goes on
// reading to notice a client that leaves, and an old deadline would look like
// one to a long clone.
func TestDeadlineEndsWithTheBody(t *testing.T) {
	d := &deadlines{}
	in := &request{rc: http.NewResponseController(d), r: strings.NewReader("abc")}
	if _, err := in.Read(make([]byte, 3)); err != nil || d.read.IsZero() {
		t.Errorf("no deadline on the body: %v", err)
	}
	if _, err := in.Read(make([]byte, 3)); !errors.Is(err, io.EOF) || !d.read.IsZero() {
		t.Errorf("after the body: %v, deadline %v", err, d.read)
	}
	if err := in.Close(); err != nil || !d.read.IsZero() {
		t.Errorf("Close after the body: %v, deadline %v", err, d.read)
	}
	in = &request{rc: http.NewResponseController(d), r: strings.NewReader("abc")}
	if err := in.Close(); err != nil || d.read.IsZero() || d.read.After(time.Now()) {
		t.Errorf("Close of an unread body: %v, deadline %v", err, d.read)
	}
	if _, err := in.Read(make([]byte, 3)); err == nil {
		t.Error("a closed body was read")
	}
}

// A reviewer's container clones and never pushes.
func TestReadOnly(t *testing.T) {
	b := setup(t, func(c *Config) { c.ReadOnly = true })
	b.commit(t, b.clone, "f", "1")
	out, err := gitexectest.TryGit(b.clone, "", "push", "origin", "HEAD:refs/heads/agent/t1-01-x")
	if err == nil || !strings.Contains(out, "403") {
		t.Errorf("%v, %s", err, out)
	}
	status, _ := raw(t, b.addr, "POST "+b.g.Path()+
		"/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-git-receive-pack-request\r\nContent-Length: "+
		"4\r\n\r\n0000")
	if k := b.kinds(); status != 403 || k != "read_only read_only" {
		t.Errorf("%d, events %q", status, k)
	}
}

// Close ends a conversation that hangs, with its process, and what was not
// pushed whole is not there.
func TestCloseEndsEverything(t *testing.T) {
	b := setup(t, nil)
	c, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	zero := strings.Repeat("0", 40)
	line := zero + " " + string(b.base) + " refs/heads/agent/t1-01-x\x00report-status"
	fmt.Fprintf(c, "POST %s/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Type: "+
		"application/x-git-receive-pack-request\r\nTransfer-Encoding: chunked\r\n\r\n", b.g.Path())
	fmt.Fprintf(c, "%x\r\n%04x%s0000\r\n", len(line)+8, len(line)+4, line) // and then nothing more
	waitFor(t, func() bool { return len(b.g.slots) == 1 && children(t, b.q.Dir(), "receive-pack") > 0 })
	done := make(chan error, 1)
	go func() { done <- b.g.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("Close hangs")
	}
	if n := children(t, b.q.Dir(), "receive-pack"); n != 0 {
		t.Errorf("%d processes of the push are alive", n)
	}
	// The store's own git cat-file stays for half a second after its last question.
	waitFor(t, func() bool { return children(t, b.q.Dir(), "") == 0 })
	if got := b.refs(t); got != gitops.BaseBranch {
		t.Error(got)
	}
	if err := b.g.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// children counts processes that have the directory and the git command on their command line; "" is any command.
func children(t testing.TB, dir, command string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && bytes.Contains(line, []byte(dir)) &&
			bytes.Contains(line, []byte(command)) {
			n++
		}
	}
	return n
}

func waitFor(t testing.TB, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it never came to pass")
		}
	}
}

func TestNewChecksItsRun(t *testing.T) {
	b := setup(t, nil)
	if _, err := New(Config{Quarantine: b.q, Run: "t1-02.1"}); company.CodeOf(err) != company.EInternal {
		t.Error(err)
	}
	if _, err := New(Config{Run: testRun}); company.CodeOf(err) != company.EInternal {
		t.Error(err)
	}
}

// A commit under another name is refused at the push, and its worker is told
// what to do; amended, it goes through.
func TestForgedAuthor(t *testing.T) {
	b := setup(t, nil)
	b.q.OnlyBy(gitops.Identity{Person: gitops.Person{Name: "Company", Email: "company@example.org"}, Signoff: true})
	b.commit(t, b.clone, "f", "1")
	out, err := gitexectest.TryGit(b.clone, "", "push", "-q", "origin", "HEAD:refs/heads/agent/t1-01-x")
	if err == nil || !strings.Contains(out, "but must have") || !strings.Contains(out, "--reset-author") {
		t.Fatalf("%v: %s", err, out)
	}
	if k := b.kinds(); k != "push" {
		t.Errorf("events: %q", k)
	}
	amend := exec.Command("git", "-c", "user.name=Company", "-c", "user.email=company@example.org", "commit", "-q",
		"--amend", "--no-edit", "--reset-author", "--signoff")
	amend.Dir, amend.Env = b.clone, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.clone, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := amend.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	gitexectest.Git(t, b.clone, "push", "-q", "origin", "HEAD:refs/heads/agent/t1-01-x")
}

// TestModelPath: only the run of a program has a model, and only below its path.
func TestModelPath(t *testing.T) {
	b := setup(t, nil)
	get := func(path string) string {
		answer, err := http.Get("http://" + b.addr + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return fmt.Sprint(answer.StatusCode, " ", strings.TrimSpace(string(text)))
	}
	if got := get("/_model/v1/models"); !strings.HasPrefix(got, "404 ") {
		t.Error(got)
	}
	b.mu.Lock()
	if len(b.events) != 1 || b.events[0].Kind != "path" {
		t.Errorf("%+v", b.events)
	}
	b.mu.Unlock()
	b.g.SetModel(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w,
			r.URL.Path)
	}))
	for path, want := range map[string]string{"/_model/v1/models": "200 /v1/models", "/_modelx": "404 ", "/_model": "404 ",
		"/v1/models": "404 "} {
		if got := get(path); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	b.g.SetModel(nil)
	if got := get("/_model/v1/models"); !strings.HasPrefix(got, "404 ") {
		t.Error(got)
	}
}
