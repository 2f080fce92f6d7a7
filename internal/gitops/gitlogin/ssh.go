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

	"company/internal/gitops/gitexec"
	"company/internal/lib/shellquote"
)

// resolveLimit limits how long ssh may take to resolve a name. It is a variable for tests.
var resolveLimit = 10 * time.Second

// sshOptions override the president's ssh configuration: no prompts, no new host keys, no forwarding, no lingering
// process, and a limit for every wait.
var sshOptions = []string{
	"BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "ClearAllForwardings=yes", "ForwardAgent=no",
	"ForwardX11=no",
	"PermitLocalCommand=no", "ControlMaster=no", "ControlPersist=no", "ConnectTimeout=20", "ServerAliveInterval=15",
	"ServerAliveCountMax=4",
}

// SSHCommand returns the ssh command that git starts, quoted for a shell. It is core.sshCommand with the president's
// ~/.ssh/config, keys and known hosts. knownHosts is an additional file of accepted host keys.
func (s *Settings) SSHCommand(knownHosts string) string {
	command := s.plainSSH()
	for _, option := range sshOptions {
		command += " -o " + option
	}
	files := `GlobalKnownHostsFile=/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2 "` +
		strings.ReplaceAll(knownHosts, `"`, `\"`) + `"`
	return command + " -o " + shellquote.Quote(files)
}

// plainSSH returns the president's ssh command.
func (s *Settings) plainSSH() string {
	command := ""
	for _, kv := range s.ofSection("core") {
		command = kv[1] // sshCommand is the only key of core that is used
	}
	if strings.TrimSpace(command) == "" {
		return "ssh"
	}
	return command
}

// SSHHost is a server as ssh's configuration describes it.
type SSHHost struct {
	Name string // real name of the host, if it was an alias
	Port string
	User string
	Keys []string // key files that are tried, if they exist
	Via  string   // ProxyCommand or ProxyJump; may be empty
	// Agent means that an agent is asked for keys, too.
	Agent bool
}

// ResolveSSH asks ssh for the configuration of an ssh address's host. If ok is false, ssh gave no answer, and the
// address is used unchanged.
func (s *Settings) ResolveSSH(ctx context.Context, address string) (sshHost SSHHost, ok bool) {
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
	cmd := exec.CommandContext(ctx, "/bin/sh",
		append([]string{"-c", s.plainSSH() + ` -G -o BatchMode=yes "$@"`, "sh"}, append(args, host)...)...)
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + s.logins.home, "LC_ALL=C"}, s.logins.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal for prompts
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	said := gitexec.NewHead(1 << 20)
	cmd.Stdout = said
	if err := cmd.Run(); err != nil {
		return SSHHost{}, false
	}
	sshHost.Agent = slices.ContainsFunc(
		s.logins.env, func(kv string) bool { return strings.HasPrefix(kv, "SSH_AUTH_SOCK=") })
	for line := range strings.Lines(said.String()) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "hostname":
			sshHost.Name = value
		case "port":
			sshHost.Port = value
		case "user":
			sshHost.User = value
		case "identityfile":
			sshHost.Keys = append(sshHost.Keys, value)
		case "identityagent":
			sshHost.Agent = value != "none" && (value != "SSH_AUTH_SOCK" || sshHost.Agent)
		case "proxycommand", "proxyjump":
			if value != "none" {
				sshHost.Via = value
			}
		}
	}
	return sshHost, sshHost.Name != "" && !strings.HasPrefix(sshHost.Name, "-")
}

// SplitSSH splits ssh://user@host:port/path and user@host:path. host is empty for other kinds of addresses.
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

// Resolve returns the address that the president's own git and ssh use for a remote: rewritten, and with ssh aliases
// replaced by their host.
func (s *Settings) Resolve(ctx context.Context, address string) string {
	address = s.Rewrite(address, false)
	user, host, _, path := SplitSSH(address)
	if host == "" {
		return address
	}
	sshHost, ok := s.ResolveSSH(ctx, address)
	if !ok || strings.EqualFold(sshHost.Name, host) {
		return address
	}
	if user == "" {
		user = sshHost.User
	}
	host = sshHost.Name
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if sshHost.Port != "" && sshHost.Port != "22" {
		host = net.JoinHostPort(sshHost.Name, sshHost.Port)
	}
	return "ssh://" + user + "@" + host + "/" + strings.TrimPrefix(path, "/")
}
