package gateway

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
)

// checkRefs checks the references that a run pushes (T8). Allowed are branches of its own ticket, at most 16,
// and its checkpoint. Only the checkpoint may move backwards. One forbidden reference refuses the whole push.
func (g *Gateway) checkRefs(ctx context.Context, updates []gitops.RefUpdate) error {
	have, err := g.cfg.Quarantine.Branches(ctx)
	if err != nil {
		return err
	}
	own := gitops.BranchPattern(g.cfg.Ticket)
	for _, refUpdate := range updates {
		switch {
		case refUpdate.Deletes():
			return company.E(company.EProtected, fmt.Sprintf("%q may not be deleted", refUpdate.Ref))
		case refUpdate.Ref == gitops.CheckpointRef(g.cfg.Run):
		case own.MatchString(refUpdate.Ref) && refUpdate.Rewrites:
			return company.E(company.EProtected, fmt.Sprintf("%q may not be rewritten", refUpdate.Ref)).
				Because("the push drops existing commits").Fix("commit on top of the pushed branch")
		case own.MatchString(refUpdate.Ref):
			have[refUpdate.Ref] = refUpdate.New
		default:
			return company.E(company.EProtected, fmt.Sprintf("%q may not be pushed", refUpdate.Ref)).
				Because("run " + string(g.cfg.Run) + " may only push branches of its own ticket").
				Fix("push to agent/" + g.cfg.Ticket + "-<what it does>")
		}
	}
	if len(have) > gitops.MaxBranches {
		return company.E(company.EProtected,
			fmt.Sprintf("there are more than %d branches of %s", gitops.MaxBranches, g.cfg.Ticket)).
			Fix("push to an existing one")
	}
	return nil
}
