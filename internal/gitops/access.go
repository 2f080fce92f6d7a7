package gitops

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitlogin"
)

// Remote is where the operator's repository is: an https or ssh URL, git's
// host:path form, a file URL or an absolute path. Plain http is for this
// machine alone (127.0.0.1, ::1, localhost).
type Remote struct {
	URL string

	checkout string // the repository that it is of, by its path; empty: not known
	push     bool   // it is pushed to: pushInsteadOf counts
}

// Ways to log in at a remote (git.credential).
const (
	ByToken     = "token"      // over https; ssh addresses of known forges are rewritten to it
	ByDeployKey = "deploy_key" // ssh with one key file
	ByAgent     = "ssh_agent"  // ssh with the operator's agent
)

// forges take a token over https for what they serve by ssh.
var forges = []string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com"}

// remoteEndpoint is a remote that has been judged: how git may talk to it.
type remoteEndpoint struct {
	s         *Store
	url       string // without user or password of an https address
	protocols string
	global    string // configuration file for the pack process of a local remote
	host      string // name, with the port where it is not the protocol's own; empty: local
	user      string // of the address
	secret    string // the same
	once      bool   // a call that only reads is not tried again
	asked     error  // why no credential was given when git asked for one
	done      func()

	own   *gitlogin.Settings // the president's own logins; nil: they are not used
	ssh   *gitlogin.SSHHost  // where the president's own ssh goes; nil: it is not used
	given gitlogin.Login     // what git got of them
	// askNobody leaves the credential helpers out, which may go to the network.
	askNobody bool
}

// openRemote is the store's, for a remote of the mirror's checkout.
func (m *Mirror) openRemote(ctx context.Context, r Remote) (*remoteEndpoint, error) {
	r.checkout = m.source
	return m.s.openRemote(ctx, r)
}

// openRemote allows exactly the protocol that the URL needs.
func (s *Store) openRemote(ctx context.Context, r Remote) (*remoteEndpoint, error) {
	own, err := s.readLogins(ctx, r)
	if err != nil {
		return nil, err
	}
	if own != nil {
		r.URL = own.Rewrite(r.URL, r.push)
	}
	a := &remoteEndpoint{s: s, url: r.URL, own: own, done: func() {}}
	bad := company.E(company.EInvalid, fmt.Sprintf("%q cannot be used as a remote", Mask(r.URL))).
		Fix("use an https:// or ssh:// URL, host:path, or an absolute path")
	local := ""
	switch {
	case r.URL == "" || strings.HasPrefix(r.URL, "-") || strings.ContainsAny(r.URL, "\x00\n\r") || strings.Contains(r.URL, "::") && !strings.Contains(r.URL, "[::"):
		return nil, bad // "::" names a remote helper, which is a command
	case filepath.IsAbs(r.URL):
		local = r.URL
	case strings.Contains(r.URL, "://"):
		u, err := url.Parse(r.URL)
		switch {
		case err != nil:
			return nil, bad // the parser's message would repeat the credentials
		case u.Scheme == "file" && u.Host == "" && filepath.IsAbs(u.Path):
			local = strings.TrimPrefix(r.URL, "file://") // git does not unescape it
		case u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") || strings.HasPrefix(u.User.Username(), "-"):
			return nil, bad
		case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
			a.protocols, a.host, a.user = u.Scheme, u.Host, u.User.Username()
			a.secret, _ = u.User.Password()
			u.User = nil // it would stand in the list of processes
			a.url = u.String()
		case u.Scheme == "ssh":
			a.protocols, a.host = "ssh", u.Host
		default:
			return nil, bad
		}
	case scpLike(r.URL):
		host, _, _ := strings.Cut(r.URL, ":")
		host = cutUser(host)
		if host == "" || strings.HasPrefix(host, "-") || strings.Contains(r.URL, "::") {
			return nil, bad
		}
		a.protocols, a.host = "ssh", host
	default:
		return nil, bad
	}
	if local != "" {
		return a.useLocalPath(local)
	}
	if a.protocols == "ssh" {
		return a, a.overSSH(ctx, r.URL)
	}
	return a, nil
}

// useLocalPath makes a path of this machine a file URL.
func (a *remoteEndpoint) useLocalPath(p string) (*remoteEndpoint, error) {
	dir, err := filepath.EvalSymlinks(p)
	if err != nil {
		e := company.E(company.ENotFound, fmt.Sprintf("the remote %q cannot be opened", p)).Wrap(err)
		return nil, e.Fix("see where the remote is: git remote -v")
	}
	if dotGit := filepath.Join(dir, ".git"); !isGitDir(dir) && isGitDir(dotGit) {
		dir = dotGit
	}
	a.url, a.protocols = "file://"+dir, "file"
	a.global, a.done, err = a.s.scopedConfig(dir)
	return a, err
}

// overSSH settles how an ssh address is reached: with the operator's key or
// agent, or, where a token is the credential, over https. The president's own ssh is
// used where no token is there.
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
		return authError(fmt.Sprintf("there is no way to log in at %s", a.host)).
			Because("git.credential is token, a token needs https, and whether " + a.host + " speaks it is not known").
			Fix("set git.credential: ssh_agent or deploy_key; or, where your own ssh logs in there, company config set --user git.use_my_logins true; or forge.url, when it is a forge that takes a token")
	}
	u, err := url.Parse(https)
	if err != nil {
		return company.E(company.EInvalid, fmt.Sprintf("%q cannot be used as a remote", Mask(raw)))
	}
	a.url, a.protocols, a.host, a.user = https, u.Scheme, u.Host, ""
	return nil
}

// httpsOf is the https address of what a forge serves by ssh at raw, or "".
// forgeURL is the address of a forge that is not one of the known ones.
func httpsOf(raw, forgeURL string) string {
	host, path := "", ""
	if rest, ok := strings.CutPrefix(raw, "ssh://"); ok {
		host, path, _ = strings.Cut(rest, "/")
	} else {
		host, path, _ = strings.Cut(raw, ":")
	}
	host = cutUser(host)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h // the port of ssh says nothing about https
	}
	path = strings.TrimPrefix(path, "/")
	if f, err := url.Parse(forgeURL); err == nil && forgeURL != "" && strings.EqualFold(f.Hostname(), host) {
		if f.Scheme == "https" || f.Scheme == "http" && isLoopback(host) {
			// A forge need not live at its host's root; its ssh addresses do.
			root := strings.Trim(f.Path, "/")
			if root != "" && !strings.HasPrefix(path, root+"/") {
				path = root + "/" + path
			}
			return f.Scheme + "://" + f.Host + "/" + path
		}
	}
	if slices.Contains(forges, strings.ToLower(host)) {
		return "https://" + strings.ToLower(host) + "/" + path
	}
	return ""
}

// cutUser is the host of user@host.
func cutUser(s string) string {
	return s[strings.LastIndexByte(s, '@')+1:]
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// scpLike is git's host:path form: a colon before any slash.
func scpLike(url string) bool {
	colon := strings.IndexByte(url, ':')
	slash := strings.IndexByte(url, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}

// newCall is the call that talks to the remote, in a repository of ours.
func (a *remoteEndpoint) newCall(dir string, args ...string) call {
	return call{dir: dir, args: args, access: a, global: a.global, protocols: a.protocols, limit: networkLimit}
}

// listBranches asks the remote for its default branch and for one branch (empty: the
// default one). dir is a repository of ours to run in.
func (a *remoteEndpoint) listBranches(ctx context.Context, dir, branch string) (map[string]company.OID, string, error) {
	args := []string{"ls-remote", "--quiet", "--symref", "--", a.url, "HEAD"}
	if branch != "" {
		args = append(args, "refs/heads/"+branch)
	}
	r, err := a.runWithRetry(ctx, a.newCall(dir, args...))
	if err != nil {
		return nil, "", err
	}
	refs, head := map[string]company.OID{}, ""
	for line := range strings.SplitSeq(r.outputText(), "\n") {
		value, name, ok := strings.Cut(line, "\t")
		if target, sym := strings.CutPrefix(value, "ref: refs/heads/"); ok && sym && name == "HEAD" {
			head = target
		} else if ok {
			refs[name] = company.OID(value)
		}
	}
	if branch == "" && head != "" { // HEAD's own id is its branch's
		refs["refs/heads/"+head] = refs["HEAD"]
	}
	return refs, head, nil
}

// needsCredential reports whether git may ask for a credential on this access.
func (a *remoteEndpoint) needsCredential() bool {
	return a != nil && (a.protocols == "https" || a.protocols == "http")
}

func (a *remoteEndpoint) overSSHNow() bool { return a != nil && a.protocols == "ssh" }
