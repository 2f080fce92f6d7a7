package gitlogin

import (
	"context"
	"net"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"company/internal/gitexec"
	"company/internal/shell"
)

// resolveLimit is the time that ssh has to say what a name stands for. It is a variable
// for tests.
var resolveLimit = 10 * time.Second

// sshOptions are stronger than the president's configuration of ssh: no question, no
// new host key, nothing forwarded, no process that stays, an end to every wait.
var sshOptions = []string{
	"BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no",
	"PermitLocalCommand=no", "ControlMaster=no", "ControlPersist=no", "ConnectTimeout=20", "ServerAliveInterval=15", "ServerAliveCountMax=4",
}

// SSHCommand is the ssh that git starts, for a shell: that of core.sshCommand, with
// the president's ~/.ssh/config, keys and known hosts. knownHosts is one more file of
// accepted host keys.
func (s *Settings) SSHCommand(knownHosts string) string {
	command := s.plainSSH()
	for _, option := range sshOptions {
		command += " -o " + option
	}
	files := `GlobalKnownHostsFile=/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2 "` + strings.ReplaceAll(knownHosts, `"`, `\"`) + `"`
	return command + " -o " + shell.Quote(files)
}

// plainSSH is the president's command for ssh.
func (s *Settings) plainSSH() string {
	command := ""
	for _, kv := range s.ofSection("core") {
		command = kv[1] // sshCommand, the one key of core that is taken over
	}
	if strings.TrimSpace(command) == "" {
		return "ssh"
	}
	return command
}

// SSHHost is a server as ssh's configuration has it.
type SSHHost struct {
	Name string // of the host, behind an alias
	Port string
	User string
	Keys []string // files that a login is tried with, if they are there
	Via  string   // ProxyCommand or ProxyJump; empty: none
	// Agent says that an agent is asked for keys, too.
	Agent bool
}

// ResolveSSH asks ssh what the host of an ssh address stands for. ok is false where
// ssh does not say: the address stands for itself then.
func (s *Settings) ResolveSSH(ctx context.Context, address string) (at SSHHost, ok bool) {
	user, host, port, _ := SplitSSH(address)
	if host == "" || strings.HasPrefix(host, "-") || strings.HasPrefix(user, "-") {
		return SSHHost{}, false
	}
	var args []string
	if port != "" {
		args = append(args, "-p", port)
	}
	if user != "" {
		args = append(args, "-l", user)
	}
	ctx, cancel := context.WithTimeout(ctx, resolveLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", s.plainSSH() + ` -G -o BatchMode=yes "$@"`, "sh"}, append(args, host)...)...)
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + s.logins.home, "LC_ALL=C"}, s.logins.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask at
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	said := gitexec.NewHead(1 << 20)
	cmd.Stdout = said
	if err := cmd.Run(); err != nil {
		return SSHHost{}, false
	}
	at.Agent = slices.ContainsFunc(s.logins.env, func(kv string) bool { return strings.HasPrefix(kv, "SSH_AUTH_SOCK=") })
	for line := range strings.Lines(said.String()) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "hostname":
			at.Name = value
		case "port":
			at.Port = value
		case "user":
			at.User = value
		case "identityfile":
			at.Keys = append(at.Keys, value)
		case "identityagent":
			at.Agent = value != "none" && (value != "SSH_AUTH_SOCK" || at.Agent)
		case "proxycommand", "proxyjump":
			if value != "none" {
				at.Via = value
			}
		}
	}
	return at, at.Name != "" && !strings.HasPrefix(at.Name, "-")
}

// SplitSSH splits ssh://user@host:port/path and user@host:path. host is empty for
// another kind of address.
func SplitSSH(address string) (user, host, port, path string) {
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "ssh" {
			return "", "", "", ""
		}
		return u.User.Username(), u.Hostname(), u.Port(), u.Path
	}
	host, path, ok := strings.Cut(address, ":")
	if !ok || strings.ContainsRune(host, '/') {
		return "", "", "", ""
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		user, host = host[:i], host[i+1:]
	}
	return user, host, "", path
}

// Resolve is the address that the president's own git and ssh go to for a remote:
// rewritten, and with the host behind an alias of ssh.
func (s *Settings) Resolve(ctx context.Context, address string) string {
	address = s.Rewrite(address, false)
	user, host, _, path := SplitSSH(address)
	if host == "" {
		return address
	}
	at, ok := s.ResolveSSH(ctx, address)
	if !ok || strings.EqualFold(at.Name, host) {
		return address
	}
	if user == "" {
		user = at.User
	}
	host = at.Name
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if at.Port != "" && at.Port != "22" {
		host = net.JoinHostPort(at.Name, at.Port)
	}
	return "ssh://" + user + "@" + host + "/" + strings.TrimPrefix(path, "/")
}
