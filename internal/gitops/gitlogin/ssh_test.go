package gitlogin

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// The longest beginning counts, once; pushInsteadOf is for pushes, and comes first.
func TestRewrite(t *testing.T) {
	s := newHome(t, `[url "git@github.com:"]
	insteadOf = gh:
	pushInsteadOf = https://github.com/
[url "https://mirror.example/"]
	insteadOf = https://github.com/
[url "https://mirror.example/acme-x/"]
	insteadOf = https://github.com/acme/
[url "gh:"]
	insteadOf = again:
`).read("")
	for _, c := range []struct {
		from string
		push bool
		want string
	}{
		{"gh:a/b", false, "git@github.com:a/b"}, {"gh:a/b", true, "git@github.com:a/b"}, {"again:a/b", false, "gh:a/b"},
		{"https://github.com/a/b", false, "https://mirror.example/a/b"},
		{"https://github.com/a/b", true, "git@github.com:a/b"},
		{"https://github.com/acme/b", false, "https://mirror.example/acme-x/b"},
		{"https://gitlab.com/a/b", true, "https://gitlab.com/a/b"}, {"", false, ""},
	} {
		if got := s.Rewrite(c.from, c.push); got != c.want {
			t.Errorf("%s, push %v: %s, want %s", c.from, c.push, got, c.want)
		}
	}
}

// What makes ssh ask, wait for ever or stay is switched off, whatever the president's
// configuration says: real ssh shows what holds.
func TestSSHCommandIsUnattended(t *testing.T) {
	h := newHome(t, "")
	conf := h.write("ssh config", "Host *\n  BatchMode no\n  StrictHostKeyChecking accept-new\n  UpdateHostKeys yes\n  "+
		"ForwardAgent yes\n  ForwardX11 yes\n  LocalForward 1 127.0.0.1:1\n  PermitLocalCommand yes\n  LocalCommand "+
		"false\n  ControlMaster auto\n  ControlPersist yes\n  ConnectTimeout 0\n", 0o600)
	h.write(".gitconfig", "[core]\n\tsshCommand = ssh -F '"+conf+"'\n", 0o600)
	command := h.read("").SSHCommand(`/odd "place" 100%/known`)
	out, err := exec.Command("/bin/sh", "-c", command+" -G somewhere.example").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(string(out), "\n")
	for _, want := range []string{"batchmode yes", "stricthostkeychecking true", "updatehostkeys false", "forwardagent no",
		"forwardx11 no", "permitlocalcommand no",
		"controlmaster false", "controlpersist no", "connecttimeout 20", "serveraliveinterval 15", "clearallforwardings yes",
		`globalknownhostsfile /etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2 /odd "place" 100%/known`} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q does not hold in\n%s", want, out)
		}
	}
	if got := newHome(t, "").read("").SSHCommand("/k"); !strings.HasPrefix(got, "ssh -o BatchMode=yes ") ||
		strings.Contains(got, "-F") {
		t.Errorf("without core.sshCommand: %s", got)
	}
}

func TestResolve(t *testing.T) {
	h := newHome(t, "")
	conf := h.write("ssh_config", "Host work\n  HostName github.com\n  User git\n  IdentityFile ~/.ssh/work\nHost "+
		"jump\n  HostName 10.0.0.1\n  Port 2222\n  ProxyJump bastion\n", 0o600)
	h.write(".gitconfig", "[core]\n\tsshCommand = ssh -F "+conf+"\n[url \"work:\"]\n\tinsteadOf = w:\n", 0o600)
	s := h.read("")
	for address, want := range map[string]string{
		"work:acme/app.git": "ssh://git@github.com/acme/app.git", "w:acme/app.git": "ssh://git@github.com/acme/app.git",
		"ssh://me@work/acme/app.git": "ssh://me@github.com/acme/app.git",
		"ann@jump:acme/app.git":      "ssh://ann@10.0.0.1:2222/acme/app.git", "git@gitlab.com:a/b": "git@gitlab.com:a/b",
		"https://work/a/b": "https://work/a/b", "/srv/a:b": "/srv/a:b", "-oProxyCommand=x:a": "-oProxyCommand=x:a", "": "",
	} {
		if got := s.Resolve(t.Context(), address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	at, ok := s.ResolveSSH(t.Context(), "work:acme/app.git")
	if !ok || at.Name != "github.com" || at.User != "git" || at.Port != "22" || !slices.Contains(at.Keys, "~/.ssh/work") ||
		at.Via != "" || at.Agent {
		t.Errorf("%+v, %v", at, ok)
	}
	if at, ok := s.ResolveSSH(t.Context(), "jump:x"); !ok || at.Via != "bastion" {
		t.Errorf("%+v, %v", at, ok)
	}
}

// An ssh that fails, hangs or is another program leaves the address as it is.
func TestResolveWithoutAnswer(t *testing.T) {
	before := resolveLimit
	resolveLimit = 200 * time.Millisecond
	t.Cleanup(func() { resolveLimit = before })
	for _, command := range []string{"false", "echo", "exec sleep 3600;", "/nonexistent/ssh",
		"head -c 3000000 /dev/zero #"} {
		h := newHome(t, "")
		h.write(".gitconfig", "[core]\n\tsshCommand = \""+command+"\"\n", 0o600)
		if got := h.read("").Resolve(t.Context(), "work:a/b"); got != "work:a/b" {
			t.Errorf("%s: %s", command, got)
		}
	}
	if _, err := os.Stat("/nonexistent/ssh"); err == nil {
		t.Error("it is there: the test shows nothing")
	}
}
