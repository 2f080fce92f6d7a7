package ecosystem

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
)

// Host gives access to the settings of the operator's clients on a host.
type Host interface {
	Env(name string) string
	Home() string
	Root() string // the parent of etc/…
	// ReadFile returns the text of a regular settings file. A file that is too large is an error.
	ReadFile(path string) ([]byte, error)
	// Glob lists the files that match a pattern.
	Glob(pattern string) []string
	// Run runs a program with additional variables and returns its output. The error is ErrNoProgram if the host does
	// not have the program.
	Run(ctx context.Context, env []string, program string, args ...string) ([]byte, error)
	// AddNote reports to the operator a setting that is not followed.
	AddNote(format string, args ...any)
	// TrustCA trusts the certificates in the file that a setting names. An empty file name has no effect.
	TrustCA(setting, file string)
}

// ErrNoProgram means that the host does not have a program.
var ErrNoProgram = errors.New("there is no such program")

// FirstEnv returns the value of the first variable that is set, or "".
func FirstEnv(host Host, names ...string) string {
	for _, n := range names {
		if v := host.Env(n); v != "" {
			return v
		}
	}
	return ""
}

// WithNetrc adds the login from ~/.netrc for an endpoint's host, if the endpoint has no login yet.
func WithNetrc(h Host, endpoint Endpoint) Endpoint {
	address, err := url.Parse(endpoint.URL)
	if endpoint.auth != "" || err != nil {
		return endpoint
	}
	file := h.Env("NETRC")
	if file == "" {
		file = filepath.Join(h.Home(), ".netrc")
	}
	text, err := h.ReadFile(file)
	if err != nil {
		return endpoint
	}
	// The go command looks for a host with its port, others for one without.
	for _, host := range []string{address.Host, address.Hostname()} {
		if login, password, ok := FindNetrcLogin(text, host); ok {
			return endpoint.WithAuth(BasicAuth(login, password)).ForWholeHost()
		}
	}
	return endpoint
}

// FindNetrcLogin returns the login of a host from the text of a .netrc file.
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

// stripMacros removes comments and macdef blocks, which end at an empty line.
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
