package forge

import (
	"net/url"
	"strings"

	"company/internal/lib/lazyregexp"
)

// Repo is a repository on a forge, as a remote's URL names it.
type Repo struct {
	Host  string // lower case, without a port
	Port  string // of an http(s) URL; empty means the default
	HTTP  bool   // the URL is http and not https
	SSH   bool   // not a web address: the path does not include the path of the forge's page
	Owner string // may contain slashes on forges with groups
	Name  string // without .git
}

func (r Repo) String() string { return r.Owner + "/" + r.Name }

var (
	ownerPartRE = lazyregexp.New(`^[A-Za-z0-9._][A-Za-z0-9._-]{0,99}$`)
	hostRE      = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)
)

// ParseRemote parses an https, http, ssh or git URL, or git's user@host:path. ok is false for everything else: paths,
// file URLs, and addresses without an owner and a name.
func ParseRemote(remote string) (repo Repo, ok bool) {
	var path string
	if strings.Contains(remote, "://") {
		address, err := url.Parse(remote)
		if err != nil || address.RawQuery != "" || address.Fragment != "" || address.Opaque != "" {
			return Repo{}, false
		}
		switch address.Scheme {
		case "https", "http":
			repo.Port, repo.HTTP = address.Port(), address.Scheme == "http"
		case "ssh", "git", "git+ssh":
			repo.SSH = true
		default:
			return Repo{}, false
		}
		repo.Host, path = address.Hostname(), address.Path
	} else {
		host, rest, colon := strings.Cut(remote, ":")
		if !colon || strings.ContainsAny(host, "/\\") || strings.HasPrefix(rest, ":") {
			return Repo{}, false
		}
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			host = host[i+1:]
		}
		repo.Host = host
		path = rest
		repo.SSH = true
	}
	repo.Host = strings.ToLower(strings.TrimSuffix(repo.Host, "."))
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	i := strings.LastIndexByte(path, '/')
	if i < 0 || !hostRE.MatchString(repo.Host) {
		return Repo{}, false
	}
	repo.Owner, repo.Name = path[:i], path[i+1:]
	for part := range strings.SplitSeq(path, "/") {
		if !ownerPartRE.MatchString(part) || strings.Trim(part, ".") == "" {
			return Repo{}, false
		}
	}
	return repo, true
}

// relativeTo returns the repository as a forge at an address names it, without the path of a forge below its host's
// root. ok is false for a web address outside of that path, which belongs to another program.
func (r Repo) relativeTo(address *url.URL) (_ Repo, ok bool) {
	root := strings.Trim(address.Path, "/")
	if root == "" {
		return r, true
	}
	rest, inside := strings.CutPrefix(r.Owner+"/", root+"/")
	if inside && rest != "" {
		r.Owner = strings.TrimSuffix(rest, "/")
	}
	return r, inside && rest != "" || r.SSH
}
