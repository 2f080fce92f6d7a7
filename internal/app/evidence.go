package app

import (
	"context"
	"time"

	"company/internal/company"
	"company/internal/delivery/evidence"
	"company/internal/gitops"
	"company/internal/present/view"
)

// CheckEvidence compares the claims of a task, which may be archived, with what shows them.
func (a *App) CheckEvidence(ctx context.Context, id string) (view.EvidenceCheck, error) {
	src, err := a.Source().WithTarget(id)
	if err != nil {
		return view.EvidenceCheck{}, err
	}
	target, err := view.FindTarget(src.State, id)
	if err != nil {
		return view.EvidenceCheck{}, err
	}
	if target.Task == nil {
		return view.EvidenceCheck{}, company.E(company.EUsage, id+" is a question of the office").
			Fix("name a task, such as t12")
	}
	project := target.Task.Project
	mirror, err := gitops.LookAt(a.office.Git, a.loaded.Config.Git.Remote, project.ID, project.Path)
	if err != nil && company.CodeOf(err) != company.ENotFound {
		return view.EvidenceCheck{}, err
	}
	checker := evidence.Checker{Blobs: a.ledger, Now: a.Now, Cleaned: a.lastCleanup}
	return checker.Check(ctx, target.Task, mirror)
}

// lastCleanup returns the time before which tasks have been cleaned up.
func (a *App) lastCleanup() time.Time { return a.View().Office.Cleaned }
