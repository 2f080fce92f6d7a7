package forge

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/lib/boundedparse/yaml"
	"company/internal/lib/secret"
)

// The operator's own logins are used and never stored (GIT-12, FRG-2): the variable that the config names, the
// variables of the kind's own tools, and the stored logins of gh and tea.

type cachedLogin struct {
	at   time.Time
	cred Credential
	err  error
}

// loginTTL is how long a login is cached.
const loginTTL = 2 * time.Minute

// lookupLogin returns the operator's login, or ErrNoLogin if there is none. It caches the result for loginTTL.
func (s *Selector) lookupLogin(ctx context.Context, kind string, address *url.URL) (Credential, error) {
	key := kind + " " + address.Host + address.Path
	s.mu.Lock()
	c, ok := s.login[key]
	s.mu.Unlock()
	if ok && time.Since(c.at) < loginTTL {
		return c.cred, c.err
	}
	c = cachedLogin{at: time.Now()}
	c.cred, c.err = s.findLogin(ctx, kind, address)
	if ctx.Err() != nil {
		return Credential{}, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.login == nil {
		s.login = map[string]cachedLogin{}
	}
	s.login[key] = c
	return c.cred, c.err
}

// tokenEnvNames returns the variables to read for a token, the config's first.
func (s *Selector) tokenEnvNames(kind string, address *url.URL) []string {
	driver := s.Drivers[kind]
	more := driver.OtherTokenEnvs
	if home, err := url.Parse(driver.Home); err == nil && home.Hostname() == address.Hostname() {
		more = driver.TokenEnvs
	}
	var names []string
	// The default name is GitHub's. Its token is not sent to other forges unless configured.
	if own := s.Settings.TokenEnv; own != "" &&
		(kind == "github" || !slices.Contains(s.Drivers["github"].TokenEnvs, own)) {
		names = append(names, own)
	}
	for _, n := range more {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func (s *Selector) findLogin(ctx context.Context, kind string, address *url.URL) (Credential, error) {
	host := address.Hostname()
	found := func(token, source string) (Credential, error) {
		if err := validateToken(token); err != nil {
			return Credential{}, company.E(
				company.EAuth, fmt.Sprintf("the token of %s cannot be used", source)).NeedsPerson().Wrap(err).
				Fix("set it anew, without spaces or line ends")
		}
		return Credential{Host: host, User: s.Drivers[kind].User, Secret: secret.New(token), Source: source}, nil
	}
	for _, name := range s.tokenEnvNames(kind, address) {
		if v := strings.TrimSpace(s.Env(name)); v != "" {
			return found(v, name)
		}
	}
	switch kind {
	case "github":
		if t := readGHToken(s.toolConfigDir("GH_CONFIG_DIR", "gh"), host); t != "" {
			return found(t, "gh")
		}
		if t := s.tokenFromGH(ctx, host); t != "" {
			return found(t, "gh")
		}
	case "gitea":
		if t := readTeaToken(s.toolConfigDir("", "tea"), address); t != "" {
			return found(t, "tea")
		}
	}
	return Credential{}, ErrNoLogin
}

// validateToken returns an error if a token cannot be the value of a header.
func validateToken(token string) error {
	if len(token) > 4096 {
		return fmt.Errorf("it has %d bytes", len(token))
	}
	for _, r := range token {
		if r <= ' ' || r >= 0x7f {
			return fmt.Errorf("it holds a character that no token has")
		}
	}
	return nil
}

// toolConfigDir returns the folder of a program's settings, or "" if unknown.
func (s *Selector) toolConfigDir(own, program string) string {
	if own != "" {
		if d := s.Env(own); d != "" {
			return d
		}
	}
	base := s.Env("XDG_CONFIG_HOME")
	if base == "" {
		home := s.Env("HOME")
		if home == "" {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, program)
}

// maxLoginFile limits the size of other programs' settings files.
const maxLoginFile = 1 << 20

func readLoginFile(file string, into any) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLoginFile {
		return false
	}
	text, err := os.ReadFile(file)
	return err == nil && yaml.Decode(text, into, false) == nil
}

// readGHToken returns the token in gh's hosts.yml. gh writes no token there if the system's key store holds it.
func readGHToken(dir, host string) string {
	var hosts map[string]struct {
		Token string `yaml:"oauth_token"`
		User  string `yaml:"user"`
		Users map[string]struct {
			Token string `yaml:"oauth_token"`
		} `yaml:"users"`
	}
	if dir == "" || !readLoginFile(filepath.Join(dir, "hosts.yml"), &hosts) {
		return ""
	}
	h := hosts[host]
	if h.Token != "" {
		return h.Token
	}
	return h.Users[h.User].Token
}

// tokenFromGH asks gh itself. gh gets only the variables that it needs to find its settings and the key store.
func (s *Selector) tokenFromGH(ctx context.Context, host string) string {
	path := s.Env("PATH")
	gh := ""
	for _, dir := range filepath.SplitList(path) {
		if p := filepath.Join(dir, "gh"); filepath.IsAbs(p) {
			if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				gh = p
				break
			}
		}
	}
	if gh == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, gh, "auth", "token", "--hostname", host)
	gitexec.SeparateGroup(cmd)
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "GH_CONFIG_DIR",
		"DBUS_SESSION_BUS_ADDRESS", "LANG"} {
		if v := s.Env(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(out))
}

// readTeaToken returns the token in the settings of tea, Gitea's own tool.
func readTeaToken(dir string, address *url.URL) string {
	var conf struct {
		Logins []struct {
			URL   string `yaml:"url"`
			Token string `yaml:"token"`
		} `yaml:"logins"`
	}
	if dir == "" || !readLoginFile(filepath.Join(dir, "config.yml"), &conf) {
		return ""
	}
	for _, l := range conf.Logins {
		u, err := url.Parse(l.URL)
		if err == nil && strings.EqualFold(u.Host, address.Host) &&
			strings.Trim(u.Path, "/") == strings.Trim(address.Path, "/") {
			return l.Token
		}
	}
	return ""
}

// readAppKey reads the private key of a GitHub App from its variable, which contains the key or the path of its file.
// Other users must not have access to the file.
func readAppKey(env func(string) string, app App) (secret.Value, error) {
	bad := func(reason string) error {
		return company.E(company.EAuth, "the private key of the GitHub App cannot be used").NeedsPerson().Because(reason).
			Fix("set " + app.KeyEnv + " to the key, or to the path of its .pem file")
	}
	if app.KeyEnv == "" {
		return secret.Value{}, company.E(
			company.EConfig, "forge.app_id is set and forge.private_key_env is not").NeedsPerson().
			Fix("set forge.private_key_env to the name of the variable with the App's private key")
	}
	v := strings.TrimSpace(env(app.KeyEnv))
	switch {
	case v == "":
		return secret.Value{}, bad(app.KeyEnv + " is NOT SET")
	case strings.HasPrefix(v, "-----BEGIN "):
		return secret.New(v), nil
	case !filepath.IsAbs(v):
		return secret.Value{}, bad(app.KeyEnv + " holds neither a key nor an absolute path")
	}
	info, err := os.Stat(v)
	switch {
	case err != nil:
		return secret.Value{}, bad("its file cannot be read")
	case !info.Mode().IsRegular() || info.Size() > maxLoginFile:
		return secret.Value{}, bad("its file is no key")
	case info.Mode().Perm()&0o077 != 0:
		return secret.Value{}, bad(fmt.Sprintf("others can read its file (mode %04o)", info.Mode().Perm()))
	}
	text, err := os.ReadFile(v)
	if err != nil {
		return secret.Value{}, bad("its file cannot be read")
	}
	return secret.New(string(text)), nil
}
