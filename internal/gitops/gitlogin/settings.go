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
	"company/internal/gitops/gitexec"
)

// readLimit limits how long reading the configuration may take.
const readLimit = 20 * time.Second

// Settings holds the keys that company uses from the president's git configuration, in the order in which git reads
// them.
type Settings struct {
	logins *Logins
	all    []gitexec.Setting
}

// httpKeys lists the variables of http.* and http.<url>.* that are used: proxies, certificates, headers and the form
// of requests. http.sslVerify is excluded, because a login must not go to a server that cannot prove its identity.
var httpKeys = strings.Fields(`proxy proxyauthmethod proxysslcert proxysslkey proxysslcainfo
	sslcainfo sslcapath sslcert sslkey sslcerttype sslkeytype sslversion sslbackend pinnedpubkey
	extraheader cookiefile emptyauth delegation useragent version postbuffer lowspeedlimit lowspeedtime`)

// NoRepository is a repository that does not exist. With it, git reads no repository configuration, in any working
// directory.
const NoRepository = "/nonexistent"

// isTaken reports whether a configuration key is used. Only keys listed here are.
func isTaken(key string) bool {
	section, _, name := splitKey(key)
	switch section {
	case "http":
		return slices.Contains(httpKeys, name)
	case "credential":
		return true // only read by git credential and the helpers
	case "url":
		return name == "insteadof" || name == "pushinsteadof"
	case "core":
		return name == "sshcommand"
	}
	return false
}

// splitKey splits section.subsection.name. A subsection may contain dots.
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

// Read reads the configuration of the user and the system. gitDir is the checkout's repository, whose path decides
// the user's own includeIf. It may be empty.
func (l *Logins) Read(ctx context.Context, gitDir string) (*Settings, error) {
	limited, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	cmd := gitexec.Command{
		GitDir: cmp.Or(gitDir, NoRepository), Args: []string{"config", "--show-scope", "--includes", "--null", "--list"},
		NoTerminal: true,
	}
	l.ReadPersonal(&cmd)
	result, err := cmd.Run(limited)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return nil, newUnreadable("it was not read within " + readLimit.String())
	case err != nil:
		return nil, err
	case result.Exit != 0:
		// git names the file and the line, but no value.
		return nil, newUnreadable(strings.TrimPrefix(firstLine(result.Stderr), "fatal: "))
	}
	return &Settings{logins: l, all: parseList(string(result.Out))}, nil
}

// ReadPersonal lets a git that lists the configuration read that of the user and the system. A nil Logins changes
// nothing.
func (l *Logins) ReadPersonal(cmd *gitexec.Command) {
	if l == nil {
		return
	}
	cmd.Home = l.home
	cmd.Env = slices.Concat(cmd.Env, l.env, l.places)
	cmd.PersonalConfig = true
}

// newUnreadable returns the error for a configuration that git cannot read.
func newUnreadable(reason string) error {
	return company.E(company.EConfig, "cannot read your git configuration").Because(reason).
		Fix("fix it: git config --global --list shows where; or set git.use_my_logins: false").NeedsPerson()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// parseList parses scope NUL key LF value NUL, as git config writes it. It keeps the used keys from the user's and
// the system's files.
func parseList(text string) (out []gitexec.Setting) {
	fields := strings.Split(text, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope := fields[i]
		key, value, set := strings.Cut(fields[i+1], "\n")
		if !set {
			value = "true" // a key without a value
		}
		if (scope == "global" || scope == "system") && isTaken(key) {
			out = append(out, gitexec.Setting{key, value})
		}
	}
	return out
}

// HTTP returns the settings for requests to a server.
func (s *Settings) HTTP() []gitexec.Setting { return s.ofSection("http") }

// ofSection returns the settings of the given sections, in order.
func (s *Settings) ofSection(sections ...string) (out []gitexec.Setting) {
	for _, kv := range s.all {
		if section, _, _ := splitKey(kv[0]); slices.Contains(sections, section) {
			out = append(out, kv)
		}
	}
	return out
}

// Environ returns the environment for the president's own programs.
func (s *Settings) Environ() []string { return slices.Clone(s.logins.env) }

// Home returns the president's home directory.
func (s *Settings) Home() string { return s.logins.home }

// String hides the values, which may be secrets.
func (s *Settings) String() string { return fmt.Sprintf("%d settings of git", len(s.all)) }
