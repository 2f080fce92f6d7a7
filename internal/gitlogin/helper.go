package gitlogin

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitexec"
	"company/internal/secret"
)

// helperLimit is the time in which all helpers together have to answer. It is a
// variable for tests.
var helperLimit = 30 * time.Second

// Server is the place that a login is for.
type Server struct {
	Protocol string // https or http
	Host     string // with the port where it is not the protocol's own
	Path     string // of the repository, without a slash in front
	User     string // of the address; empty: any
}

// Login is one login of the president's. The zero value is none.
type Login struct {
	User   string
	Secret secret.Value
	Source string // where it comes from, for people

	renewed secret.Value // the whole answer, where the helper is to get it back
}

// Find looks for a login at a server: in ~/.netrc first, as git does, then with the
// credential helpers. It gives the zero Login where it finds none. An error names the
// fault of a login that it found; operator are proxies and certificates of the
// operator's, for helpers that go to the network.
func (s *Settings) Find(ctx context.Context, at Server, operator []string) (Login, error) {
	login, err := s.FindNetrc(at)
	if err != nil || login.Secret.Set() {
		return login, err
	}
	return s.askHelpers(ctx, at, operator)
}

// FindNetrc is Find without the helpers, which may go to the network.
func (s *Settings) FindNetrc(at Server) (Login, error) { return s.logins.findNetrc(at) }

// Helpers names the credential helpers that are set. A command for the shell may hold
// a secret, so it is not shown.
func (s *Settings) Helpers() (names []string) {
	for _, kv := range s.ofSection("credential") {
		if _, _, name := splitKey(kv[0]); name != "helper" {
			continue
		}
		name := "a command of yours"
		switch {
		case kv[1] == "":
			names = nil // git forgets those before
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

// askHelpers asks git for the answer of the president's credential helpers.
func (s *Settings) askHelpers(ctx context.Context, at Server, operator []string) (Login, error) {
	names := strings.Join(s.Helpers(), ", ")
	if names == "" {
		return Login{}, nil
	}
	limited, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	question := "protocol=" + at.Protocol + "\nhost=" + at.Host + "\npath=" + at.Path + "\n"
	if at.User != "" {
		question += "username=" + at.User + "\n"
	}
	r, err := s.runCredential(limited, "fill", question+"\n", operator)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return Login{}, helperError("your credential helper did not answer: "+names, at).
			Because("it had " + helperLimit.String() + ", and nobody to ask: what opens a window or a prompt cannot be used here")
	case err != nil:
		return Login{}, err
	case r.Exit != 0:
		// git would ask a person now: no helper had a login. Which of them failed,
		// git does not tell, and what they wrote may hold a secret.
		return Login{}, nil
	}
	login, ok := parseAnswer(string(r.Out), at)
	if !ok {
		return Login{}, helperError("the answer of your credential helper cannot be used: "+names, at)
	}
	login.Source = "your credential helper " + names
	return login, nil
}

func helperError(message string, at Server) *company.Error {
	return company.E(company.EAuth, message).NeedsPerson().
		Fix("see what it does: printf 'protocol=" + at.Protocol + "\\nhost=" + at.Host + "\\n\\n' | git credential fill")
}

// runCredential runs git credential outside of any repository.
func (s *Settings) runCredential(ctx context.Context, action, question string, operator []string) (gitexec.Result, error) {
	return gitexec.Command{
		GitDir: noRepository, Args: []string{"credential", action}, Home: s.logins.home, NoTerminal: true,
		Config: append(s.ofSection("credential", "http"), gitexec.Setting{"credential.interactive", "false"}),
		Env:    append(s.Environ(), operator...), Stdin: strings.NewReader(question),
	}.Run(ctx)
}

// parseAnswer reads git's key=value lines. A login for another server than the asked
// one is no answer.
func parseAnswer(text string, at Server) (Login, bool) {
	fields := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if k, v, ok := strings.Cut(line, "="); ok {
			fields[k] = v
		}
	}
	password := fields["password"]
	if password == "" || fields["protocol"] != at.Protocol || !strings.EqualFold(fields["host"], at.Host) ||
		len(password) > 1<<16 || strings.ContainsAny(fields["username"]+password, "\r\x00") {
		return Login{}, false
	}
	login := Login{User: fields["username"], Secret: secret.New(password)}
	if fields["oauth_refresh_token"] != "" {
		login.renewed = secret.New(text)
	}
	return login, true
}

// Approve gives a login that worked back to the helpers, where one of them has renewed
// it. What becomes of it there does no harm to a push that has succeeded.
func (s *Settings) Approve(ctx context.Context, login Login, operator []string) {
	if !login.renewed.Set() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	_, _ = s.runCredential(ctx, "approve", login.renewed.Reveal()+"\n", operator)
}
