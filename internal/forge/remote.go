package forge

import (
	"net/url"
	"strings"

	"company/internal/lazyregexp"
)

// Repo is a repository on a forge, as a remote's URL names it.
type Repo struct {
	Host  string // lower case, without a port
	Port  string // of an http(s) URL; empty: the usual one
	HTTP  bool   // the URL is http and not https
	SSH   bool   // it is no web address: its path is not below the forge's page
	Owner string // may hold slashes where a forge has groups
	Name  string // without .git
}

func (r Repo) String() string { return r.Owner + "/" + r.Name }

var (
	ownerPartRE = lazyregexp.New(`^[A-Za-z0-9._][A-Za-z0-9._-]{0,99}$`)
	hostRE      = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)
)

// ParseRemote reads an https, http, ssh or git URL, or git's user@host:path. ok
// is false for everything else: paths, file URLs, and addresses without an
// owner and a name.
func ParseRemote(remote string) (r Repo, ok bool) {
	var path string
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
			return Repo{}, false
		}
		switch u.Scheme {
		case "https", "http":
			r.Port, r.HTTP = u.Port(), u.Scheme == "http"
		case "ssh", "git", "git+ssh":
			r.SSH = true
		default:
			return Repo{}, false
		}
		r.Host, path = u.Hostname(), u.Path
	} else {
		host, rest, colon := strings.Cut(remote, ":")
		if !colon || strings.ContainsAny(host, "/\\") || strings.HasPrefix(rest, ":") {
			return Repo{}, false
		}
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			host = host[i+1:]
		}
		r.Host, path, r.SSH = host, rest, true
	}
	r.Host = strings.ToLower(strings.TrimSuffix(r.Host, "."))
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	i := strings.LastIndexByte(path, '/')
	if i < 0 || !hostRE.MatchString(r.Host) {
		return Repo{}, false
	}
	r.Owner, r.Name = path[:i], path[i+1:]
	for part := range strings.SplitSeq(path, "/") {
		if !ownerPartRE.MatchString(part) || strings.Trim(part, ".") == "" {
			return Repo{}, false
		}
	}
	switch r.Host {
	case "www.github.com", "ssh.github.com":
		r.Host = "github.com"
	}
	return r, true
}

// relativeTo is the repository as a forge at an address names it: without the path
// of a forge that does not live at its host's root. ok is false for a web
// address outside of that path, where another program answers.
func (r Repo) relativeTo(at *url.URL) (_ Repo, ok bool) {
	root := strings.Trim(at.Path, "/")
	if root == "" {
		return r, true
	}
	rest, inside := strings.CutPrefix(r.Owner+"/", root+"/")
	if inside && rest != "" {
		r.Owner = strings.TrimSuffix(rest, "/")
	}
	return r, inside && rest != "" || r.SSH
}
