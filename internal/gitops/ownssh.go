package gitops

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitlogin"
	"company/internal/lib/healthcheck"
)

// hasToken reports whether there is a token for an https address. A token that cannot be used is an error.
func (a *remoteEndpoint) hasToken(ctx context.Context, address string) (bool, error) {
	host := HostOf(address)
	if host == "" {
		return false, nil
	}
	over := &remoteEndpoint{s: a.s, url: address, host: host}
	login, err := over.findToken(ctx)
	if errors.As(err, new(noTokenError)) {
		err = nil
	}
	return login.Secret.Set(), err
}

// useOwnSSH makes the endpoint use the president's own ssh for an ssh address.
func (a *remoteEndpoint) useOwnSSH(ctx context.Context, address string) {
	sshHost, ok := a.own.ResolveSSH(ctx, address)
	if !ok {
		user, host, port, _ := gitlogin.SplitSSH(address)
		sshHost = gitlogin.SSHHost{Name: host, User: user, Port: port}
	}
	a.ssh = &sshHost
}

// sshServer returns the real server of the remote: name, or name:port.
func (a *remoteEndpoint) sshServer() string {
	if a.ssh == nil {
		return a.host
	}
	if port := cmp.Or(a.ssh.Port, "22"); port != "22" {
		return net.JoinHostPort(a.ssh.Name, port)
	}
	return a.ssh.Name
}

// sshByHand returns the command to test an ssh login at the remote by hand.
func (a *remoteEndpoint) sshByHand() string {
	user, host, port, _ := gitlogin.SplitSSH(a.url)
	if user != "" {
		host = user + "@" + host
	}
	if port != "" {
		host = "-p " + port + " " + host
	}
	return "ssh -T " + host
}

// ownHostKeyRefused explains why the president's own ssh stopped.
func (a *remoteEndpoint) ownHostKeyRefused(ctx context.Context, r result) error {
	server := a.sshServer()
	now := "its keys could not be read"
	if keys, err := ScanHost(ctx, server); err == nil {
		var seen []string
		for _, k := range keys {
			seen = append(seen, k.Fingerprint()+" ("+strings.TrimPrefix(k.Type, "ssh-")+")")
		}
		now = "it shows " + strings.Join(seen, ", ")
	}
	if strings.Contains(r.stderr, "HAS CHANGED") {
		return company.E(company.EHostKey, "the ssh server "+server+" has a new key").
			Because("your own ssh knows another key; " + now + ". This may be another server").
			Fix("ask the server's operator; only if the change is theirs: ssh-keygen -R " + hostName(server) + ", then " +
				a.sshByHand()).NeedsPerson()
	}
	return company.E(company.EHostKey, "the ssh server "+server+" is not known").
		Because("your own ssh does not know it; " + now).
		Fix("compare with what the server's operator publishes, then: company git trust-host " + server +
			", or log in once yourself: " + a.sshByHand()).NeedsPerson()
}

// describeOwnSSH returns doctor's result for a remote that uses the president's own ssh.
func (a *remoteEndpoint) describeOwnSSH() healthcheck.Result {
	found := "your own ssh, at " + a.sshServer()
	if a.ssh.User != "" {
		found = "your own ssh, as " + a.ssh.User + " at " + a.sshServer()
	}
	if a.ssh.Via != "" {
		found += " by way of a proxy"
	}
	var with []string
	for _, key := range a.ssh.Keys {
		file := key
		if rest, ok := strings.CutPrefix(key, "~/"); ok {
			file = filepath.Join(a.own.Home(), rest)
		}
		if _, err := os.Stat(file); err == nil {
			with = append(with, key)
		}
	}
	if a.ssh.Agent {
		with = append(with, "the agent")
	}
	if len(with) == 0 {
		return healthcheck.Result{Warn: true, Found: found + "; there is no key file for it and no agent",
			Needed: "a key, to push", Fix: "ssh-keygen -t ed25519, or start the agent: eval $(ssh-agent) && ssh-add"}
	}
	return healthcheck.Result{OK: true, Found: found + ", with " + strings.Join(with, " and ")}
}
