package ecosystem

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
)

// Host is a host whose operator's clients have settings.
type Host interface {
	Env(name string) string
	Home() string
	Root() string // of /etc/…
	// ReadFile gives the text of a regular file of settings. One that is larger
	// than such a file can be is an error.
	ReadFile(path string) ([]byte, error)
	// Glob lists the files that a pattern matches.
	Glob(pattern string) []string
	// Run starts a program with more variables and gives what it writes. The
	// error is ErrNoProgram where the host has none of that name.
	Run(ctx context.Context, env []string, program string, args ...string) ([]byte, error)
	// AddNote tells the operator of a setting that is not followed.
	AddNote(format string, args ...any)
	// TrustCA trusts the certificates in a file that a setting names, if any.
	TrustCA(setting, file string)
}

// ErrNoProgram: the host does not have a program.
var ErrNoProgram = errors.New("there is no such program")

// FirstEnv is the first variable that is set.
func FirstEnv(h Host, names ...string) string {
	for _, n := range names {
		if v := h.Env(n); v != "" {
			return v
		}
	}
	return ""
}

// WithNetrc adds the password that ~/.netrc has for an endpoint's host.
func WithNetrc(h Host, e Endpoint) Endpoint {
	u, err := url.Parse(e.URL)
	if e.auth != "" || err != nil {
		return e
	}
	file := h.Env("NETRC")
	if file == "" {
		file = filepath.Join(h.Home(), ".netrc")
	}
	text, err := h.ReadFile(file)
	if err != nil {
		return e
	}
	// The go command looks for a host with its port, others for one without.
	for _, host := range []string{u.Host, u.Hostname()} {
		if login, password, ok := FindNetrcLogin(text, host); ok {
			return e.WithAuth(BasicAuth(login, password)).ForWholeHost()
		}
	}
	return e
}

// FindNetrcLogin finds the entry of a host in a file of that form.
func FindNetrcLogin(text []byte, host string) (login, password string, ok bool) {
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
