package intake

import (
	"context"
	"slices"

	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
)

// findFollowUpBase finds the base of a task that goes on with an open pull request. It starts
// where the pull request's branch stands: at the remote, where people may have
// pushed to it or forced it, else where it was delivered last. What an earlier
// follow-up merged and never delivered is left aside.
func (in *Intake) findFollowUpBase(ctx context.Context, s *company.State, t, lead *company.Task, m *gitops.Mirror, project Project) (company.Command, error) {
	branch := lead.IntegrationBranch()
	ref := "refs/heads/" + branch
	var head company.OID
	for _, p := range s.Pulls() {
		if p.Lead == lead {
			head = p.Head
		}
	}
	target := gitops.Source{Path: t.Project.Path}
	url, err := m.RemoteURL(ctx, t.Project.Path)
	if err != nil {
		return nil, err
	}
	if url != "" {
		target = gitops.Source{URL: url}
		from := url
		if in.Branches != nil {
			if from, err = in.Branches.BranchURL(ctx, lead, url); err != nil {
				return nil, markNeedsPerson(err)
			}
		}
		info, err := m.FetchBase(ctx, in.Log, gitops.Source{URL: from}, branch)
		switch {
		case err == nil:
			head = info.OID
		case company.CodeOf(err) != company.ENotFound: // deleted by people
			return nil, markNeedsPerson(err)
		}
	}
	at, err := m.Ref(ctx, ref)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return nil, err
	}
	if at != head {
		if err := m.UpdateRef(ctx, ref, head, at); err != nil {
			return nil, err
		}
	}
	base := lead.Prepared.Base
	base.OID, base.Dirty, base.Ahead = head, false, 0
	b := company.TaskBased{Base: base, Gates: lead.Prepared.Gates, GateHash: lead.Prepared.GateHash, Integration: branch}
	// The base may have moved on since, and may be gone: then there is nothing
	// to merge.
	if info, err := m.FetchBase(ctx, in.Log, target, base.PRBranch); err == nil {
		b.Target = info.OID
	} else if ctx.Err() != nil {
		return nil, err
	}
	project.Services = append(slices.Clone(project.Services), lead.Prepared.Services...)
	found, err := gates.Detect(ctx, m, lead.Prepared.Base.OID, project.gateOptions())
	if err != nil {
		return nil, err
	}
	if _, err := project.imageRequest(ctx, m, head, lead.Prepared.Base.OID, found); err != nil {
		return nil, err
	}
	b.BesideChecks = found.BesideChecks()
	// The branch may have another CI by now: what it checks besides is named.
	now, err := gates.Detect(ctx, m, head, project.gateOptions())
	if err != nil {
		return nil, err
	}
	b.Unrun = append(b.Unrun, now.ListNewer(b.Gates, b.Unrun)...)
	return company.RecordBase{Task: t.ID, TaskBased: b}, nil
}
