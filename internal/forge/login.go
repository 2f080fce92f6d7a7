package forge

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/boundedparse/yaml"
	"company/internal/lib/secret"
)

// The operator's own logins are used and never stored (GIT-12, FRG-2): the variable that the config names, the
// variables of the kind's own tools, and what those tools have stored.

type cachedLogin struct {
	at   time.Time
	cred Credential
	err  error
}

// loginTTL is how long a login is cached.
const loginTTL = 2 * time.Minute

// lookupLogin returns the operator's login, or ErrNoLogin if there is none. It caches the result for loginTTL.
func (s *Selector) lookupLogin(ctx context.Context, driver Driver, address *url.URL) (Credential, error) {
	key := driver.Kind + " " + address.Host + address.Path
	s.mu.Lock()
	c, ok := s.login[key]
	s.mu.Unlock()
	if ok && time.Since(c.at) < loginTTL {
		return c.cred, c.err
	}
	c = cachedLogin{at: time.Now()}
	c.cred, c.err = s.findLogin(ctx, driver, address)
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
func (s *Selector) tokenEnvNames(driver Driver, address *url.URL) []string {
	more := driver.OtherTokenEnvs
	if driver.homeHost() == address.Hostname() {
		more = driver.TokenEnvs
	}
	var names []string
	// The token of one kind's public forge is not sent to forges of other kinds.
	ofAnother := func(d Driver) bool {
		return d.Kind != driver.Kind && slices.Contains(d.TokenEnvs, s.Settings.TokenEnv)
	}
	if own := s.Settings.TokenEnv; own != "" && !slices.ContainsFunc(s.Drivers, ofAnother) {
		names = append(names, own)
	}
	for _, n := range more {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func (s *Selector) findLogin(ctx context.Context, driver Driver, address *url.URL) (Credential, error) {
	host := address.Hostname()
	found := func(token, source string) (Credential, error) {
		if err := validateToken(token); err != nil {
			return Credential{}, company.E(
				company.EAuth, fmt.Sprintf("invalid token of %s", source)).NeedsPerson().Wrap(err).
				Fix("set it again, without spaces or line breaks")
		}
		return Credential{Host: host, User: driver.User, Secret: secret.New(token), Source: source}, nil
	}
	for _, name := range s.tokenEnvNames(driver, address) {
		if v := strings.TrimSpace(s.Env(name)); v != "" {
			return found(v, name)
		}
	}
	if driver.StoredToken != nil {
		if token := driver.StoredToken(ctx, Tool{Env: s.Env, Address: address}); token != "" {
			return found(token, driver.StoredBy)
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
			return fmt.Errorf("it has an invalid character")
		}
	}
	return nil
}

// ConfigDir returns the folder of a program's settings, or "" if unknown.
func (t Tool) ConfigDir(program string) string {
	base := t.Env("XDG_CONFIG_HOME")
	if base == "" {
		home := t.Env("HOME")
		if home == "" {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, program)
}

// maxLoginFile limits the size of other programs' settings files.
const maxLoginFile = 1 << 20

// ReadLoginFile decodes a YAML file with logins, and reports whether it could.
func ReadLoginFile(file string, into any) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLoginFile {
		return false
	}
	text, err := os.ReadFile(file)
	return err == nil && yaml.Decode(text, into, false) == nil
}

// readAppKey reads the private key of a GitHub App from its variable, which contains the key or the path of its file.
// Other users must not have access to the file.
func readAppKey(env func(string) string, app App) (secret.Value, error) {
	bad := func(reason string) error {
		return company.E(company.EAuth, "invalid private key of the GitHub App").NeedsPerson().Because(reason).
			Fix("set " + app.KeyEnv + " to the key, or to the path of its .pem file")
	}
	if app.KeyEnv == "" {
		return secret.Value{}, company.E(
			company.EConfig, "forge.app_id is set, but forge.private_key_env is not").NeedsPerson().
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
		return secret.Value{}, bad("its file is not a key")
	case info.Mode().Perm()&0o077 != 0:
		return secret.Value{}, bad(fmt.Sprintf("others can read its file (mode %04o)", info.Mode().Perm()))
	}
	text, err := os.ReadFile(v)
	if err != nil {
		return secret.Value{}, bad("its file cannot be read")
	}
	return secret.New(string(text)), nil
}
