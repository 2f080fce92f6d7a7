package forgetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// RealGitea is a Gitea that runs for one test, with SQLite in a folder of its
// own, behind a front on loopback that may live below a path. Its people are
// made when they are first named, and act through the API.
type RealGitea struct {
	*giteaHost
	t testing.TB // of the case
}

// giteaHost is what is the same for all cases.
type giteaHost struct {
	*front
	dir     string
	path    string
	back    *url.URL // Gitea itself
	http    *httptest.Server
	calls   *http.Client
	ca      string
	mu      sync.Mutex
	secrets map[string]string // tokens of logins, by name
	serial  int
	people  map[string]bool
}

var _ Stage = (*RealGitea)(nil)

const (
	boss     = "boss" // the site's administrator
	password = "Loopback-only-1"
)

// For is the same Gitea for another case.
func (g *RealGitea) For(t testing.TB) *RealGitea { return &RealGitea{giteaHost: g.giteaHost, t: t} }

// StartGitea starts the Gitea of a folder that scripts/build-gitea.sh made.
func StartGitea(t testing.TB, built, path string) *RealGitea {
	t.Helper()
	g := &RealGitea{t: t, giteaHost: &giteaHost{front: newFront(), dir: t.TempDir(), path: path, calls: &http.Client{Timeout: time.Minute},
		secrets: map[string]string{}, people: map[string]bool{boss: true}}}
	t.Cleanup(g.calls.CloseIdleConnections)
	port := freePort(t)
	g.back = mustURL(t, "http://127.0.0.1:"+port)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(g.back)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}}
	carry := &http.Transport{}
	proxy.Transport = carry
	proxy.ErrorLog = nil
	g.http = httptest.NewUnstartedServer(g.observed(http.StripPrefix(path, proxy)))
	g.http.StartTLS()
	t.Cleanup(func() {
		close(g.over)
		g.http.Close()
		carry.CloseIdleConnections()
	})
	g.ca = writeCA(t, g.dir, g.http)
	ini := filepath.Join(g.dir, "app.ini")
	text := fmt.Sprintf(appINI, filepath.Join(g.dir, "work"), os.Getuid() == 0, port, g.Home(), filepath.Join(built, "src"), filepath.Join(g.dir, "gitea.db"))
	if err := os.WriteFile(ini, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(built, "gitea"), append([]string{"--config", ini}, args...)...)
		cmd.Dir = g.dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir}
		return cmd
	}
	for _, args := range [][]string{{"migrate"}, {"admin", "user", "create", "--admin", "--username", boss, "--password", password, "--email", "boss@example.com", "--must-change-password=false"}} {
		if out, err := run(args...).CombinedOutput(); err != nil {
			t.Fatalf("gitea %s: %v\n%s", args[0], err, out)
		}
	}
	var said bytes.Buffer
	web := run("web")
	web.Stdout, web.Stderr = &said, &said
	if err := web.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = web.Wait()
	}()
	t.Cleanup(func() {
		_ = web.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = web.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("Gitea said:\n%s", said.String())
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		if resp, err := g.calls.Get(g.back.String() + "/api/healthz"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return g
			}
		}
		select {
		case <-ended:
			t.Fatal("Gitea ended at its start")
		case <-ctx.Done():
			t.Fatal("Gitea does not answer")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

const appINI = `RUN_MODE = prod
WORK_PATH = %s
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = %v
[server]
PROTOCOL = http
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %s
ROOT_URL = %s/
STATIC_ROOT_PATH = %s
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
PATH = %s
[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2$1000$50
[log]
MODE = console
LEVEL = Error
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[actions]
ENABLED = false
[packages]
ENABLED = false
`

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// as calls the API as somebody, for a test's people; what it answers goes into
// out. Codes from 300 on end the test.
func (g *RealGitea) as(who, method, path string, in, out any) {
	g.t.Helper()
	if code, said := g.try(who, method, path, in, out); code >= 300 {
		g.t.Fatalf("%s %s as %s: %d %s", method, path, who, code, said)
	}
}

func (g *RealGitea) try(who, method, path string, in, out any) (int, string) {
	g.t.Helper()
	var body io.Reader
	if in != nil {
		js, err := json.Marshal(in)
		if err != nil {
			g.t.Fatal(err)
		}
		body = bytes.NewReader(js)
	}
	req, err := http.NewRequest(method, g.back.String()+"/api/v1"+path, body)
	if err != nil {
		g.t.Fatal(err)
	}
	g.person(who)
	req.SetBasicAuth(who, password)
	req.Header.Set("Content-Type", "application/json")
	resp, err := g.calls.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	if resp.StatusCode < 300 && out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			g.t.Fatalf("%s %s: %v in %.500s", method, path, err, text)
		}
	}
	return resp.StatusCode, string(text)
}

// person makes a user who is not there yet.
func (g *RealGitea) person(login string) {
	g.t.Helper()
	g.mu.Lock()
	known := g.people[login]
	g.people[login] = true
	g.mu.Unlock()
	if !known {
		g.as(boss, "POST", "/admin/users", object{"username": login, "email": login + "@example.com", "password": password, "must_change_password": false}, nil)
	}
}

// Version is what it says it is.
func (g *RealGitea) Version() string {
	var v struct{ Version string }
	g.as(boss, "GET", "/version", nil, &v)
	return v.Version
}

// Home is its address for people.
func (g *RealGitea) Home() string { return g.http.URL + g.path }

// Client trusts its front.
func (g *RealGitea) Client() *http.Client { return g.http.Client() }

// NewRepo makes a repository of an organisation anew.
func (g *RealGitea) NewRepo(owner, name, src string) *Repo {
	g.t.Helper()
	r := &Repo{Owner: owner, Name: name, Default: "main"}
	if code, _ := g.try(boss, "GET", "/orgs/"+owner, nil, nil); code == http.StatusNotFound {
		g.as(boss, "POST", "/orgs", object{"username": owner}, nil)
	}
	if code, _ := g.try(boss, "GET", "/repos/"+r.full(), nil, nil); code == http.StatusOK {
		g.as(boss, "DELETE", "/repos/"+r.full(), nil, nil)
	}
	g.as(boss, "POST", "/orgs/"+owner+"/repos", object{"name": name, "default_branch": "main"}, nil)
	if _, err := git(g.dir, src, "push", "-q", g.direct(r), "HEAD:refs/heads/main"); err != nil {
		g.t.Fatal(err)
	}
	// It counts as empty, and has no pull requests, until a queue has seen the
	// push.
	g.until("the repository is not empty", func() bool {
		var is struct{ Empty bool }
		g.as(boss, "GET", "/repos/"+r.full(), nil, &is)
		return !is.Empty
	})
	return r
}

func (g *RealGitea) until(what string, holds func() bool) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			g.t.Fatalf("not in time: %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// direct is the address of a repository for the test's own git, with the
// administrator's login.
func (g *RealGitea) direct(r *Repo) string {
	u := *g.back
	u.User, u.Path = url.UserPassword(boss, password), "/"+r.full()+".git"
	return u.String()
}

type teaTeam struct {
	ID   int64
	Name string
}

func (g *RealGitea) teams(org string) (all []teaTeam) {
	g.t.Helper()
	g.as(boss, "GET", "/orgs/"+org+"/teams?limit=50", nil, &all)
	return all
}

// Invite gives a role as a collaborator, or as an owner of the organisation.
func (g *RealGitea) Invite(r *Repo, login, role string) {
	g.t.Helper()
	g.person(login)
	if role == "owner" {
		for _, t := range g.teams(r.Owner) {
			if t.Name == "Owners" {
				g.as(boss, "PUT", fmt.Sprintf("/teams/%d/members/%s", t.ID, login), nil, nil)
			}
		}
		return
	}
	g.as(boss, "PUT", "/repos/"+r.full()+"/collaborators/"+login, object{"permission": role}, nil)
}

// AddTeam makes a team with a role in the repository.
func (g *RealGitea) AddTeam(r *Repo, slug, role string, members ...string) {
	g.t.Helper()
	for _, t := range g.teams(r.Owner) { // of the case before
		if t.Name == slug {
			g.as(boss, "DELETE", fmt.Sprint("/teams/", t.ID), nil, nil)
		}
	}
	var made struct{ ID int64 }
	g.as(boss, "POST", "/orgs/"+r.Owner+"/teams", object{"name": slug, "permission": role,
		"units": []string{"repo.code", "repo.issues", "repo.pulls", "repo.releases", "repo.wiki"}}, &made)
	g.as(boss, "PUT", fmt.Sprintf("/teams/%d/repos/%s", made.ID, r.full()), nil, nil)
	for _, m := range members {
		g.person(m)
		g.as(boss, "PUT", fmt.Sprintf("/teams/%d/members/%s", made.ID, m), nil, nil)
	}
}

// giteaScopes are those that a driver says it needs.
var giteaScopes = []string{"read:user", "read:organization", "write:repository", "write:issue"}

// Login makes a token with the scopes of t, or those that a driver needs less
// what t lacks.
func (g *RealGitea) Login(name string, t Token) {
	g.t.Helper()
	g.person(t.Login)
	scopes := t.Scopes
	if len(scopes) == 0 {
		scopes = slices.Clone(giteaScopes)
		if len(t.Lacks) > 0 {
			scopes[2], scopes[3] = "read:repository", "read:issue"
		}
	}
	g.mu.Lock()
	g.serial++
	unique := fmt.Sprint(name, "-", g.serial)
	g.mu.Unlock()
	var made struct{ SHA1 string }
	g.as(t.Login, "POST", "/users/"+t.Login+"/tokens", object{"name": unique, "scopes": scopes}, &made)
	if !t.Expires.IsZero() && t.Expires.Before(time.Now()) { // Gitea's have no end: it was taken back
		g.as(t.Login, "DELETE", "/users/"+t.Login+"/tokens/"+unique, nil, nil)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.secrets[name] = made.SHA1
}

// Secret is the token of a login.
func (g *RealGitea) Secret(name string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.secrets[name]
}

// CloneURL is where git finds a repository.
func (g *RealGitea) CloneURL(r *Repo) string { return g.Home() + "/" + r.full() + ".git" }

// Commit makes a commit of one file.
func (g *RealGitea) Commit(r *Repo, branch, from, file, text string) string {
	g.t.Helper()
	return commit(g.t, g.dir, g.direct(r), branch, from, file, text)
}

// Head is the commit of a branch.
func (g *RealGitea) Head(r *Repo, branch string) string {
	out, err := git(g.dir, g.dir, "ls-remote", g.direct(r), "refs/heads/"+branch)
	if err != nil {
		g.t.Fatal(err)
	}
	sha, _, _ := strings.Cut(out, "\t")
	return sha
}

// PushAs pushes through the front with a login.
func (g *RealGitea) PushAs(r *Repo, user, secret, dir, branch string) error {
	at := strings.Replace(g.CloneURL(r), "https://", "https://"+user+":"+secret+"@", 1)
	_, err := git(g.dir, dir, "-c", "http.sslCAInfo="+g.ca, "-c", "core.askPass=true", "push", "-q", at, "HEAD:refs/heads/"+branch)
	return err
}
