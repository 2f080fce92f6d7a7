package delivery

import (
	"context"
	"fmt"
	"slices"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/leak"
	"company/internal/prbody"
)

// BlobKeeper keeps a text under its hash.
type BlobKeeper interface {
	PutBlob(ctx context.Context, data []byte) (company.Hash, error)
}

// Config is what a delivery is made of.
type Config struct {
	Decider company.Decider
	Mirrors gitops.MirrorSource
	Forges  forge.Source
	Ask     forge.PRSettings
	Texts   BlobKeeper // of pull requests
	Log     *gitops.OpLog
	// Secrets looks for secrets in what would be pushed. Nil: nothing is looked
	// for.
	Secrets *leak.Scanner `part:"optional"`
}

// Delivery carries out deliver effects: it pushes the integration branch and
// opens the pull request. Asked again, it finds what it did.
type Delivery struct{ Config }

// New checks that nothing is missing that a delivery needs.
func New(c Config) (*Delivery, error) { return &Delivery{c}, company.CheckParts(c) }

// Do delivers a task.
func (c *Delivery) Do(ctx context.Context, e company.Effect) (company.Command, error) {
	s := c.Decider.View()
	t, err := s.Task(e.Task)
	if err != nil {
		return nil, err
	}
	d := t.Delivery
	if d == nil {
		return nil, nil
	}
	m, err := c.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return nil, err
	}
	lead := s.LeadOf(t)
	var expected company.OID
	var before []*company.Task
	if lead != t {
		expected = t.RemoteHead()
		for _, p := range s.Pulls() {
			if p.Lead == lead {
				before = p.Tasks
			}
		}
	}
	remote, err := m.RemoteURL(ctx, t.Project.Path)
	if err != nil {
		return nil, err
	}
	ref := forge.Ref{Office: s.Office.ID, Task: lead.ID, Branch: d.Branch}
	if lead.PR != nil {
		ref.Number, ref.URL = lead.PR.Number, lead.PR.URL
	}
	f, err := c.Forges.ForPullRequest(ctx, ref, remote)
	if err != nil {
		return nil, err
	}
	target, err := f.Target(ctx)
	if err != nil {
		return nil, err
	}
	to := remote
	if target.URL != "" {
		to = target.URL
	}
	text := prbody.PRBody(t, prbody.PROptions{
		Pushed: to != "", PushedTo: target.URL, EarlierTasks: before, TitleAbove: f.Kind() != forge.LocalKind,
		ClosingLines: forge.ClosingLines(append(slices.Clone(before), t), f.ClosingLine),
	})
	pr := forge.PR{
		Office: s.Office.ID, Task: lead.ID, Number: d.Number, Title: forge.CleanTitle(d.Title), Body: text,
		Branch: d.Branch, Owner: target.Owner, Base: d.Base, Head: d.Head,
		Draft: c.Ask.Draft == "always" || c.Ask.Draft == "auto" && t.ExplainUntested() != "", Labels: c.Ask.Labels,
		CodeOwners: c.Ask.CodeOwners, Paths: prbody.ChangedPaths(t),
	}
	if lead.PR != nil {
		pr.Known = lead.PR.Number
	}
	var onTop *company.BranchChange
	if to != "" {
		base, held, err := c.findDoubts(ctx, m, t, lead, remote, pr)
		if err != nil {
			return nil, err
		}
		if held != nil {
			return *held, nil
		}
		pr.Base = base.branch
		// The branch is new to the remote, or where this follow-up began, or
		// holds this very head already.
		at, err := m.Push(ctx, c.Log, gitops.Remote{URL: to}, "refs/heads/"+d.Branch, d.Head, expected)
		if err != nil {
			return c.answerRefusal(ctx, err, refusedPush{m: m, t: t, lead: lead, to: to, remote: remote, base: pr.Base})
		}
		onTop = c.onTop(ctx, m, d.Head, pr.Base, at, remote)
	}
	opened, err := f.Open(ctx, pr)
	if err != nil {
		return nil, err
	}
	if lead != t && (opened.State == company.PRMerged || opened.State == company.PRClosed) {
		// A person ended it before we heard of it: there is nothing left to
		// deliver to, and to say that it was delivered would hide the work.
		return company.SettlePR{Task: lead.ID, State: opened.State, Why: "so says " + f.Kind()}, nil
	}
	if t.PR == nil && opened.Head.Valid() && opened.Head != d.Head {
		// It is of a task that the ledger has lost: a copy of the office was put back, and gave
		// the number again. This work is in no pull request.
		return nil, company.E(company.EConflict, fmt.Sprintf("pull request #%d is of another task %s, and %s already", opened.Number, t.ID, opened.State)).
			Because(fmt.Sprintf("it ends at %s, and the work is at %s: an older copy of the office was put back", opened.Head.Short(), d.Head.Short())).
			Fix(fmt.Sprintf("company diff %s shows the work; company cancel %s, then company submit it again: the next number is free", t.ID, t.ID)).NeedsPerson()
	}
	base := pr.Base
	if opened.Base == d.Base || t.Allows(company.OtherBaseKey(d.Base, opened.Base)) {
		base = opened.Base // opened before a kill, when the remote had other branches
	}
	body, err := c.Texts.PutBlob(ctx, []byte(pr.MarkedBody()))
	if err != nil {
		return nil, err
	}
	return company.RecordDelivery{Task: t.ID, Head: d.Head, Number: opened.Number, URL: opened.URL, Body: body, Base: base, Branch: onTop}, nil
}

// onTop describes commits that people made between a push and a kill, on top of
// the pushed ones: the pull request shows them from its first day. Nil: none,
// or unknown now, and the next look at the branch finds them.
func (c *Delivery) onTop(ctx context.Context, m *gitops.Mirror, head company.OID, into string, at company.OID, remote string) *company.BranchChange {
	if at == head {
		return nil
	}
	base, err := m.FetchBase(ctx, c.Log, gitops.Source{URL: remote}, into)
	if err != nil {
		base.OID = ""
	}
	change, err := compareBranch(ctx, m, head, branchNow{head: at, known: true}, base.OID)
	if err != nil {
		return nil
	}
	return change
}
