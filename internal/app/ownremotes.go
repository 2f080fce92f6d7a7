package app

import (
	"context"

	"company/internal/gitops/gitlogin"
	"company/internal/office/config"
)

// resolveRemotes returns a function that resolves aliases in a remote's address, so that its forge
// is found. It uses the president's git (insteadOf) and ssh (Host) configuration. It returns nil
// if the president's logins are not used. Their configuration is not read then.
func resolveRemotes(c config.Config, env func(string) (string, bool)) func(context.Context, string) string {
	if !c.Git.UseMyLogins {
		return nil
	}
	logins := gitlogin.New(env)
	if logins == nil {
		return nil
	}
	return func(ctx context.Context, remote string) string {
		settings, err := logins.Read(ctx, "")
		if err != nil {
			return remote // the next fetch or push reports it
		}
		return settings.Resolve(ctx, remote)
	}
}
