package gitlogin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/office/config/configtest"
)

const canarySecret = "canary-CANARY-0123456789"

// home is a president's home in which git looks for its configuration.
type home struct {
	t   *testing.T
	dir string
}

func newHome(t *testing.T, gitconfig string) home {
	t.Helper()
	h := home{t, configtest.Dir(t)}
	h.write(".gitconfig", gitconfig, 0o600)
	return h
}

func (h home) write(name, text string, mode os.FileMode) string {
	h.t.Helper()
	p := filepath.Join(h.dir, name)
	configtest.WriteFile(h.t, p, text)
	if err := os.Chmod(p, mode); err != nil {
		h.t.Fatal(err)
	}
	return p
}

// read reads the settings of the home.
func (h home) read(gitDir string) *Settings {
	h.t.Helper()
	l := New(
		configtest.Env(
			map[string]string{"HOME": h.dir, "PATH": os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM": "1", "SECRET_OF_OTHERS": "x"}))
	s, err := l.Read(h.t.Context(), gitDir)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func keysOf(settings []gitexec.Setting) (out []string) {
	for _, kv := range settings {
		out = append(out, kv[0]+"="+kv[1])
	}
	return out
}

// GIT-12, T11: of the user's configuration what is listed is taken over, and nothing
// that makes git run a program.
func TestListedKeysAlone(t *testing.T) {
	c := gitexectest.NewCanary(t)
	h := newHome(t, c.Config()+`
[http]
	proxy = http://proxy.example:3128
	sslVerify = false
[http "https://git.example.com:8443/"]
	extraHeader = X-Team: a.b
	sslCAInfo = /ca.pem
[alias]
	credential = !false
[protocol "ext"]
	allow = always
[include]
	path = more
[url "git@github.com:"]
	fetch = x
	insteadOf = gh:
`)
	h.write("more", "[http]\n\tversion = HTTP/1.1\n\temptyAuth\n", 0o600)
	s := h.read("")
	want := []string{"http.proxy=http://proxy.example:3128", "http.https://git.example.com:8443/.extraheader=X-Team: a.b",
		"http.https://git.example.com:8443/.sslcainfo=/ca.pem", "http.version=HTTP/1.1", "http.emptyauth=true"}
	if got := keysOf(s.HTTP()); !slices.Equal(got, want) {
		t.Errorf("taken over: %q\nwant        %q", got, want)
	}
	for _, kv := range s.all {
		if !strings.HasPrefix(kv[0], "http.") &&
			!slices.Contains([]string{"credential.helper", "core.sshcommand", "url.git@github.com:.insteadof"}, kv[0]) {
			t.Errorf("%s is taken over", kv[0])
		}
	}
	if what := c.Ran(); what != "" {
		t.Errorf("reading it ran %s", what)
	}
	if text := fmt.Sprint(s); strings.Contains(text, "proxy") {
		t.Errorf("it shows itself as %s", text)
	}
}

// A repository's own configuration sets nothing; by its place it chooses among the
// user's own includes.
func TestRepositoryIsNoSource(t *testing.T) {
	repo := configtest.Repo(t, nil)
	configtest.Git(t, repo, "config", "http.proxy", "http://evil.example:1")
	configtest.Git(t, repo, "config", "credential.helper", "!evil")
	other := configtest.Repo(t, nil)
	h := newHome(t, "[includeIf \"gitdir:"+repo+"/\"]\n\tpath = work\n")
	h.write("work", "[http]\n\tproxy = http://work.example:1\n", 0o600)
	if got := keysOf(h.read(filepath.Join(repo, ".git")).all); !slices.Equal(
		got, []string{"http.proxy=http://work.example:1"}) {
		t.Errorf("%q", got)
	}
	for _, dir := range []string{"", filepath.Join(other, ".git")} {
		if got := keysOf(h.read(dir).all); len(got) != 0 {
			t.Errorf("%q: %q", dir, got)
		}
	}
}

// A configuration that git cannot read is said with its file and line.
func TestBrokenConfiguration(t *testing.T) {
	h := newHome(t, "[http\n")
	l := New(configtest.Env(map[string]string{"HOME": h.dir, "GIT_CONFIG_NOSYSTEM": "1"}))
	_, err := l.Read(t.Context(), "")
	if company.CodeOf(err) != company.EConfig || !company.NeedsPerson(err) ||
		!strings.Contains(err.Error(), "bad config line 1 in file "+h.dir) {
		t.Errorf("%v", err)
	}
	for _, env := range []map[string]string{nil, {"HOME": "relative"}} {
		if New(configtest.Env(env)) != nil {
			t.Errorf("%v is a home", env)
		}
	}
}

func TestPathWithoutRelativeFolders(t *testing.T) {
	for path, want := range map[string]string{"/a:.:/b::c": "/a:/b", ".": "/usr/bin:/bin"} {
		if got := keepAbsolute(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

var server = Server{Protocol: "https", Host: "git.example.com:8443", Path: "acme/app.git"}

func (h home) find(at Server) (Login, error) {
	h.t.Helper()
	return h.read("").Find(h.t.Context(), at, nil)
}

// git's own store, and a script of the president's that notes what it was asked.
func TestHelpersAnswer(t *testing.T) {
	h := newHome(t, "[credential]\n\thelper = store\n")
	h.write(".git-credentials", "https://ann:"+canarySecret+"@git.example.com:8443\n", 0o600)
	l, err := h.find(server)
	if err != nil || l.User != "ann" || l.Secret.Reveal() != canarySecret || l.Source != "your credential helper store" {
		t.Fatalf("%+v, %v", l, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", l, l, l); strings.Contains(text, canarySecret) {
		t.Errorf("it shows itself as %s", text)
	}
	other := server
	other.User = "bob"
	if l, err := h.find(other); err != nil || l.Secret.Set() {
		t.Errorf("the login of another user: %+v, %v", l, err)
	}

	note := filepath.Join(h.dir, "note")
	script := h.write("bin/helper",
		"#!/bin/sh\n{ echo \"$1\"; cat; env; cut -d' ' -f6 /proc/$$/stat; } >>"+note+
			"\n[ \"$1\" = get ] && printf 'username=cy\\npassword="+canarySecret+"\\n'\n", 0o700)
	h.write(".gitconfig",
		"[credential]\n\thelper = !false\n[credential \"https://git.example.com:8443\"]\n\thelper =\n\thelper = "+script+
			"\n\tuseHttpPath = true\n", 0o600)
	if l, err = h.find(server); err != nil || l.User != "cy" || l.Source != "your credential helper helper" {
		t.Fatalf("%+v, %v", l, err)
	}
	text, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"get\nprotocol=https\nhost=git.example.com:8443\npath=acme/app.git\n",
		"HOME=" + h.dir + "\n", "GIT_TERMINAL_PROMPT=0\n", "GCM_INTERACTIVE=never\n", "GIT_CONFIG_GLOBAL=/dev/null\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the helper was not given %q:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "SECRET_OF_OTHERS") {
		t.Error("the helper has the whole environment")
	}
	if l, err := h.find(Server{Protocol: "https", Host: "other.example"}); err != nil || l.Secret.Set() {
		t.Errorf("another host: %+v, %v", l, err)
	}
}

// A helper has no terminal that it could ask at.
func TestHelperHasNoTerminal(t *testing.T) {
	h := newHome(t, "")
	note := filepath.Join(h.dir, "note")
	h.write(".gitconfig", "[credential]\n\thelper = \"!cut -d' ' -f6 /proc/$$/stat >"+note+"; true\"\n", 0o600)
	if _, err := h.find(server); err != nil {
		t.Fatal(err)
	}
	session := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f := strings.Fields(string(text))
		return f[min(5, len(f)-1)]
	}
	if its, ours := session(note), session("/proc/self/stat"); its == ours || its == "" {
		t.Errorf("its session is %s, ours %s", its, ours)
	}
}

// A helper that fails, writes garbage or a login for another server gives none; what
// it writes beside is not shown; one that hangs is given up.
func TestHelpersThatFail(t *testing.T) {
	for name, script := range map[string]string{
		"fails":          "echo " + canarySecret + " >&2; exit 3",
		"is not there":   "/nonexistent/helper",
		"is silent":      "true",
		"writes garbage": "head -c 100000 /dev/urandom; echo; echo " + canarySecret,
		"no password":    "echo username=ann",
		"quits":          "echo quit=1",
	} {
		h := newHome(t, "[credential]\n\thelper = \"!f() { "+script+"; }; f\"\n")
		l, err := h.find(server)
		if err != nil && (!company.NeedsPerson(err) || company.CodeOf(err) != company.EAuth) || l.Secret.Set() {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		if err != nil && strings.Contains(err.Error()+fmt.Sprintf("%#v", err), canarySecret) {
			t.Errorf("%s: the error shows what the helper wrote: %v", name, err)
		}
	}
	for name, script := range map[string]string{
		"another server": "echo host=evil.example; echo username=a; echo password=" + canarySecret,
		"a long one":     "echo username=a; printf password=; head -c 100000 /dev/zero | tr '\\\\000' x; echo",
	} {
		h := newHome(t, "[credential]\n\thelper = \"!f() { "+script+"; }; f\"\n")
		_, err := h.find(server)
		if company.CodeOf(err) != company.EAuth || strings.Contains(err.Error(), canarySecret) ||
			!strings.Contains(err.Error(), "a command of yours") {
			t.Errorf("%s: %v", name, err)
		}
	}
	before := helperLimit
	helperLimit = 200 * time.Millisecond
	t.Cleanup(func() { helperLimit = before })
	h := newHome(t, "[credential]\n\thelper = \"!f() { exec sleep 3600; }; f\"\n")
	_, err := h.find(server)
	if company.CodeOf(err) != company.EAuth || !strings.Contains(err.Error(), "did not answer") {
		t.Error(err)
	}
}

// A login that a helper renewed goes back to it once it was good, and no other does.
// git passes a refresh token on since 2.41, so the answer is written here.
func TestRenewedLoginIsGivenBack(t *testing.T) {
	h := newHome(t, "")
	note := filepath.Join(h.dir, "note")
	script := h.write("helper", "#!/bin/sh\n{ echo \"$1\"; cat; } >>"+note+"\n", 0o700)
	h.write(".gitconfig", "[credential]\n\thelper = "+script+"\n", 0o600)
	for _, renewed := range []bool{false, true} {
		answer := "protocol=https\nhost=git.example.com:8443\nusername=a\npassword=p\n"
		if renewed {
			answer += "oauth_refresh_token=next\n"
		}
		l, ok := parseAnswer(answer, server)
		if !ok || l.Secret.Reveal() != "p" {
			t.Fatalf("%+v", l)
		}
		h.read("").Approve(t.Context(), l, nil)
		text, _ := os.ReadFile(note)
		if got := strings.HasPrefix(string(text), "store\n") &&
			strings.Contains(string(text), "password=p\n"); got != renewed || !renewed && len(text) > 0 {
			t.Errorf("renewed %v: the helper was told %q", renewed, text)
		}
	}
}

func TestNetrc(t *testing.T) {
	at := func(host, user string) Server { return Server{Protocol: "https", Host: host, User: user} }
	text := "# machine a.example login comment password no\nmacdef init\nmachine a.example login macro password no\n\n" +
		"machine a.example\n  login ann password \"p \\\"q\\\" \\\\x\" # more\nmachine a.example login bob account z " +
		"password bobs\n" +
		"machine b.example password alone\nmachine c.example login nopassword\nmachine [::1] login x password y\n"
	h := newHome(t, "")
	h.write(".netrc", text, 0o600)
	for _, c := range []struct{ host, user, wantUser, want string }{
		{"a.example", "", "ann", `p "q" \x`}, {"A.example:8443", "", "ann", `p "q" \x`}, {"a.example", "bob", "bob", "bobs"},
		{"a.example", "eve", "", ""}, {"b.example", "", "", "alone"}, {"c.example", "", "", ""}, {"d.example", "", "", ""},
		{"machine", "", "", ""},
	} {
		l, err := h.find(at(c.host, c.user))
		if err != nil || l.User != c.wantUser && c.want != "" || l.Secret.Reveal() != c.want ||
			c.want != "" && l.Source != "~/.netrc" {
			t.Errorf("%+v: %+v %q, %v", c, l, l.Secret.Reveal(), err)
		}
	}
	h.write(".netrc", text+"default login any password one", 0o600)
	if l, err := h.find(at("d.example", "")); err != nil || l.User != "any" || l.Secret.Reveal() != "one" {
		t.Errorf("%+v, %v", l, err)
	}
	// Others can read it: where it has the login, that is an error; else it does not matter.
	for _, mode := range []os.FileMode{0o644, 0o640, 0o606} {
		h.write(".netrc", text, mode)
		_, err := h.find(at("a.example", ""))
		if company.CodeOf(err) != company.EAuth || !company.NeedsPerson(err) ||
			!strings.Contains(err.Error(), fmt.Sprintf("%04o", mode)) {
			t.Errorf("%o: %v", mode, err)
		}
		if _, err := h.find(at("d.example", "")); err != nil {
			t.Errorf("%o: %v", mode, err)
		}
	}
	// What is not a file is refused, and nothing waits for it.
	for _, put := range []func(string) error{
		func(p string) error { return os.Mkdir(p, 0o700) },
		func(p string) error { return os.Symlink("/dev/zero", p) },
	} {
		h := newHome(t, "")
		if err := put(filepath.Join(h.dir, ".netrc")); err != nil {
			t.Fatal(err)
		}
		if _, err := h.find(at("a.example", "")); company.CodeOf(err) != company.EAuth {
			t.Errorf("%v", err)
		}
	}
}

// ~/.netrc comes before the helpers, as in git.
func TestNetrcComesFirst(t *testing.T) {
	h := newHome(t, "[credential]\n\thelper = \"!echo password=helper; echo username=h; true\"\n")
	h.write(".netrc", "machine git.example.com login n password netrc", 0o600)
	if l, err := h.find(server); err != nil || l.Secret.Reveal() != "netrc" {
		t.Errorf("%+v, %v", l, err)
	}
}
