package gitops

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/gitexec"
	"company/internal/gitlogin"
)

// noTokenError is the error of a Credential that found no token, as opposed to one
// that found a token which cannot be used.
type noTokenError struct{ error }

func (e noTokenError) Unwrap() error { return e.error }

// NoToken marks the error of a Credential that found no token: the president's own
// logins may be asked then.
func NoToken(err error) error { return noTokenError{err} }

// readLogins reads what the president's own git knows about remotes. nil: their
// logins are not used, or the remote is on this machine.
func (s *Store) readLogins(ctx context.Context, r Remote) (*gitlogin.Settings, error) {
	if s.cfg.Logins == nil || r.URL == "" || filepath.IsAbs(r.URL) {
		return nil, nil
	}
	gitDir := ""
	if r.checkout != "" {
		if c, err := s.findCheckout(r.checkout); err == nil {
			gitDir = c.gitDir
		}
	}
	return s.cfg.Logins.Read(ctx, gitDir)
}

// applyLogins gives a git that goes to the remote the president's settings of
// servers. Their helpers are not among them: answerCredential asks those.
func (a *remoteEndpoint) applyLogins(cmd *gitexec.Command) {
	if a.own == nil {
		return
	}
	cmd.NoTerminal = true
	cmd.Config = append(cmd.Config, a.own.HTTP()...)
	if a.ssh != nil { // which finds its agent, and programs such as a ProxyCommand
		cmd.Home, cmd.Env = a.own.Home(), append(cmd.Env, a.own.Environ()...)
	}
}

// findOwnLogin asks for the president's own login at the remote's host.
func (a *remoteEndpoint) findOwnLogin(ctx context.Context) (gitlogin.Login, error) {
	u, err := url.Parse(a.url)
	if err != nil {
		return gitlogin.Login{}, err
	}
	at := gitlogin.Server{Protocol: a.protocols, Host: a.host, Path: strings.TrimPrefix(u.Path, "/"), User: a.user}
	if a.askNobody {
		return a.own.FindNetrc(at)
	}
	return a.own.Find(ctx, at, a.s.cfg.OperatorEnv)
}

// helpersUnasked names the helpers that a push would ask and doctor did not.
func (a *remoteEndpoint) helpersUnasked() string {
	if a.own == nil || !a.askNobody {
		return ""
	}
	return strings.Join(a.own.Helpers(), ", ")
}

// approveLogin tells the president's helpers that the login of the call was good.
func (a *remoteEndpoint) approveLogin(ctx context.Context) {
	if a.own != nil {
		a.own.Approve(ctx, a.given, a.s.cfg.OperatorEnv)
	}
}

// lackOfLogins says where a login of the president's was looked for in vain; empty
// where none was looked for.
func (a *remoteEndpoint) lackOfLogins() string {
	if a.own == nil {
		return ""
	}
	helpers := "no credential helper is set in your git configuration"
	if names := a.own.Helpers(); len(names) > 0 {
		helpers = "your credential helper " + strings.Join(names, ", ") + " has none"
	}
	return "; ~/.netrc has no login for it, and " + helpers
}

// addLack adds to the error of a missing token where else a login was looked for.
func addLack(err error, lack string) error {
	var e *company.Error
	if !errors.As(err, &e) {
		return err
	}
	return NoToken(e.Because(strings.TrimPrefix(e.Why+lack, "; ")))
}
