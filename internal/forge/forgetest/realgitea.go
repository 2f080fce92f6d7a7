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

// giteaHost is the part that all cases share.
type giteaHost struct {
	*faultProxy
	dir        string
	path       string
	backendURL *url.URL // Gitea itself
	http       *httptest.Server
	calls      *http.Client
	ca         string
	mu         sync.Mutex
	secrets    map[string]string // tokens of logins, by name
	serial     int
	people     map[string]bool
}

var _ Host = (*RealGitea)(nil)

const (
	adminLogin = "boss" // the site's administrator
	password   = "Loopback-only-1"
)

// ForCase is the same Gitea for another case.
func (g *RealGitea) ForCase(t testing.TB) *RealGitea { return &RealGitea{giteaHost: g.giteaHost, t: t} }

// StartRealGitea starts the Gitea of a folder that scripts/build-gitea.sh made.
func StartRealGitea(t testing.TB, built, path string) *RealGitea {
	t.Helper()
	g := &RealGitea{t: t, giteaHost: &giteaHost{faultProxy: newFaultProxy(), dir: t.TempDir(), path: path, calls: &http.Client{Timeout: time.Minute},
		secrets: map[string]string{}, people: map[string]bool{adminLogin: true}}}
	t.Cleanup(g.calls.CloseIdleConnections)
	port := freePort(t)
	g.backendURL = mustURL(t, "http://127.0.0.1:"+port)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(g.backendURL)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}}
	carry := &http.Transport{}
	proxy.Transport = carry
	proxy.ErrorLog = nil
	g.http = httptest.NewUnstartedServer(g.wrapHandler(http.StripPrefix(path, proxy)))
	g.http.StartTLS()
	t.Cleanup(func() {
		close(g.done)
		g.http.Close()
		carry.CloseIdleConnections()
	})
	g.ca = writeCA(t, g.dir, g.http)
	ini := filepath.Join(g.dir, "app.ini")
	text := fmt.Sprintf(appINI, filepath.Join(g.dir, "work"), os.Getuid() == 0, port, g.BaseURL(), filepath.Join(built, "src"), filepath.Join(g.dir, "gitea.db"))
	if err := os.WriteFile(ini, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(built, "gitea"), append([]string{"--config", ini}, args...)...)
		cmd.Dir = g.dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir}
		return cmd
	}
	for _, args := range [][]string{{"migrate"}, {"admin", "user", "create", "--admin", "--username", adminLogin, "--password", password, "--email", "boss@example.com", "--must-change-password=false"}} {
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
		if resp, err := g.calls.Get(g.backendURL.String() + "/api/healthz"); err == nil {
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

// mustCall calls the API as one of a test's people; the answer goes into out.
// Codes from 300 on end the test.
func (g *RealGitea) mustCall(who, method, path string, in, out any) {
	g.t.Helper()
	if code, said := g.callAs(who, method, path, in, out); code >= 300 {
		g.t.Fatalf("%s %s as %s: %d %s", method, path, who, code, said)
	}
}

func (g *RealGitea) callAs(who, method, path string, in, out any) (int, string) {
	g.t.Helper()
	var body io.Reader
	if in != nil {
		js, err := json.Marshal(in)
		if err != nil {
			g.t.Fatal(err)
		}
		body = bytes.NewReader(js)
	}
	req, err := http.NewRequest(method, g.backendURL.String()+"/api/v1"+path, body)
	if err != nil {
		g.t.Fatal(err)
	}
	g.ensureUser(who)
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

// ensureUser makes a user that is not there yet.
func (g *RealGitea) ensureUser(login string) {
	g.t.Helper()
	g.mu.Lock()
	known := g.people[login]
	g.people[login] = true
	g.mu.Unlock()
	if !known {
		g.mustCall(adminLogin, "POST", "/admin/users", jsonObject{"username": login, "email": login + "@example.com", "password": password, "must_change_password": false}, nil)
	}
}

// Version is what it says it is.
func (g *RealGitea) Version() string {
	var v struct{ Version string }
	g.mustCall(adminLogin, "GET", "/version", nil, &v)
	return v.Version
}

// BaseURL is its address for people.
func (g *RealGitea) BaseURL() string { return g.http.URL + g.path }

// Client trusts its front.
func (g *RealGitea) Client() *http.Client { return g.http.Client() }

// NewRepo makes a repository of an organisation anew.
func (g *RealGitea) NewRepo(owner, name, src string) *Repo {
	g.t.Helper()
	r := &Repo{Owner: owner, Name: name, Default: "main"}
	if code, _ := g.callAs(adminLogin, "GET", "/orgs/"+owner, nil, nil); code == http.StatusNotFound {
		g.mustCall(adminLogin, "POST", "/orgs", jsonObject{"username": owner}, nil)
	}
	if code, _ := g.callAs(adminLogin, "GET", "/repos/"+r.fullName(), nil, nil); code == http.StatusOK {
		g.mustCall(adminLogin, "DELETE", "/repos/"+r.fullName(), nil, nil)
	}
	g.mustCall(adminLogin, "POST", "/orgs/"+owner+"/repos", jsonObject{"name": name, "default_branch": "main"}, nil)
	if _, err := runGit(g.dir, src, "push", "-q", g.adminCloneURL(r), "HEAD:refs/heads/main"); err != nil {
		g.t.Fatal(err)
	}
	// It counts as empty, and has no pull requests, until a queue has seen the
	// push.
	g.waitUntil("the repository is not empty", func() bool {
		var is struct{ Empty bool }
		g.mustCall(adminLogin, "GET", "/repos/"+r.fullName(), nil, &is)
		return !is.Empty
	})
	return r
}

func (g *RealGitea) waitUntil(what string, holds func() bool) {
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

// adminCloneURL is the address of a repository for the test's own git, with the
// administrator's login.
func (g *RealGitea) adminCloneURL(r *Repo) string {
	u := *g.backendURL
	u.User, u.Path = url.UserPassword(adminLogin, password), "/"+r.fullName()+".git"
	return u.String()
}

type giteaTeam struct {
	ID   int64
	Name string
}

func (g *RealGitea) listTeams(org string) (all []giteaTeam) {
	g.t.Helper()
	g.mustCall(adminLogin, "GET", "/orgs/"+org+"/teams?limit=50", nil, &all)
	return all
}

// Invite gives a role as a collaborator, or as an owner of the organisation.
func (g *RealGitea) Invite(r *Repo, login, role string) {
	g.t.Helper()
	g.ensureUser(login)
	if role == "owner" {
		for _, t := range g.listTeams(r.Owner) {
			if t.Name == "Owners" {
				g.mustCall(adminLogin, "PUT", fmt.Sprintf("/teams/%d/members/%s", t.ID, login), nil, nil)
			}
		}
		return
	}
	g.mustCall(adminLogin, "PUT", "/repos/"+r.fullName()+"/collaborators/"+login, jsonObject{"permission": role}, nil)
}

// AddTeam makes a team with a role in the repository.
func (g *RealGitea) AddTeam(r *Repo, slug, role string, members ...string) {
	g.t.Helper()
	for _, t := range g.listTeams(r.Owner) { // of the case before
		if t.Name == slug {
			g.mustCall(adminLogin, "DELETE", fmt.Sprint("/teams/", t.ID), nil, nil)
		}
	}
	var made struct{ ID int64 }
	g.mustCall(adminLogin, "POST", "/orgs/"+r.Owner+"/teams", jsonObject{"name": slug, "permission": role,
		"units": []string{"repo.code", "repo.issues", "repo.pulls", "repo.releases", "repo.wiki"}}, &made)
	g.mustCall(adminLogin, "PUT", fmt.Sprintf("/teams/%d/repos/%s", made.ID, r.fullName()), nil, nil)
	for _, m := range members {
		g.ensureUser(m)
		g.mustCall(adminLogin, "PUT", fmt.Sprintf("/teams/%d/members/%s", made.ID, m), nil, nil)
	}
}

// giteaScopes are those that a driver says it needs.
var giteaScopes = []string{"read:user", "read:organization", "write:repository", "write:issue"}

// AddLogin makes a token with the scopes of t, or those that a driver needs less
// what t lacks.
func (g *RealGitea) AddLogin(name string, t Token) {
	g.t.Helper()
	g.ensureUser(t.Login)
	scopes := t.Scopes
	if len(scopes) == 0 {
		scopes = slices.Clone(giteaScopes)
		if len(t.MissingPermissions) > 0 {
			scopes[2], scopes[3] = "read:repository", "read:issue"
		}
	}
	g.mu.Lock()
	g.serial++
	unique := fmt.Sprint(name, "-", g.serial)
	g.mu.Unlock()
	var made struct{ SHA1 string }
	g.mustCall(t.Login, "POST", "/users/"+t.Login+"/tokens", jsonObject{"name": unique, "scopes": scopes}, &made)
	if !t.Expires.IsZero() && t.Expires.Before(time.Now()) { // Gitea's have no end: it was taken back
		g.mustCall(t.Login, "DELETE", "/users/"+t.Login+"/tokens/"+unique, nil, nil)
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
func (g *RealGitea) CloneURL(r *Repo) string { return g.BaseURL() + "/" + r.fullName() + ".git" }

// Commit makes a commit of one file.
func (g *RealGitea) Commit(r *Repo, branch, from, file, text string) string {
	g.t.Helper()
	return pushCommit(g.t, g.dir, g.adminCloneURL(r), branch, from, file, text)
}

// Head is the commit of a branch.
func (g *RealGitea) Head(r *Repo, branch string) string {
	out, err := runGit(g.dir, g.dir, "ls-remote", g.adminCloneURL(r), "refs/heads/"+branch)
	if err != nil {
		g.t.Fatal(err)
	}
	sha, _, _ := strings.Cut(out, "\t")
	return sha
}

// PushAs pushes through the front with a login.
func (g *RealGitea) PushAs(r *Repo, user, secret, dir, branch string) error {
	at := strings.Replace(g.CloneURL(r), "https://", "https://"+user+":"+secret+"@", 1)
	_, err := runGit(g.dir, dir, "-c", "http.sslCAInfo="+g.ca, "-c", "core.askPass=true", "push", "-q", at, "HEAD:refs/heads/"+branch)
	return err
}
