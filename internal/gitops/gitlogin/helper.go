package gitlogin

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/lib/secret"
)

// helperLimit limits how long all helpers together may take to answer. It is a variable for tests.
var helperLimit = 30 * time.Second

// Server identifies the server and repository that a login is for.
type Server struct {
	Protocol string // https or http
	Host     string // with the port if it is not the default
	Path     string // of the repository, without a slash in front
	User     string // of the address; empty matches any
}

// Login is one login of the president. The zero value means that there is none.
type Login struct {
	User   string
	Secret secret.Value
	Source string // where it comes from, for people

	renewed secret.Value // the complete answer, if the helper must get it back
}

// Find searches for a login at a server: first in ~/.netrc, as git does, then with the credential helpers. It returns
// the zero Login if it finds none. An error describes the fault of a login that it found. operator holds the
// operator's proxy and certificate variables, for helpers that use the network.
func (s *Settings) Find(ctx context.Context, server Server, operator []string) (Login, error) {
	login, err := s.FindNetrc(server)
	if err != nil || login.Secret.Set() {
		return login, err
	}
	return s.askHelpers(ctx, server, operator)
}

// FindNetrc is like Find without the helpers, which may use the network.
func (s *Settings) FindNetrc(server Server) (Login, error) { return s.logins.findNetrc(server) }

// Helpers returns the names of the configured credential helpers. Shell commands are not shown because they may
// contain a secret.
func (s *Settings) Helpers() (names []string) {
	for _, kv := range s.ofSection("credential") {
		if _, _, name := splitKey(kv[0]); name != "helper" {
			continue
		}
		name := "a command of yours"
		switch {
		case kv[1] == "":
			names = nil // git ignores the earlier ones
			continue
		case !strings.HasPrefix(kv[1], "!"):
			name = filepath.Base(strings.Fields(kv[1])[0])
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// askHelpers asks the president's credential helpers through git.
func (s *Settings) askHelpers(ctx context.Context, server Server, operator []string) (Login, error) {
	names := strings.Join(s.Helpers(), ", ")
	if names == "" {
		return Login{}, nil
	}
	limited, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	question := "protocol=" + server.Protocol + "\nhost=" + server.Host + "\npath=" + server.Path + "\n"
	if server.User != "" {
		question += "username=" + server.User + "\n"
	}
	result, err := s.runCredential(limited, "fill", question+"\n", operator)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return Login{}, helperError("your credential helper did not answer: "+names, server).
			Because("it had " + helperLimit.String() +
				" and no terminal: helpers that open a window or a prompt do not work here")
	case err != nil:
		return Login{}, err
	case result.Exit != 0:
		// git would prompt now, because no helper had a login. git does not report which of them failed, and their output
		// may contain a secret.
		return Login{}, nil
	}
	login, ok := parseAnswer(string(result.Out), server)
	if !ok {
		return Login{}, helperError("invalid answer of your credential helper: "+names, server)
	}
	login.Source = "your credential helper " + names
	return login, nil
}

func helperError(message string, server Server) *company.Error {
	return company.E(company.EAuth, message).NeedsPerson().
		Fix("see what it does: printf 'protocol=" + server.Protocol + "\\nhost=" + server.Host +
			"\\n\\n' | git credential fill")
}

// runCredential runs git credential outside any repository.
func (s *Settings) runCredential(
	ctx context.Context, action, question string, operator []string,
) (gitexec.Result, error) {
	return gitexec.Command{
		GitDir: NoRepository, Args: []string{"credential", action}, Home: s.logins.home, NoTerminal: true,
		Config: append(s.ofSection("credential", "http"), gitexec.Setting{"credential.interactive", "false"}),
		Env:    append(s.Environ(), operator...), Stdin: strings.NewReader(question),
	}.Run(ctx)
}

// parseAnswer parses git's key=value lines. It rejects a login for a server other than the requested one.
func parseAnswer(text string, server Server) (Login, bool) {
	fields := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if k, v, ok := strings.Cut(line, "="); ok {
			fields[k] = v
		}
	}
	password := fields["password"]
	if password == "" || fields["protocol"] != server.Protocol || !strings.EqualFold(fields["host"], server.Host) ||
		len(password) > 1<<16 || strings.ContainsAny(fields["username"]+password, "\r\x00") {
		return Login{}, false
	}
	login := Login{User: fields["username"], Secret: secret.New(password)}
	if fields["oauth_refresh_token"] != "" {
		login.renewed = secret.New(text)
	}
	return login, true
}

// Approve returns a working login to the helpers if one of them renewed it. Errors are ignored, since the push has
// already succeeded.
func (s *Settings) Approve(ctx context.Context, login Login, operator []string) {
	if !login.renewed.Set() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	_, _ = s.runCredential(ctx, "approve", login.renewed.Reveal()+"\n", operator)
}
