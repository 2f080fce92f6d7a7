package gitops

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safedir"
)

// KnownHosts returns the file of the ssh host keys that the president accepted, in the store below root. ssh trusts
// only this file.
func KnownHosts(root string) string { return filepath.Join(root, "known_hosts") }

// sshCommand returns the ssh command that git starts: no configuration file, no prompts, strict host keys, one login
// method, no forwarding.
func (a *remoteEndpoint) sshCommand() string {
	store := a.s
	if a.ssh != nil {
		return a.own.SSHCommand(store.known)
	}
	options := []string{
		"BatchMode=yes", "StrictHostKeyChecking=yes", "UserKnownHostsFile=" + sshPath(store.known),
		"GlobalKnownHostsFile=/dev/null",
		"UpdateHostKeys=no", "CheckHostIP=no", "PreferredAuthentications=publickey", "ClearAllForwardings=yes",
		"ForwardAgent=no",
		"ConnectTimeout=20", "ServerAliveInterval=15", "ServerAliveCountMax=4",
	}
	if store.cfg.Method == ByDeployKey {
		options = append(options, "IdentityAgent=none", "IdentitiesOnly=yes", "IdentityFile="+sshPath(store.cfg.DeployKey))
	} else {
		// Use only the agent's keys. Without IdentityFile=none, ssh would search the user's home.
		options = append(options, "IdentityAgent="+sshPath(store.cfg.AgentSocket), "IdentityFile=none")
	}
	out := "ssh -F /dev/null"
	for _, o := range options {
		out += " -o " + shellQuote(o)
	}
	return out
}

// sshPath quotes a path for ssh options, with % and ${ escaped.
func sshPath(p string) string {
	return `"` + strings.NewReplacer("%", "%%", `"`, `\"`).Replace(p) + `"`
}

// HostKey is one public key of a server.
type HostKey struct {
	Host string // as in a known_hosts file: name, or [name]:port
	Type string // ssh-ed25519, …
	Key  string // base64
}

// Fingerprint returns the form in which people compare keys: SHA256:…
func (k HostKey) Fingerprint() string {
	raw, err := base64.StdEncoding.DecodeString(k.Key)
	if err != nil {
		return "not a key"
	}
	sum := sha256.Sum256(raw)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

const scanTimeout = 20 * time.Second

// ScanHost asks a server, by name or name:port, for its host keys. They are untrusted until a person has compared the
// fingerprints.
func ScanHost(ctx context.Context, host string) ([]HostKey, error) {
	name, port, err := splitHost(host)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, scanTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ssh-keyscan", "-T", "10", "-p", port, "-t", "ed25519,ecdsa,rsa", "--", name)
	cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/local/bin", "LC_ALL=C"}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, company.E(company.EGit, "ssh-keyscan is not installed").Fix("apt-get install openssh-client")
	}
	keys := parseHosts(string(out))
	if len(keys) == 0 {
		return nil, company.E(company.EGit, "no ssh server answers at "+host).Wrap(err).
			Fix("check the name, the port and the network")
	}
	return keys, nil
}

// splitHost parses a server's name or name:port. It refuses names that would be options.
func splitHost(host string) (name, port string, err error) {
	name, port = host, "22"
	if h, p, err := net.SplitHostPort(host); err == nil {
		name, port = h, p
	}
	name = strings.Trim(name, "[]")
	if name == "" || len(name) > 253 || strings.HasPrefix(name, "-") || strings.ContainsAny(name, " \t\r\n\x00/@*?!,|#") ||
		strings.Trim(port, "0123456789") != "" || port == "" {
		return "", "", company.E(company.EUsage, fmt.Sprintf("invalid host %q", host)).
			Fix("use a name, or name:port, such as git.example.com:2222")
	}
	return name, port, nil
}

// parseHosts parses the lines of a known_hosts file and skips others.
func parseHosts(text string) []HostKey {
	var out []HostKey
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(f[0], "#") || strings.HasPrefix(f[0], "@") {
			continue
		}
		out = append(out, HostKey{Host: f[0], Type: f[1], Key: f[2]})
	}
	return out
}

// hostName returns a server's name in known_hosts.
func hostName(host string) string {
	name, port, err := splitHost(host)
	if err != nil || port == "22" {
		return name
	}
	return "[" + name + "]:" + port
}

// Known returns the host keys of a server that the president accepted, from the store below root.
func Known(root, host string) ([]HostKey, error) { return knownIn(KnownHosts(root), host) }

func knownIn(file, host string) ([]HostKey, error) {
	var text []byte
	dir, err := safedir.Open(filepath.Dir(file))
	if err == nil {
		defer dir.Close()
		text, err = dir.ReadFile(filepath.Base(file), 0)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, storeError("the known hosts cannot be read", err)
	}
	name := hostName(host)
	return slices.DeleteFunc(parseHosts(string(text)), func(k HostKey) bool { return k.Host != name }), nil
}

// AcceptHost replaces the keys of a server in the known hosts of the store below root. It is called only for the
// president.
func AcceptHost(root, host string, keys []HostKey) error {
	name := hostName(host)
	if len(keys) == 0 {
		return company.E(company.EInvalid, "there is no key of "+host+" to accept")
	}
	fail := func(err error) error {
		var own *company.Error
		if errors.As(err, &own) {
			return err
		}
		return company.E(company.EGit, "the known hosts cannot be written").Wrap(err).
			Fix("check that you may write to " + root)
	}
	dir, err := safedir.Make(filepath.Clean(root))
	if err != nil {
		return fail(err)
	}
	defer dir.Close()
	file := filepath.Base(KnownHosts(root))
	old, err := dir.ReadFile(file, 0)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fail(err)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(string(old), "\n") {
		if f := strings.Fields(line); len(f) > 0 && f[0] != name {
			b.WriteString(line + "\n")
		}
	}
	for _, k := range keys {
		fmt.Fprintf(&b, "%s %s %s\n", name, k.Type, k.Key)
	}
	if err := dir.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return fail(err)
	}
	return nil
}

// hostKeyRefused explains why ssh stopped: the server is unknown or its key differs from the accepted one.
func (a *remoteEndpoint) hostKeyRefused(ctx context.Context) error {
	known, err := knownIn(a.s.known, a.host)
	if err != nil {
		return err
	}
	host := strings.TrimSuffix(a.host, ":22")
	var seen []string
	keys, err := ScanHost(ctx, a.host)
	for _, k := range keys {
		seen = append(seen, k.Fingerprint()+" ("+strings.TrimPrefix(k.Type, "ssh-")+")")
	}
	now := "it shows " + strings.Join(seen, ", ")
	if err != nil {
		now = "its keys could not be read"
	}
	refused := company.E(company.EHostKey, fmt.Sprintf("the ssh server %s is not known", host)).Because(now).
		Fix("compare with what the server's operator publishes, then: company git trust-host " + host)
	if len(known) > 0 {
		var was []string
		for _, k := range known {
			was = append(was, k.Fingerprint())
		}
		refused = company.E(company.EHostKey, fmt.Sprintf("the ssh server %s has a new key", host)).
			Because("accepted was " + strings.Join(was, ", ") + "; " + now + ". This may be another server").
			Fix("ask the server's operator; only if the change is theirs: company git trust-host --replace " + host)
	}
	return refused.NeedsPerson()
}
