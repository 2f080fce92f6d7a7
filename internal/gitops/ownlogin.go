package gitops

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/gitops/gitlogin"
)

// noTokenError means that a Credential found no token. It is not used for a token that is found but unusable.
type noTokenError struct{ error }

func (e noTokenError) Unwrap() error { return e.error }

// NoToken marks the error of a Credential that found no token. The president's own logins may then be used.
func NoToken(err error) error { return noTokenError{err} }

// readLogins reads the settings of the president's own git for remotes. It returns nil if these are not used or the
// remote is on this machine.
func (s *Store) readLogins(ctx context.Context, remote Remote) (*gitlogin.Settings, error) {
	if s.cfg.Logins == nil || remote.URL == "" || filepath.IsAbs(remote.URL) {
		return nil, nil
	}
	gitDir := ""
	if remote.checkout != "" {
		if c, err := s.findCheckout(remote.checkout); err == nil {
			gitDir = c.gitDir
		}
	}
	return s.cfg.Logins.Read(ctx, gitDir)
}

// applyLogins adds the president's server settings to a git command that talks to the remote. It leaves out the
// credential helpers, because answerCredential asks them.
func (a *remoteEndpoint) applyLogins(cmd *gitexec.Command) {
	if a.own == nil {
		return
	}
	cmd.NoTerminal = true
	cmd.Config = append(cmd.Config, a.own.HTTP()...)
	if a.ssh != nil { // ssh then finds its agent, and programs such as a ProxyCommand
		cmd.Home, cmd.Env = a.own.Home(), append(cmd.Env, a.own.Environ()...)
	}
}

// findOwnLogin searches for the president's own login at the remote's host.
func (a *remoteEndpoint) findOwnLogin(ctx context.Context) (gitlogin.Login, error) {
	address, err := url.Parse(a.url)
	if err != nil {
		return gitlogin.Login{}, err
	}
	server := gitlogin.Server{Protocol: a.protocols, Host: a.host, Path: strings.TrimPrefix(address.Path, "/"),
		User: a.user}
	if a.askNobody {
		return a.own.FindNetrc(server)
	}
	return a.own.Find(ctx, server, a.s.cfg.OperatorEnv)
}

// helpersUnasked names the helpers that a push would ask but doctor did not.
func (a *remoteEndpoint) helpersUnasked() string {
	if a.own == nil || !a.askNobody {
		return ""
	}
	return strings.Join(a.own.Helpers(), ", ")
}

// approveLogin tells the president's helpers that the login worked.
func (a *remoteEndpoint) approveLogin(ctx context.Context) {
	if a.own != nil {
		a.own.Approve(ctx, a.given, a.s.cfg.OperatorEnv)
	}
}

// lackOfLogins describes where no login of the president was found. It returns "" if none was searched for.
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

// addLack adds to the error of a missing token the other places that were searched.
func addLack(err error, lack string) error {
	var fault *company.Error
	if !errors.As(err, &fault) {
		return err
	}
	return NoToken(fault.Because(strings.TrimPrefix(fault.Why+lack, "; ")))
}
