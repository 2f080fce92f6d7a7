package gitlogin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitexec"
)

// readLimit bounds the reading of the configuration.
const readLimit = 20 * time.Second

// Settings are the keys that company takes from the president's git configuration, in the order
// in which git reads it.
type Settings struct {
	logins *Logins
	all    []gitexec.Setting
}

// httpKeys are the variables of http.* and http.<url>.* that are taken over: proxies,
// certificates, headers and the shape of requests. http.sslVerify is not: a login
// goes to no server that cannot show who it is.
var httpKeys = strings.Fields(`proxy proxyauthmethod proxysslcert proxysslkey proxysslcainfo
	sslcainfo sslcapath sslcert sslkey sslcerttype sslkeytype sslversion sslbackend pinnedpubkey
	extraheader cookiefile emptyauth delegation useragent version postbuffer lowspeedlimit lowspeedtime`)

// noRepository is a repository that is not there: git then reads no configuration of
// one, wherever its process stands.
const noRepository = "/nonexistent"

// isTaken reports whether a key of the configuration is taken over. This is the only
// list: what it does not name stays where it is.
func isTaken(key string) bool {
	section, _, name := splitKey(key)
	switch section {
	case "http":
		return slices.Contains(httpKeys, name)
	case "credential":
		return true // read by git credential and the helpers alone
	case "url":
		return name == "insteadof" || name == "pushinsteadof"
	case "core":
		return name == "sshcommand"
	}
	return false
}

// splitKey splits section.subsection.name; a subsection may hold dots.
func splitKey(key string) (section, sub, name string) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return key, "", ""
	}
	if first < last {
		sub = key[first+1 : last]
	}
	return strings.ToLower(key[:first]), sub, strings.ToLower(key[last+1:])
}

// Read reads the configuration of the user and the system. gitDir is the repository
// of the checkout, by whose place the user's own includeIf are judged; empty: none.
func (l *Logins) Read(ctx context.Context, gitDir string) (*Settings, error) {
	limited, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	cmd := gitexec.Command{
		GitDir: cmp.Or(gitDir, noRepository), Args: []string{"config", "--show-scope", "--includes", "--null", "--list"},
		Home: l.home, Env: slices.Concat(l.env, l.places), PersonalConfig: true, NoTerminal: true,
	}
	r, err := cmd.Run(limited)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return nil, newUnreadable("it was not read within " + readLimit.String())
	case err != nil:
		return nil, err
	case r.Exit != 0:
		// git names the file and the line, and no value.
		return nil, newUnreadable(strings.TrimPrefix(firstLine(r.Stderr), "fatal: "))
	}
	return &Settings{logins: l, all: parseList(string(r.Out))}, nil
}

// newUnreadable is the error of a configuration that git cannot read.
func newUnreadable(why string) error {
	return company.E(company.EConfig, "your git configuration cannot be read").Because(why).
		Fix("correct it: git config --global --list shows the place; or set git.use_my_logins: false").NeedsPerson()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// parseList reads scope NUL key LF value NUL, as git config writes it, and keeps what
// is taken over of the user's and the system's files.
func parseList(text string) (out []gitexec.Setting) {
	fields := strings.Split(text, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope := fields[i]
		key, value, set := strings.Cut(fields[i+1], "\n")
		if !set {
			value = "true" // a key alone
		}
		if (scope == "global" || scope == "system") && isTaken(key) {
			out = append(out, gitexec.Setting{key, value})
		}
	}
	return out
}

// HTTP are the settings of requests to a server.
func (s *Settings) HTTP() []gitexec.Setting { return s.ofSection("http") }

// ofSection are the settings of some sections, in their order.
func (s *Settings) ofSection(sections ...string) (out []gitexec.Setting) {
	for _, kv := range s.all {
		if section, _, _ := splitKey(kv[0]); slices.Contains(sections, section) {
			out = append(out, kv)
		}
	}
	return out
}

// Environ is what the president's own programs get of their environment.
func (s *Settings) Environ() []string { return slices.Clone(s.logins.env) }

// Home is the president's home.
func (s *Settings) Home() string { return s.logins.home }

// String hides the values, which may be secrets.
func (s *Settings) String() string { return fmt.Sprintf("%d settings of git", len(s.all)) }
