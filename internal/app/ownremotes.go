package app

import (
	"context"

	"company/internal/config"
	"company/internal/gitlogin"
)

// resolveRemotes finds what a remote's address stands for in the president's own git
// (insteadOf) and ssh (Host), so that a forge is found behind such a name. nil: their
// logins are not used, and their configuration is not read.
func resolveRemotes(c config.Config, env func(string) (string, bool)) func(context.Context, string) string {
	if !c.Git.UseMyLogins {
		return nil
	}
	logins := gitlogin.New(env)
	if logins == nil {
		return nil
	}
	return func(ctx context.Context, remote string) string {
		s, err := logins.Read(ctx, "")
		if err != nil {
			return remote // the next fetch or push tells
		}
		return s.Resolve(ctx, remote)
	}
}
