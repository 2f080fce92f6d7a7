package prepare

import (
	"context"
	"slices"

	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
)

// findFollowUpBase finds the base of a task that continues an open pull request. It starts at the current commit of
// the pull request's branch at the remote, where people may have pushed or force-pushed. If there is none, it starts
// at the last delivered commit. Work that an earlier follow-up merged but never delivered is ignored.
func (in *Intake) findFollowUpBase(
	ctx context.Context, state *company.State, task, lead *company.Task, mirror *gitops.Mirror, project Project,
) (company.Command, error) {
	branch := lead.IntegrationBranch()
	ref := "refs/heads/" + branch
	var head company.OID
	for _, pull := range state.Pulls() {
		if pull.Lead == lead {
			head = pull.Head
		}
	}
	target := gitops.Source{Path: task.Project.Path}
	url, err := mirror.RemoteURL(ctx, task.Project.Path)
	if err != nil {
		return nil, err
	}
	if url != "" {
		target = gitops.Source{URL: url}
		from := url
		if in.Branches != nil {
			if from, err = in.Branches.BranchURL(ctx, mirror, lead, url); err != nil {
				return nil, markNeedsPerson(err)
			}
		}
		var info gitops.BaseInfo
		if from != "" {
			info, err = mirror.FetchBase(ctx, in.Log, gitops.Source{URL: from}, branch)
		}
		switch {
		case from == "": // it is where it was delivered
		case err == nil:
			head = info.OID
		case company.CodeOf(err) != company.ENotFound: // deleted by people
			return nil, markNeedsPerson(err)
		}
	}
	at, err := mirror.Ref(ctx, ref)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return nil, err
	}
	if at != head {
		if err := mirror.UpdateRef(ctx, ref, head, at); err != nil {
			return nil, err
		}
	}
	base := lead.Prepared.Base
	base.OID = head
	base.Dirty = false
	base.Ahead = 0
	taskBased := company.TaskBased{Base: base, Gates: lead.Prepared.Gates, GateHash: lead.Prepared.GateHash,
		Integration: branch}
	// The base may have moved since, or no longer exist. Then there is no target to merge.
	if info, err := mirror.FetchBase(ctx, in.Log, target, base.PRBranch); err == nil {
		taskBased.Target = info.OID
	} else if ctx.Err() != nil {
		return nil, err
	}
	project.Services = append(slices.Clone(project.Services), lead.Prepared.Services...)
	found, err := gates.Detect(ctx, mirror, lead.Prepared.Base.OID, project.gateOptions())
	if err != nil {
		return nil, err
	}
	if _, err := project.imageRequest(ctx, mirror, head, lead.Prepared.Base.OID, found); err != nil {
		return nil, err
	}
	taskBased.BesideChecks = found.BesideChecks()
	if taskBased.MorePackages = project.mayAddPackages(); taskBased.MorePackages {
		taskBased.Packages = lead.Prepared.Packages
	}
	// The branch may have another CI now. Its additional checks are listed.
	now, err := gates.Detect(ctx, mirror, head, project.gateOptions())
	if err != nil {
		return nil, err
	}
	taskBased.Unrun = append(taskBased.Unrun, now.ListNewer(taskBased.Gates, taskBased.Unrun)...)
	return company.RecordBase{Task: task.ID, TaskBased: taskBased}, nil
}
