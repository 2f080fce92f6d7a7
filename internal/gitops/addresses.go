package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/gitops/gitlogin"
)

// PushTarget is where the president's own git would push a branch of a checkout.
type PushTarget struct {
	// URLs are the addresses in git's order, absolute. If there is none, nothing is pushed.
	URLs []string
	// Setting and Value are the setting that leads a push elsewhere than a fetch, such as remote.origin.pushurl. They
	// are empty if pushes go to the remote's own address.
	Setting, Value string
}

// Main returns the address that a pull request is opened from: the remote's own if it is among them, else the first.
// It returns "" if nothing is pushed.
func (p PushTarget) Main(remote string) string {
	if len(p.URLs) == 0 || slices.Contains(p.URLs, remote) {
		return remote
	}
	return p.URLs[0]
}

// Forbidden reports whether a setting of the president says that nothing is pushed.
func (p PushTarget) Forbidden() bool { return p.Setting != "" && len(p.URLs) == 0 }

// Why names the setting and its value, without a login.
func (p PushTarget) Why() string {
	return fmt.Sprintf("%s is %q", p.Setting, cmp.Or(WithoutLogin(p.Value), Mask(p.Value)))
}

// RemoteURL returns the absolute URL that the checkout's remote with the store's remote name is fetched from, or "" if
// there is none. It may contain credentials: mask it before showing.
func (m *Mirror) RemoteURL(ctx context.Context, sourcePath string) (string, error) {
	checkout, err := m.s.openCheckout(ctx, sourcePath)
	if err != nil {
		return "", err
	}
	return checkout.fetchURL(), nil
}

// PushTarget returns where git push would push a branch of the checkout. It is empty if the checkout has no remote.
func (m *Mirror) PushTarget(ctx context.Context, sourcePath, branch string) (PushTarget, error) {
	checkout, err := m.s.openCheckout(ctx, sourcePath)
	if err != nil {
		return PushTarget{}, err
	}
	return checkout.pushTarget(branch), nil
}

// gitSettings are settings of git, in the order in which git reads them.
type gitSettings []gitexec.Setting

// readSettings reads the settings of a repository, and those of its user and the system if the store may read them. git
// itself follows includes and reads the settings of a work tree. own holds the repository's settings alone. An empty
// gitDir means no repository.
func (s *Store) readSettings(ctx context.Context, gitDir string) (all gitSettings, own map[string]string, err error) {
	result, err := s.run(ctx, call{dir: cmp.Or(gitDir, gitlogin.NoRepository), personal: true,
		args: []string{"config", "--show-scope", "--includes", "-z", "--list"}})
	if err == nil && result.exit != 0 {
		err = company.E(company.EGit, "cannot read the git configuration").
			Because(strings.TrimPrefix(result.failureReason(), "fatal: ")).
			Fix("fix it: git config --list --show-origin shows where").NeedsPerson()
	}
	if err != nil {
		return nil, nil, err
	}
	own = map[string]string{}
	fields := strings.Split(string(result.out), "\x00") // scope NUL key LF value NUL
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		switch fields[i] {
		case "local", "worktree":
			own[key] = value
		case "global", "system":
			if s.cfg.Logins == nil {
				key, value = withoutLogins(key, value)
			}
		default:
			continue // of our own command line
		}
		all = append(all, gitexec.Setting{key, value})
	}
	return all, own, nil
}

// withoutLogins removes logins from the addresses of the user's own settings: where a remote is may be read without
// git.use_my_logins, how to log in may not.
func withoutLogins(key, value string) (string, string) {
	section, rest, _ := strings.Cut(key, ".")
	switch end := strings.LastIndexByte(rest, '.'); {
	case section == "url" && end > 0:
		return "url." + withoutUser(rest[:end]) + rest[end:], value
	case section == "remote" || section == "branch":
		return key, withoutUser(value)
	}
	return key, value
}

// withoutUser returns an http address without user and password.
func withoutUser(address string) string {
	at, err := url.Parse(address)
	if err != nil || at.User == nil || at.Scheme != "https" && at.Scheme != "http" {
		return address
	}
	at.User = nil
	return at.String()
}

// lastValue returns the last value of a setting.
func (g gitSettings) lastValue(key string) string {
	values := g.listValues(key)
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// listValues returns the values of a setting with several ones. As in git, an empty value removes those before it. It
// stays as a value if it is the last one: older versions of git then push nowhere.
func (g gitSettings) listValues(key string) (values []string) {
	for _, kv := range g {
		if kv[0] != key {
			continue
		}
		if kv[1] == "" || len(values) == 1 && values[0] == "" {
			values = nil
		}
		values = append(values, kv[1])
	}
	return values
}

// fetchURL returns the address of the store's remote, or "". git fetches from the first one.
func (c *checkout) fetchURL() string {
	urls := c.settings.listValues("remote." + c.s.cfg.Remote + ".url")
	if len(urls) == 0 {
		return ""
	}
	to, _ := gitlogin.Rewrite(c.settings, urls[0], "insteadof")
	return c.makeAbsolute(to)
}

// pushTarget applies git's rules for git push: the remote of branch.<name>.pushRemote, remote.pushDefault or
// git.remote; its addresses of pushurl, else of url with pushInsteadOf.
func (c *checkout) pushTarget(branch string) PushTarget {
	fetch := c.fetchURL()
	if fetch == "" {
		return PushTarget{}
	}
	remote, target := c.s.cfg.Remote, PushTarget{}
	for _, key := range []string{"remote.pushdefault", "branch." + branch + ".pushremote"} {
		if name := c.settings.lastValue(key); name != "" {
			remote = name
			target.Setting = key
			target.Value = name
		}
	}
	if remote == c.s.cfg.Remote {
		target = PushTarget{}
	}
	urls, setting, value := c.pushURLs(remote)
	if setting != "" {
		target.Setting, target.Value = setting, value
	}
	for _, to := range urls {
		if to = c.makeAbsolute(to); (to == fetch || c.isUsable(to)) && !slices.Contains(target.URLs, to) {
			target.URLs = append(target.URLs, to)
		}
	}
	target.Setting = shownKey(target.Setting)
	if slices.Equal(target.URLs, []string{fetch}) {
		target.Setting, target.Value = "", ""
	}
	return target
}

// pushURLs returns the addresses that git pushes to for the name of a remote, which may itself be an address. setting
// and value are the setting that they come from, if it is not the one that is fetched from.
func (c *checkout) pushURLs(remote string) (urls []string, setting, value string) {
	at := c.settings.listValues("remote." + remote + ".url")
	if len(at) == 0 {
		at = []string{remote} // git takes an unknown name for an address
	}
	key := "remote." + remote + ".pushurl"
	if urls = c.settings.listValues(key); len(urls) > 0 {
		setting, value = key, urls[len(urls)-1]
		for i, to := range urls {
			urls[i], _ = gitlogin.Rewrite(c.settings, to, "insteadof")
		}
		return urls, setting, value
	}
	for _, from := range at {
		if to, key := gitlogin.Rewrite(c.settings, from, "pushinsteadof"); key != "" {
			urls = append(urls, to)
			setting = "url.<base>.pushInsteadOf"
			value = to
		}
	}
	if setting != "" {
		return urls, setting, value
	}
	for _, from := range at {
		to, _ := gitlogin.Rewrite(c.settings, from, "insteadof")
		urls = append(urls, to)
	}
	if len(urls) > 1 {
		setting, value = "remote."+remote+".url", at[len(at)-1]
	}
	return urls, setting, value
}

// nameRewrite adds the insteadOf to the error of an address that cannot be used, if one made it of an address of the
// checkout or of the one that was given.
func (s *Store) nameRewrite(ctx context.Context, remote Remote, refused error) error {
	var fault *company.Error
	gitDir, originals := "", []string{remote.given}
	if remote.checkout != "" {
		if c, err := s.findCheckout(remote.checkout); err == nil {
			gitDir = c.gitDir
		}
	}
	settings, _, err := s.readSettings(ctx, gitDir)
	if err != nil || !errors.As(refused, &fault) {
		return refused
	}
	for _, kv := range settings {
		if strings.HasPrefix(kv[0], "remote.") {
			originals = append(originals, kv[1])
		}
	}
	for _, from := range originals {
		if to, key := gitlogin.Rewrite(settings, from, "insteadof"); key != "" && to == remote.URL {
			return fault.Because(Mask(shownKey(key)) + " of your git configuration rewrites " + Mask(from) + " to it").
				Fix("find its file with git config --show-origin --get-regexp insteadof; remove it there, or let it lead to an " +
					"https:// or ssh:// URL, host:path, or an absolute path")
		}
	}
	return refused
}

// shownKey returns a key in the form in which git's manual writes it. git prints names in lower case.
func shownKey(key string) string {
	if start, ok := strings.CutSuffix(key, ".insteadof"); ok {
		return start + ".insteadOf"
	}
	key = strings.Replace(key, "remote.pushdefault", "remote.pushDefault", 1)
	if start, ok := strings.CutSuffix(key, ".pushremote"); ok {
		return start + ".pushRemote"
	}
	return key
}

// makeAbsolute returns an address with a relative path made absolute.
func (c *checkout) makeAbsolute(address string) string {
	if address == "" || strings.Contains(address, "://") || strings.Contains(address, "::") || filepath.IsAbs(address) ||
		scpLike(address) {
		return address
	}
	return filepath.Join(c.workTree, address)
}

// isUsable reports whether an address may be one of a repository: a URL or an ssh address that this package can use,
// or the path of a repository other than the checkout itself, which is only read. People write a text that is neither,
// such as no_push, to forbid pushes.
func (c *checkout) isUsable(address string) bool {
	at, err := parseRemote(address)
	if err != nil {
		return false
	}
	if at.local != "" {
		dir, err := repositoryAt(at.local)
		return err == nil && dir != c.gitDir && dir != c.commonDir
	}
	host, _, _ := strings.Cut(at.host, ":")
	return !strings.HasSuffix(strings.ToLower(host), ".invalid") // the name that never exists (RFC 6761)
}
