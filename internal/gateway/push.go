package gateway

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
)

// checkRefs is the rule which references a run may push (T8): branches of its own
// ticket, at most 16 of them, and its checkpoint, which alone may move
// backwards. One reference that is not allowed refuses the whole push.
func (g *Gateway) checkRefs(ctx context.Context, updates []gitops.RefUpdate) error {
	have, err := g.cfg.Quarantine.Branches(ctx)
	if err != nil {
		return err
	}
	own := gitops.BranchPattern(g.cfg.Ticket)
	for _, u := range updates {
		switch {
		case u.Deletes():
			return company.E(company.EProtected, fmt.Sprintf("%q may not be deleted", u.Ref))
		case u.Ref == gitops.CheckpointRef(g.cfg.Run):
		case own.MatchString(u.Ref) && u.Rewrites:
			return company.E(company.EProtected, fmt.Sprintf("%q may not be rewritten", u.Ref)).
				Because("the push leaves out commits that are there").Fix("commit on top of what was pushed")
		case own.MatchString(u.Ref):
			have[u.Ref] = u.New
		default:
			return company.E(company.EProtected, fmt.Sprintf("%q may not be pushed", u.Ref)).
				Because("run " + string(g.cfg.Run) + " pushes branches of its own ticket only").
				Fix("push to agent/" + g.cfg.Ticket + "-<what it does>")
		}
	}
	if len(have) > gitops.MaxBranches {
		return company.E(company.EProtected, fmt.Sprintf("there are more than %d branches of %s", gitops.MaxBranches, g.cfg.Ticket)).
			Fix("push to one of those that are there")
	}
	return nil
}
