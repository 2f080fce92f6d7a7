package depproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
)

// The clients' defaults.
const (
	npmDefault    = "https://registry.npmjs.org"
	pypiDefault   = "https://pypi.org/simple"
	cratesDefault = "https://index.crates.io"
)

// Environment is where settings are read from. The zero value is this process.
type Environment struct {
	Env  func(string) string // os.Getenv
	Home string              // os.UserHomeDir
	Root string              // of /etc/…; "/"
	Go   string              // the go command; "go" on the PATH
	// AptConfig is the apt-config command; "apt-config" on the PATH.
	AptConfig string
}

// LoadClientSettings reads the registries that the operator's own clients on
// this host are set to, with their proxies, certificates and credentials. The
// clients need not be installed, the go command apart. Settings that cannot be
// followed are named in Notes and not served; only ctx's end is an error.
func LoadClientSettings(ctx context.Context) (Upstreams, error) {
	return Environment{}.LoadUpstreams(ctx)
}

// LoadUpstreams is LoadClientSettings for another host than this process'.
func (h Environment) LoadUpstreams(ctx context.Context) (Upstreams, error) {
	if h.Env == nil {
		h.Env = os.Getenv
	}
	if h.Home == "" {
		h.Home, _ = os.UserHomeDir()
	}
	if h.Root == "" {
		h.Root = "/"
	}
	if h.Go == "" {
		h.Go = "go"
	}
	if h.AptConfig == "" {
		h.AptConfig = "apt-config"
	}
	up := Upstreams{NPMScope: map[string]Endpoint{}}
	r := &settingsReader{Environment: h, upstreams: &up}
	if err := r.readGoEnv(ctx); err != nil {
		return up, err
	}
	r.readNpmrc()
	r.readPip()
	r.readCargo()
	r.readApt(ctx)
	r.addCertificates("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
	return up, nil
}

// settingsReader is one pass over the settings.
type settingsReader struct {
	Environment
	upstreams *Upstreams
}

func (r *settingsReader) addNote(format string, args ...any) {
	r.upstreams.Notes = append(r.upstreams.Notes, fmt.Sprintf(format, args...))
}

// firstEnv is the first variable that is set.
func (r *settingsReader) firstEnv(names ...string) string {
	for _, n := range names {
		if v := r.Env(n); v != "" {
			return v
		}
	}
	return ""
}

func (r *settingsReader) addCertificates(names ...string) {
	for _, n := range names {
		if v := r.Env(n); v != "" {
			r.addCAFile(n, v)
		}
	}
}

// addCAFile trusts the certificates of a file, if there is one: the clients do not
// fail over a missing file either.
func (r *settingsReader) addCAFile(setting, file string) {
	switch info, err := os.Stat(file); {
	case err != nil || !info.Mode().IsRegular():
		r.addNote("%s names a file of certificates that is not there", setting)
	case !slices.Contains(r.upstreams.CAs, file):
		r.upstreams.CAs = append(r.upstreams.CAs, file)
	}
}

// readGoEnv asks the go command, which knows its own files and defaults.
func (r *settingsReader) readGoEnv(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.Go, "env", "-json", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY")
	cmd.Dir = r.Root // no go.mod of a project says which toolchain answers
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off", "HOME="+r.Home)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		r.addNote("there is no go command on this host: no Go modules are served")
		return nil
	}
	var set map[string]string
	if err == nil {
		err = json.Unmarshal(out, &set)
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.addNote("the go command does not say what its proxy is: no Go modules are served")
		return nil
	}
	rest := set["GOPROXY"]
	for rest != "" {
		i := strings.IndexAny(rest, ",|")
		one, orElse := rest, false
		if i >= 0 {
			one, orElse, rest = rest[:i], rest[i] == '|', rest[i+1:]
		} else {
			rest = ""
		}
		switch one = strings.TrimSpace(one); one {
		case "", "direct":
			continue // never from the addresses that names point to
		case "off":
			rest = ""
			continue
		}
		e, err := parseEndpoint(one)
		if err != nil {
			r.addNote("an entry of GOPROXY is %v and is left out", err)
			continue
		}
		e.NextOnAnyError = orElse
		r.upstreams.Go = append(r.upstreams.Go, r.withNetrc(e))
	}
	if len(r.upstreams.Go) == 0 {
		r.addNote("GOPROXY names no proxy: Go modules are fetched from proxies only, so none are served")
	}
	r.upstreams.GoSumDB, r.upstreams.GoNoSum = set["GOSUMDB"], set["GONOSUMDB"]
	if r.upstreams.GoNoSum == "" {
		r.upstreams.GoNoSum = set["GOPRIVATE"]
	}
	r.upstreams.GoPrivate = set["GOPRIVATE"]
	if more := set["GONOPROXY"]; more != "" && more != "none" && more != r.upstreams.GoPrivate {
		r.upstreams.GoPrivate = strings.Trim(r.upstreams.GoPrivate+","+more, ",")
	}
	return nil
}

// withNetrc adds the password that ~/.netrc has for an endpoint's host.
func (r *settingsReader) withNetrc(e Endpoint) Endpoint {
	if e.auth != "" {
		return e
	}
	file := r.Env("NETRC")
	if file == "" {
		file = filepath.Join(r.Home, ".netrc")
	}
	text, err := os.ReadFile(file)
	if err != nil || len(text) > 1<<20 {
		return e
	}
	u, err := url.Parse(e.URL)
	if err != nil {
		return e
	}
	// The go command looks for a host with its port, others for one without.
	for _, host := range []string{u.Host, u.Hostname()} {
		if login, password, ok := findNetrcLogin(text, host); ok {
			e.auth, e.wholeHost = basicAuth(login, password), true
			break
		}
	}
	return e
}

// findNetrcLogin finds the entry of a host.
func findNetrcLogin(text []byte, host string) (login, password string, ok bool) {
	f := strings.Fields(string(stripMacros(text)))
	in := false
	for i := 0; i < len(f); i++ {
		next := ""
		if i+1 < len(f) {
			next = f[i+1]
		}
		switch f[i] {
		case "machine", "default":
			if in && login != "" {
				return login, password, true
			}
			in = f[i] == "machine" && next == host
			login, password = "", ""
			if f[i] == "machine" {
				i++
			}
		case "login":
			login, i = next, i+1
		case "password":
			password, i = next, i+1
		case "account":
			i++
		}
	}
	return login, password, in && login != ""
}

// stripMacros drops macdef blocks, which end at an empty line, and comments.
func stripMacros(text []byte) []byte {
	var out bytes.Buffer
	macro := false
	for line := range bytes.Lines(text) {
		t := bytes.TrimSpace(line)
		switch {
		case macro:
			macro = len(t) > 0
		case bytes.HasPrefix(t, []byte("macdef")):
			macro = true
		case !bytes.HasPrefix(t, []byte("#")):
			out.Write(line)
		}
	}
	return out.Bytes()
}

// NoUpstreams is a set of registries without any, for an office with deps: off.
func NoUpstreams() Upstreams { return Upstreams{NPMScope: map[string]Endpoint{}} }

// noRegistryError is the answer where an ecosystem has none.
func noRegistryError(ecosystem string, notes []string) error {
	e := company.E(company.EInvalid, "this office has no "+ecosystem+" registry")
	if len(notes) > 0 {
		e = e.Because(strings.Join(notes, "; "))
	}
	return e
}
