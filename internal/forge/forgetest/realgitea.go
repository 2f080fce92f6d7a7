package forgetest

import (
	"bytes"
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

	"company/internal/lib/hosttest"
)

// RealGitea is a Gitea that runs for one test, with SQLite in its own folder, behind a loopback front that may serve
// it below a path. Its users are created at first use and act through the API.
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

// ForCase returns the same Gitea for another case.
func (g *RealGitea) ForCase(t testing.TB) *RealGitea { return &RealGitea{giteaHost: g.giteaHost, t: t} }

// StartRealGitea starts the Gitea from a folder that scripts/build-gitea.sh built.
func StartRealGitea(t testing.TB, built, path string) *RealGitea {
	t.Helper()
	realGitea := &RealGitea{t: t,
		giteaHost: &giteaHost{faultProxy: newFaultProxy(), dir: t.TempDir(), path: path,
			calls:   &http.Client{Timeout: time.Minute},
			secrets: map[string]string{}, people: map[string]bool{adminLogin: true}}}
	t.Cleanup(realGitea.calls.CloseIdleConnections)
	port := freePort(t)
	realGitea.backendURL = mustURL(t, "http://127.0.0.1:"+port)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(realGitea.backendURL)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}}
	carry := &http.Transport{}
	proxy.Transport = carry
	proxy.ErrorLog = nil
	realGitea.http = httptest.NewUnstartedServer(realGitea.wrapHandler(http.StripPrefix(path, proxy)))
	realGitea.http.StartTLS()
	t.Cleanup(func() {
		close(realGitea.done)
		realGitea.http.Close()
		carry.CloseIdleConnections()
	})
	realGitea.ca = writeCA(t, realGitea.dir, realGitea.http)
	ini := filepath.Join(realGitea.dir, "app.ini")
	text := fmt.Sprintf(appINI, filepath.Join(realGitea.dir, "work"), os.Getuid() == 0, port, realGitea.BaseURL(),
		filepath.Join(built, "src"), filepath.Join(realGitea.dir, "gitea.db"))
	if err := os.WriteFile(ini, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(built, "gitea"), append([]string{"--config", ini}, args...)...)
		cmd.Dir = realGitea.dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + realGitea.dir}
		return cmd
	}
	for _, args := range [][]string{{"migrate"},
		{"admin", "user", "create", "--admin", "--username", adminLogin, "--password", password, "--email",
			"boss@example.com", "--must-change-password=false"}} {
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
	hosttest.Eventually(t, "Gitea answers", func() (any, bool) {
		select {
		case <-ended:
			t.Fatal("Gitea ended at its start")
		default:
		}
		resp, err := realGitea.calls.Get(realGitea.backendURL.String() + "/api/healthz")
		if err != nil {
			return err, false
		}
		_ = resp.Body.Close()
		return resp.Status, resp.StatusCode == http.StatusOK
	})
	return realGitea
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// mustCall calls the API as a user of the test and decodes the answer into out. Status codes from 300 on end the
// test.
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

// ensureUser creates a user if it does not exist yet.
func (g *RealGitea) ensureUser(login string) {
	g.t.Helper()
	g.mu.Lock()
	known := g.people[login]
	g.people[login] = true
	g.mu.Unlock()
	if !known {
		g.mustCall(adminLogin, "POST", "/admin/users",
			jsonObject{"username": login, "email": login + "@example.com", "password": password, "must_change_password": false},
			nil)
	}
}

// Version returns the version that the server reports.
func (g *RealGitea) Version() string {
	var v struct{ Version string }
	g.mustCall(adminLogin, "GET", "/version", nil, &v)
	return v.Version
}

// BaseURL returns the web address of the front.
func (g *RealGitea) BaseURL() string { return g.http.URL + g.path }

// Client returns a client that trusts the front's certificate.
func (g *RealGitea) Client() *http.Client { return g.http.Client() }

// NewRepo recreates a repository of an organisation.
func (g *RealGitea) NewRepo(owner, name, src string) *Repo {
	g.t.Helper()
	repo := &Repo{Owner: owner, Name: name, Default: "main"}
	if code, _ := g.callAs(adminLogin, "GET", "/orgs/"+owner, nil, nil); code == http.StatusNotFound {
		g.mustCall(adminLogin, "POST", "/orgs", jsonObject{"username": owner}, nil)
	}
	if code, _ := g.callAs(adminLogin, "GET", "/repos/"+repo.fullName(), nil, nil); code == http.StatusOK {
		g.mustCall(adminLogin, "DELETE", "/repos/"+repo.fullName(), nil, nil)
	}
	g.mustCall(adminLogin, "POST", "/orgs/"+owner+"/repos", jsonObject{"name": name, "default_branch": "main"}, nil)
	if _, err := runGit(g.dir, src, "push", "-q", g.adminCloneURL(repo), "HEAD:refs/heads/main"); err != nil {
		g.t.Fatal(err)
	}
	// Gitea treats it as empty, without pull requests, until a queue has processed the push.
	g.waitUntil("the repository is not empty", func() bool {
		var is struct{ Empty bool }
		g.mustCall(adminLogin, "GET", "/repos/"+repo.fullName(), nil, &is)
		return !is.Empty
	})
	return repo
}

func (g *RealGitea) waitUntil(what string, holds func() bool) {
	g.t.Helper()
	hosttest.Eventually(g.t, what, func() (any, bool) { return nil, holds() })
}

// adminCloneURL returns the address of a repository for the test's own git, with the administrator's login.
func (g *RealGitea) adminCloneURL(repo *Repo) string {
	address := *g.backendURL
	address.User, address.Path = url.UserPassword(adminLogin, password), "/"+repo.fullName()+".git"
	return address.String()
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

// Invite adds a collaborator with a role, or an owner of the organisation.
func (g *RealGitea) Invite(repo *Repo, login, role string) {
	g.t.Helper()
	g.ensureUser(login)
	if role == "owner" {
		for _, giteaTeam := range g.listTeams(repo.Owner) {
			if giteaTeam.Name == "Owners" {
				g.mustCall(adminLogin, "PUT", fmt.Sprintf("/teams/%d/members/%s", giteaTeam.ID, login), nil, nil)
			}
		}
		return
	}
	g.mustCall(adminLogin, "PUT", "/repos/"+repo.fullName()+"/collaborators/"+login, jsonObject{"permission": role}, nil)
}

// AddTeam creates a team with a role in the repository.
func (g *RealGitea) AddTeam(repo *Repo, slug, role string, members ...string) {
	g.t.Helper()
	for _, giteaTeam := range g.listTeams(repo.Owner) { // from the previous case
		if giteaTeam.Name == slug {
			g.mustCall(adminLogin, "DELETE", fmt.Sprint("/teams/", giteaTeam.ID), nil, nil)
		}
	}
	var made struct{ ID int64 }
	g.mustCall(adminLogin, "POST", "/orgs/"+repo.Owner+"/teams", jsonObject{"name": slug, "permission": role,
		"units": []string{"repo.code", "repo.issues", "repo.pulls", "repo.releases", "repo.wiki"}}, &made)
	g.mustCall(adminLogin, "PUT", fmt.Sprintf("/teams/%d/repos/%s", made.ID, repo.fullName()), nil, nil)
	for _, m := range members {
		g.ensureUser(m)
		g.mustCall(adminLogin, "PUT", fmt.Sprintf("/teams/%d/members/%s", made.ID, m), nil, nil)
	}
}

// giteaScopes are the scopes that the driver requires.
var giteaScopes = []string{"read:user", "read:organization", "write:repository", "write:issue"}

// AddLogin creates a token with the scopes of token. If it names none, the token gets those that a driver needs,
// read-only if token lacks a permission.
func (g *RealGitea) AddLogin(name string, token Token) {
	g.t.Helper()
	g.ensureUser(token.Login)
	scopes := token.Scopes
	if len(scopes) == 0 {
		scopes = slices.Clone(giteaScopes)
		if len(token.MissingPermissions) > 0 {
			scopes[2], scopes[3] = "read:repository", "read:issue"
		}
	}
	g.mu.Lock()
	g.serial++
	unique := fmt.Sprint(name, "-", g.serial)
	g.mu.Unlock()
	var made struct{ SHA1 string }
	g.mustCall(token.Login, "POST", "/users/"+token.Login+"/tokens", jsonObject{"name": unique, "scopes": scopes}, &made)
	if !token.Expires.IsZero() && token.Expires.Before(time.Now()) { // Gitea's tokens do not expire, so it is revoked
		g.mustCall(token.Login, "DELETE", "/users/"+token.Login+"/tokens/"+unique, nil, nil)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.secrets[name] = made.SHA1
}

// Secret returns the token of a login.
func (g *RealGitea) Secret(name string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.secrets[name]
}

// CloneURL returns the address of a repository for git.
func (g *RealGitea) CloneURL(r *Repo) string { return g.BaseURL() + "/" + r.fullName() + ".git" }

// Commit creates a commit of one file.
func (g *RealGitea) Commit(repo *Repo, branch, from, file, text string) string {
	g.t.Helper()
	return pushCommit(g.t, g.dir, g.adminCloneURL(repo), branch, from, file, text)
}

// Head returns the commit of a branch.
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
	_, err := runGit(g.dir, dir, "-c", "http.sslCAInfo="+g.ca, "-c", "core.askPass=true", "push", "-q", at,
		"HEAD:refs/heads/"+branch)
	return err
}
