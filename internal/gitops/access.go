package gitops

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitlogin"
)

// Remote is the location of the operator's repository: an https or ssh URL, git's host:path form, a file URL or an
// absolute path. Plain http is allowed only for this machine (127.0.0.1, ::1, localhost).
type Remote struct {
	URL string

	checkout string // path of the checkout that it belongs to; empty if unknown
	given    string // the address before a rewrite, if no checkout has it
	push     bool   // it is for a push, so pushInsteadOf applies
}

// Ways to log in at a remote (git.credential).
const (
	ByToken     = "token"      // over https; ssh addresses of known forges are rewritten to it
	ByDeployKey = "deploy_key" // ssh with one key file
	ByAgent     = "ssh_agent"  // ssh with the operator's agent
)

// forges accept a token over https for repositories that they also serve by ssh.
var forges = []string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com"}

// remoteEndpoint is a validated remote: how git may talk to it.
type remoteEndpoint struct {
	s         *Store
	url       string // without user or password of an https address
	protocols string
	global    string // configuration file for the pack process of a local remote
	host      string // name, with the port if it is not the default; empty if local
	user      string // user in the address
	secret    string // password in the address
	once      bool   // do not retry read-only calls
	asked     error  // why no credential was given when git asked for one
	done      func()

	own   *gitlogin.Settings // the president's own logins; nil if they are not used
	ssh   *gitlogin.SSHHost  // the target of the president's own ssh; nil if it is not used
	given gitlogin.Login     // the login that git got from them
	// askNobody skips the credential helpers, which may use the network.
	askNobody bool
}

// openRemote opens a remote of the mirror's checkout.
func (m *Mirror) openRemote(ctx context.Context, remote Remote) (*remoteEndpoint, error) {
	remote.checkout = m.source
	return m.s.openRemote(ctx, remote)
}

// openRemote validates a remote and allows exactly the protocol that its URL needs.
func (s *Store) openRemote(ctx context.Context, remote Remote) (*remoteEndpoint, error) {
	own, err := s.readLogins(ctx, remote)
	if err != nil {
		return nil, err
	}
	if own != nil && s.cfg.Personal == nil { // else the address was rewritten when the checkout was read
		remote.URL = own.Rewrite(remote.URL, remote.push)
	}
	at, err := parseRemote(remote.URL)
	if err != nil {
		return nil, s.nameRewrite(ctx, remote, err)
	}
	endpoint := &remoteEndpoint{s: s, url: at.url, protocols: at.protocols, host: at.host, user: at.user,
		secret: at.secret, own: own, done: func() {}}
	if at.local != "" {
		return endpoint.useLocalPath(at.local)
	}
	if endpoint.protocols == "ssh" {
		return endpoint, endpoint.overSSH(ctx, remote.URL)
	}
	return endpoint, nil
}

// remoteAddress holds the parts of a remote's address.
type remoteAddress struct {
	url                           string // without user or password of an https address
	protocols, host, user, secret string
	local                         string // the path of a repository on this machine; then the others are empty
}

// parseRemote parses an address. It refuses the ones that git cannot be trusted with.
func parseRemote(raw string) (remoteAddress, error) {
	at := remoteAddress{url: raw}
	bad := company.E(company.EInvalid, fmt.Sprintf("invalid remote %q", Mask(raw))).
		Fix("use an https:// or ssh:// URL, host:path, or an absolute path")
	switch {
	case raw == "" || strings.HasPrefix(raw, "-") || strings.ContainsAny(raw, "\x00\n\r") ||
		strings.Contains(raw, "::") && !strings.Contains(raw, "[::"):
		return at, bad // "::" names a remote helper, which is a command
	case filepath.IsAbs(raw):
		at.local = raw
	case strings.Contains(raw, "://"):
		address, err := url.Parse(raw)
		switch {
		case err != nil:
			return at, bad // the parser's message would repeat the credentials
		case address.Scheme == "file" && address.Host == "" && filepath.IsAbs(address.Path):
			at.local = strings.TrimPrefix(raw, "file://") // git does not unescape it
		case address.Hostname() == "" || strings.HasPrefix(address.Hostname(), "-") ||
			strings.HasPrefix(address.User.Username(), "-"):
			return at, bad
		case address.Scheme == "https" || address.Scheme == "http" && isLoopback(address.Hostname()):
			at.protocols = address.Scheme
			at.host = address.Host
			at.user = address.User.Username()
			at.secret, _ = address.User.Password()
			address.User = nil // it would be visible in the process list
			at.url = address.String()
		case address.Scheme == "ssh":
			at.protocols, at.host = "ssh", address.Host
		default:
			return at, bad
		}
	case scpLike(raw):
		host, _, _ := strings.Cut(raw, ":")
		host = cutUser(host)
		if host == "" || strings.HasPrefix(host, "-") || strings.Contains(raw, "::") {
			return at, bad
		}
		at.protocols, at.host = "ssh", host
	default:
		return at, bad
	}
	return at, nil
}

// repositoryAt returns the git folder of the repository at a path.
func repositoryAt(p string) (string, error) {
	dir, err := filepath.EvalSymlinks(p)
	if err != nil {
		return "", err
	}
	if dotGit := filepath.Join(dir, ".git"); !isGitDir(dir) && isGitDir(dotGit) {
		dir = dotGit
	}
	if !isGitDir(dir) {
		return dir, errors.New("it is not a repository")
	}
	return dir, nil
}

// useLocalPath turns a local path into a file URL.
func (a *remoteEndpoint) useLocalPath(p string) (*remoteEndpoint, error) {
	dir, err := repositoryAt(p)
	if dir == "" {
		e := company.E(company.ENotFound, fmt.Sprintf("cannot open the remote %q", p)).Wrap(err)
		return nil, e.Fix("see where the remote is: git remote -v")
	}
	a.url, a.protocols = "file://"+dir, "file"
	a.global, a.done, err = a.s.scopedConfig(dir)
	return a, err
}

// overSSH decides how to reach an ssh address: with the operator's key or agent, or over https if the credential is a
// token. If there is no token, it uses the president's own ssh.
func (a *remoteEndpoint) overSSH(ctx context.Context, raw string) error {
	switch a.s.cfg.Method {
	case ByDeployKey:
		return a.s.checkKey()
	case ByAgent:
		return a.s.checkAgent()
	}
	https := httpsOf(raw, a.s.cfg.ForgeURL)
	if a.own != nil {
		if token, err := a.hasToken(ctx, https); err != nil || !token {
			a.useOwnSSH(ctx, raw)
			return err
		}
	}
	if https == "" {
		return authError(fmt.Sprintf("no login works for %s", a.host)).
			Because("git.credential is token, which needs https, and " + a.host + " may not support it").
			Fix("set git.credential: ssh_agent or deploy_key; or, where your own ssh logs in there, company config set --user " +
				"git.use_my_logins true; or forge.url, when it is a forge that takes a token")
	}
	address, err := url.Parse(https)
	if err != nil {
		return company.E(company.EInvalid, fmt.Sprintf("invalid remote %q", Mask(raw)))
	}
	a.url = https
	a.protocols = address.Scheme
	a.host = address.Host
	a.user = ""
	return nil
}

// httpsOf returns the https address of a repository that a forge serves by ssh at raw, or "" if unknown. forgeURL is
// the address of an additional forge.
func httpsOf(raw, forgeURL string) string {
	host, path := "", ""
	if rest, ok := strings.CutPrefix(raw, "ssh://"); ok {
		host, path, _ = strings.Cut(rest, "/")
	} else {
		host, path, _ = strings.Cut(raw, ":")
	}
	host = cutUser(host)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h // the ssh port does not determine the https port
	}
	path = strings.TrimPrefix(path, "/")
	if address, err := url.Parse(forgeURL); err == nil && forgeURL != "" && strings.EqualFold(address.Hostname(), host) {
		if address.Scheme == "https" || address.Scheme == "http" && isLoopback(host) {
			// The web path of a forge may start below the host's root, but its ssh paths start at the root.
			root := strings.Trim(address.Path, "/")
			if root != "" && !strings.HasPrefix(path, root+"/") {
				path = root + "/" + path
			}
			return address.Scheme + "://" + address.Host + "/" + path
		}
	}
	if slices.Contains(forges, strings.ToLower(host)) {
		return "https://" + strings.ToLower(host) + "/" + path
	}
	return ""
}

// cutUser returns the host in user@host.
func cutUser(s string) string {
	return s[strings.LastIndexByte(s, '@')+1:]
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// scpLike reports whether url has git's host:path form: a colon before any slash.
func scpLike(url string) bool {
	colon := strings.IndexByte(url, ':')
	slash := strings.IndexByte(url, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}

// newCall returns a call that talks to the remote, run in a repository of ours.
func (a *remoteEndpoint) newCall(dir string, args ...string) call {
	return call{dir: dir, args: args, access: a, global: a.global, protocols: a.protocols, limit: networkLimit}
}

// listBranches asks the remote for its default branch and for branches by their names or patterns. None, or an empty
// name, means the default one. dir is a repository of ours to run in.
func (a *remoteEndpoint) listBranches(
	ctx context.Context, dir string, branches ...string,
) (map[string]company.OID, string, error) {
	args := []string{"ls-remote", "--quiet", "--symref", "--", a.url, "HEAD"}
	named := false
	for _, branch := range branches {
		if branch != "" {
			args, named = append(args, "refs/heads/"+branch), true
		}
	}
	result, err := a.runWithRetry(ctx, a.newCall(dir, args...))
	if err != nil {
		return nil, "", err
	}
	refs, head := map[string]company.OID{}, ""
	for line := range strings.SplitSeq(result.outputText(), "\n") {
		value, name, ok := strings.Cut(line, "\t")
		if target, sym := strings.CutPrefix(value, "ref: refs/heads/"); ok && sym && name == "HEAD" {
			head = target
		} else if ok {
			refs[name] = company.OID(value)
		}
	}
	if !named && head != "" { // HEAD's own id is its branch's
		refs["refs/heads/"+head] = refs["HEAD"]
	}
	return refs, head, nil
}

// needsCredential reports whether git may ask for a credential on this access.
func (a *remoteEndpoint) needsCredential() bool {
	return a != nil && (a.protocols == "https" || a.protocols == "http")
}

func (a *remoteEndpoint) overSSHNow() bool { return a != nil && a.protocols == "ssh" }
