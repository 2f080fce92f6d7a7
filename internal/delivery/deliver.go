package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"company/internal/company"
	"company/internal/delivery/evidence"
	"company/internal/delivery/prbody"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/lib/secretscan"
)

// BlobKeeper stores a text under its hash.
type BlobKeeper interface {
	PutBlob(ctx context.Context, data []byte) (company.Hash, error)
}

// ErrUnreadLedger is wrapped by the error of a report that could not be made, because the ledger was not read.
var ErrUnreadLedger = errors.New("the ledger was not read")

// ReportWriter writes the report and the log of a task.
type ReportWriter interface {
	WriteReport(ctx context.Context, id company.TaskID) error
}

// Config holds the dependencies and settings of a delivery.
type Config struct {
	Decider company.Decider
	Mirrors gitops.MirrorSource
	Forges  forge.Source
	Ask     forge.PRSettings
	Texts   BlobKeeper // stores the texts of pull requests
	Log     *gitops.OpLog
	// Prefix returns the present git.integration_branch of a task's project. If nil, branches keep their names.
	Prefix func(ctx context.Context, task *company.Task) (string, error) `part:"optional"`
	// Evidence compares the task's claims with what shows them before a delivery. Reports writes the task's report, which
	// must be possible. If nil, nothing is written.
	Evidence evidence.Checker
	Reports  ReportWriter `part:"optional"`
	// Secrets scans the content before a push. If nil, it is not scanned.
	Secrets *secretscan.Scanner `part:"optional"`
}

// Delivery carries out deliver effects: it pushes the integration branch and opens the pull request. A repeated call
// finds the earlier result.
type Delivery struct{ Config }

// New returns a delivery. It fails if a required dependency is missing.
func New(c Config) (*Delivery, error) { return &Delivery{c}, company.CheckParts(c) }

// Do delivers a task.
func (c *Delivery) Do(ctx context.Context, effect company.Effect) (company.Command, error) {
	state := c.Decider.View()
	task, err := state.Task(effect.Task)
	if err != nil {
		return nil, err
	}
	intended := task.Delivery
	if intended == nil {
		return nil, nil
	}
	mirror, err := c.Mirrors.MirrorOf(ctx, task)
	if err != nil {
		return nil, err
	}
	shown, refused, err := c.checkEvidence(ctx, task, mirror)
	if refused != nil || err != nil {
		return refused, err
	}
	lead := state.LeadOf(task)
	var expected company.OID
	var before []*company.Task
	if lead != task {
		expected, before = task.RemoteHead(), listEarlierTasks(state, lead)
	}
	remote, err := mirror.RemoteURL(ctx, task.Project.Path)
	if err != nil {
		return nil, err
	}
	ref := forge.Ref{Office: state.Office.ID, Task: lead.ID, Branch: intended.Branch}
	if lead.PR != nil {
		ref.Number, ref.URL = lead.PR.Number, lead.PR.URL
	}
	where, err := c.findDestination(ctx, mirror, task, ref, remote)
	if err != nil {
		return nil, err
	}
	f := where.forge
	if len(where.to) > 0 && lead == task {
		rename, err := c.renameBranch(ctx, mirror, task, where.to[0])
		if rename != nil || err != nil {
			return rename, err
		}
	}
	template := ""
	if lead == task { // later on, that part belongs to people
		if template, err = readTemplate(ctx, mirror, task.Prepared.Base.OID, f.Templates()); err != nil {
			return nil, err
		}
	}
	pr := c.composePull(state, task, before, where, template)
	var onTop *company.BranchChange
	if len(where.to) > 0 {
		base, held, err := c.findDoubts(ctx, mirror, task, lead, remote, pr)
		if err != nil {
			return nil, err
		}
		if held != nil {
			return *held, nil
		}
		pr.Base = base.branch
		// At the remote, the branch is new, is at the commit where this follow-up began, or already has this head.
		at, refused, err := c.pushToAll(ctx, mirror, task, where.to, expected)
		if err != nil {
			return c.answerRefusal(ctx, err,
				refusedPush{m: mirror, t: task, lead: lead, to: refused, remote: remote, base: pr.Base})
		}
		onTop = c.onTop(ctx, mirror, intended.Head, pr.Base, at, remote)
	}
	opened, err := f.Open(ctx, pr)
	if err != nil {
		return nil, err
	}
	if lead != task && (opened.State == company.PRMerged || opened.State == company.PRClosed) {
		// A person closed or merged it before we noticed. There is no pull request left to deliver to, and reporting a
		// delivery would hide the work.
		return company.SettlePR{Task: lead.ID, State: opened.State, Why: "so says " + f.Kind()}, nil
	}
	if task.PR == nil && opened.Head.Valid() && opened.Head != intended.Head {
		return nil, takenNumberError(task, opened)
	}
	base := pr.Base
	if opened.Base == intended.Base || task.Allows(company.OtherBaseKey(intended.Base, opened.Base)) {
		base = opened.Base // opened before a kill, when the remote had other branches
	}
	body, err := c.Texts.PutBlob(ctx, []byte(pr.MarkedBody()))
	if err != nil {
		return nil, err
	}
	return company.RecordDelivery{Task: task.ID, Head: intended.Head, Number: opened.Number, URL: opened.URL, Body: body,
		Base:   base,
		Branch: onTop, Note: where.note, Unpushed: where.unpushed, Evidence: shown}, nil
}

// checkEvidence compares the task's claims with what shows them, and writes its report. If something is missing, it
// returns the command that ends the task before anything is pushed.
func (c *Delivery) checkEvidence(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror,
) (*company.Evidence, company.Command, error) {
	result, err := c.Evidence.Check(ctx, task, mirror)
	if err != nil {
		return nil, nil, err
	}
	missing := result.Problems
	if c.Reports != nil {
		switch err := c.Reports.WriteReport(ctx, task.ID); {
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, ErrUnreadLedger):
			return nil, nil, err // it is tried again
		case err != nil:
			missing = append(missing, "its report cannot be written: "+err.Error())
		}
	}
	if len(missing) > 0 {
		return nil, company.RefuseCompletion{Task: task.ID, Head: task.Head, Missing: missing}, nil
	}
	return result.Evidence(), nil, nil
}

// listEarlierTasks lists the tasks of the pull request that a task opened.
func listEarlierTasks(state *company.State, lead *company.Task) []*company.Task {
	for _, pull := range state.Pulls() {
		if pull.Lead == lead {
			return pull.Tasks
		}
	}
	return nil
}

// composePull returns the pull request to open or update for a task. before lists earlier tasks of the same pull
// request. template is the repository's, or empty.
func (c *Delivery) composePull(
	state *company.State, task *company.Task, before []*company.Task, where destination, template string,
) forge.PR {
	intended, lead := task.Delivery, state.LeadOf(task)
	opening, options := prbody.FillTemplate(template, task, prbody.PROptions{
		Pushed: len(where.to) > 0, PushedTo: where.target.URL, Note: where.note, PushByHand: where.byHand,
		EarlierTasks: before, TitleAbove: where.forge.Kind() != forge.LocalKind,
		ClosingLines: forge.ClosingLines(append(slices.Clone(before), task), where.forge.ClosingLine),
	})
	pr := forge.PR{
		Office: state.Office.ID, Task: lead.ID, Number: intended.Number, Title: forge.CleanTitle(intended.Title),
		Opening: opening, Body: prbody.PRBody(task, options),
		Branch: intended.Branch, Owner: where.target.Owner, Base: intended.Base, Head: intended.Head,
		Draft: c.Ask.Draft == "always" || c.Ask.Draft == "auto" && task.ExplainUntested() != "", Labels: c.Ask.Labels,
		CodeOwners: c.Ask.CodeOwners, Paths: prbody.ChangedPaths(task),
	}
	if lead.PR != nil {
		pr.Known = lead.PR.Number
	}
	return pr
}

// takenNumberError returns the error for a pull request number that belongs to a task which the ledger has lost. An
// old copy of the office was restored and assigned the number again. The work is in no pull request.
func takenNumberError(task *company.Task, opened forge.OpenedPR) error {
	return company.E(company.EConflict,
		fmt.Sprintf("pull request #%d belongs to another task %s, and is %s already", opened.Number, task.ID, opened.State)).
		Because(fmt.Sprintf("it ends at %s, but the work is at %s: an older copy of the office was restored",
			opened.Head.Short(), task.Delivery.Head.Short())).
		Fix(fmt.Sprintf("company diff %s shows the work; company cancel %s, then company submit it again: the next number "+
			"is free", task.ID, task.ID)).NeedsPerson()
}

// onTop describes commits that people made on top of the pushed ones between a push and a kill. The pull request
// contains them from the start. It returns nil if there are none or if this is unknown; the next poll of the branch
// finds them.
func (c *Delivery) onTop(
	ctx context.Context, mirror *gitops.Mirror, head company.OID, into string, at company.OID, remote string,
) *company.BranchChange {
	if at == head {
		return nil
	}
	base, err := mirror.FetchBase(ctx, c.Log, gitops.Source{URL: remote}, into)
	if err != nil {
		base.OID = ""
	}
	change, err := compareBranch(ctx, mirror, head, branchNow{head: at, known: true}, base.OID)
	if err != nil {
		return nil
	}
	return change
}
