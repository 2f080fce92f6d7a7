package app

import (
	"context"
	"sync"
	"time"

	"company/internal/config"
	"company/internal/gitlogin"
)

// resolvedTTL is how long an answer of the president's git and ssh is used.
const resolvedTTL = 2 * time.Minute

type resolvedRemote struct {
	to string
	at time.Time
}

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
	var mu sync.Mutex
	seen := map[string]resolvedRemote{}
	return func(ctx context.Context, remote string) string {
		mu.Lock()
		defer mu.Unlock()
		if r, ok := seen[remote]; ok && time.Since(r.at) < resolvedTTL {
			return r.to
		}
		s, err := logins.Read(ctx, "")
		if err != nil {
			return remote // the next fetch or push tells
		}
		seen[remote] = resolvedRemote{s.Resolve(ctx, remote), time.Now()}
		return seen[remote].to
	}
}
