// Package reviewer compares a worker's change with the ticket. It owns the reviewer's prompt, its submit_review
// tool, and recording the verdict, bound to the head and to the diff's patch id.
//
// It promises a conversation that is independent of the author's. From the author it contains only the commits and
// the text of the pull request, both of which it judges. Code compares the evidence with the commands and
// files that the reviewer ran and read. The container cannot push. The package does not merge, and it does not
// decide how often work is sent back.
package reviewer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/company/glob"
	"company/internal/gitops"
)

const (
	// maxPatch limits the diff in the first message, in bytes. The rest can be read in the container.
	maxPatch = 96 << 10
	// maxReview limits the text of the findings, the judgements and the evidence of one review together, in bytes.
	// The findings are in the brief of the next worker, which must fit into its model's context.
	maxReview = 64 << 10
)

// Reviewer reviews heads of subtasks, and whole tasks.
type Reviewer struct{ Sessions *agentrun.Service }

// New returns an error if sessions is missing.
func New(sessions *agentrun.Service) (*Reviewer, error) {
	r := &Reviewer{sessions}
	return r, company.CheckParts(r)
}

// Do reviews the subtask or the task of an effect.
func (r *Reviewer) Do(ctx context.Context, e company.Effect) error {
	return r.Sessions.Execute(ctx, e, &review{})
}

// subject is the reviewed change between two commits.
type subject struct {
	From, Head, onto company.OID
	diff             gitops.Diff
	Flags            []string // lines that could keep tests from counting
	bypassed         []gitops.BypassedFile
	Mentions         []string // lines of commit messages with an @name
	writes           []glob.Glob
	patch            company.Hash
	Whole            bool                // it is the task's only ticket, so the verdict is also the task's
	Answers          []*company.Approval // of the president
	checks           []company.GateCheck // results of the gates
	// Round is the previous review and the changes since. It is nil for a first review.
	Round    *lastRound
	second   bool   // judge the findings of the first review of this head
	confirm  string // setting for which of these findings must be judged
	BaseTree bool   // the tree without the change exists in the container
	Advice   string // advice of the repository, quoted
}

func loadSubject(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, sub *company.Subtask, onto company.OID,
) (subject, error) {
	x := subject{Head: task.Head, onto: onto, From: task.Prepared.Base.OID, Whole: sub != nil && task.JudgesWhole(),
		second: task.AwaitsSecondReview(sub), confirm: task.Settings.ConfirmReview}
	var err error
	gate := task.Gate
	if sub != nil {
		x.Head = sub.Head
		if x.From, err = agentrun.FindBranchStart(ctx, mirror, sub, onto, sub.Head); err != nil {
			return x, err
		}
		gate = sub.Gate
	}
	if gate != nil {
		x.checks = gate.Result.Checks
	}
	if x.diff, err = mirror.Diff(ctx, x.From, x.Head, maxPatch); err != nil {
		return x, err
	}
	x.Flags = flagLines(x.diff)
	if x.bypassed, err = mirror.FindBypassed(ctx, x.From, x.diff.Changes, nil); err != nil {
		return x, err
	}
	commits, err := mirror.Log(ctx, x.From, x.Head, maxCommits)
	if err != nil {
		return x, err
	}
	if task.Settings.KeepsHistory() || task.Follows != "" { // otherwise these messages are not delivered
		x.Mentions = findMentions(commits)
	}
	for _, w := range writeSets(task, sub) {
		if g, err := glob.Parse(w); err == nil { // invalid globs were never accepted
			x.writes = append(x.writes, g)
		}
	}
	if x.Round, err = loadLastRound(ctx, mirror, task, sub, x.Head); err != nil {
		return x, err
	}
	x.patch, err = mirror.PatchID(ctx, x.From, x.Head)
	return x, err
}

// writeSets returns the globs that a ticket may write. For a whole task, it returns those of all tickets.
func writeSets(task *company.Task, sub *company.Subtask) []string {
	var out []string
	for _, subtask := range task.Subtasks {
		if sub == nil || subtask.ID == sub.ID {
			out = append(out, subtask.Planned.WriteSet...)
		}
	}
	return out
}

// mayWrite reports whether a file is in the ticket's write set.
func (x subject) mayWrite(file string) bool {
	return slices.ContainsFunc(x.writes, func(g glob.Glob) bool { return g.Match(file) })
}

// review is the agentrun.Role of a reviewer.
type review struct {
	subject  subject
	another  bool // there is a second model, and this run does not use it
	conflict bool // the run summarises the conflict of a blocked ticket, and judges nothing
}

// NewRole returns the role of a reviewer for a preview of its prompt.
func NewRole() agentrun.Role { return &review{} }

func (r *review) Prepare(ctx context.Context, session *agentrun.Session) (*sandbox.Spec, error) {
	if sub := session.Subtask; sub != nil && sub.Status == company.SubtaskBlocked && sub.Unresolved != nil {
		r.conflict = true
		return nil, nil // both sides are in the brief
	}
	onto := session.Claimed.From
	var err error
	r.subject, err = loadSubject(ctx, session.Mirror, session.Task, session.Subtask, onto)
	// The branch exists only in the container, because pushes are disabled.
	return &sandbox.Spec{Base: onto, Start: r.subject.Head, Branch: "review", ReadOnly: true}, err
}

func (r *review) Brief(ctx context.Context, session *agentrun.Session) (agentrun.Brief, error) {
	if r.conflict {
		return conflictBrief(ctx, session.Mirror, session.Task, session.Subtask)
	}
	r.subject.Answers = session.Clarifications
	second := secondModelDue(session.Task, session.Subtask) && session.HasSecond()
	r.another = session.HasSecond() && !second
	var err error
	if r.subject.BaseTree, err = layBaseTree(ctx, session, r.subject.From); err != nil {
		return agentrun.Brief{}, err
	}
	if r.subject.Advice, err = agentrun.ReadAdvice(
		ctx, session.Mirror, session.Task.Prepared.Base.OID, writeSets(session.Task, session.Subtask)); err != nil {
		return agentrun.Brief{}, err
	}
	brief := agentrun.Brief{
		System: system, Title: reviewTitle(session.Task, session.Subtask),
		Text:   reviewBrief(session.Task, session.Subtask, r.subject),
		Second: second || r.subject.second,
		Tools:  []agent.Tool{submitReviewTool(r.subject, reviewCriteria(session.Task, session.Subtask), session.ReadCalls)},
	}
	if r.subject.second {
		brief.MaxTurns = secondTurns
	}
	return brief, nil
}

// secondTurns limits the replies of a second reviewer, which judges existing findings and searches for no
// others.
const secondTurns = 15

// secondModelDue reports whether the previous review was ended because of its evidence. Then a second model is
// asked, if there is one.
func secondModelDue(task *company.Task, sub *company.Subtask) bool {
	key := "review"
	if sub != nil {
		key += " " + string(sub.ID)
	}
	return task.Failures[key].Code == company.EEvidence
}

func (r *review) Finish(
	_ context.Context, session *agentrun.Session, out agent.Outcome, failed error,
) (company.EndRun, error) {
	if failed != nil {
		return company.EndRun{}, failed
	}
	if r.conflict {
		return finishConflict(session, out)
	}
	if out.End != agent.EndFinal {
		reason := "the reviewer ended without a verdict: " + out.DescribeEnd(session.Run)
		return company.EndRun{}, company.E(company.EModel, reason).Fix(out.NoToolsHint())
	}
	var v struct {
		company.ReviewRecorded
		unproven
	}
	if err := out.Decode(&v); err != nil {
		return company.EndRun{}, fmt.Errorf("read the verdict: %w", err)
	}
	switch {
	case v.Unproven != "" && r.subject.second:
		return company.EndRun{Outcome: endSecondUnproven(v.Unproven)}, nil
	case v.Unproven != "":
		return company.EndRun{Outcome: endUnproven(v.Unproven, r.another)}, nil
	}
	return company.EndRun{
		Outcome: company.RunEnded{Status: company.RunSuccess, Summary: v.Verdict},
		Review:  &v.ReviewRecorded,
	}, nil
}

// submitReview is the name of the tool that ends a review.
const submitReview = "submit_review"

// readCalls reads the tool calls of the review so far, oldest first.
type readCalls func(context.Context) ([]agent.TranscriptCall, error)

// submitReviewTool returns the tool that ends a review. A verdict that contradicts its findings is returned to
// the model. An approval with unconfirmed evidence is returned once, and the second one ends the run.
func submitReviewTool(x subject, criteria []string, past readCalls) agent.Tool {
	files := map[string]bool{}
	for _, c := range x.diff.Changes {
		files[c.Path] = true
	}
	refuse := func(text string) (agent.Result, error) { return agent.Result{Text: text, IsError: true}, nil }
	earlier := 0
	if x.Round != nil {
		earlier = len(x.Round.Findings)
	}
	var unsent []string
	if earlier == 0 {
		unsent = append(unsent, "earlier")
	}
	return agent.Tool{
		Unsent: unsent,
		Spec: adapters.Tool{
			Name: submitReview,
			Description: "End the review. approve: evidence for each criterion, nothing blocking. request_changes: something " +
				"blocking.",
			Schema: json.RawMessage(schema),
		},
		Amend: amendReview,
		Run: func(ctx context.Context, args json.RawMessage) (agent.Result, error) {
			var v verdict
			if err := json.Unmarshal(args, &v); err != nil {
				return refuse(err.Error())
			}
			splitSeverities(v.Findings)
			spread, fault := spreadEvidence(v.Evidence, len(criteria))
			if fault != "" {
				return refuse(fault)
			}
			review := company.ReviewRecorded{Head: x.Head, Onto: x.onto, PatchID: x.patch, Verdict: v.Verdict,
				Findings: v.Findings, Whole: x.Whole, Judged: v.Earlier}
			for _, e := range spread {
				review.Evidence = append(review.Evidence, e.joinClaims())
			}
			size := countText(review) // without the findings of others
			if x.Round != nil && !x.second {
				review = review.KeepConfirmed(x.Round.Findings)
			}
			if err := x.checkReview(review, earlier); err != nil {
				text := err.Error()
				if fault := new(company.Error); errors.As(err, &fault) && fault.Hint != "" {
					text += ": " + fault.Hint
				}
				return refuse(text)
			}
			if size > maxReview {
				return refuse(fmt.Sprintf("the review has %d bytes of text, %d are allowed: the next worker and the president "+
					"read all of it. Say it shorter, and keep the findings that matter", size, maxReview))
			}
			for _, finding := range v.Findings {
				if finding.Severity == company.Blocking && finding.File != "" && !files[finding.File] &&
					!x.mayWrite(finding.File) &&
					!(x.Whole && finding.Line == 0) {
					return refuse(fmt.Sprintf("%s is neither a file of this diff nor one that the ticket may write: a blocking "+
						"finding is about what was changed, or is missing there. Leave the file out where something is absent, or name "+
						"one of: %s", finding.File, strings.Join(sortedPaths(x.diff), ", ")))
				}
			}
			if v.Verdict != company.Approve {
				return agent.Result{Text: "recorded", Final: review}, nil
			}
			calls, err := past(ctx)
			if err != nil {
				return agent.Result{}, err
			}
			checked, fault := newSeenRecord(x, calls).checkEvidence(spread, criteria)
			switch {
			case fault == "":
				review.Checked = checked
				return agent.Result{Text: "recorded", Final: review}, nil
			case countRefusals(calls) > 0:
				return agent.Result{Text: fault + "\nThe review is taken from you.", IsError: true, Final: unproven{fault}}, nil
			}
			return refuse(fault)
		},
	}
}

// countText returns the size of a review's text in bytes.
func countText(recorded company.ReviewRecorded) int {
	n := 0
	for _, f := range recorded.Findings {
		n += len(f.File) + len(f.What) + len(f.Why) + len(f.Suggestion)
	}
	for _, j := range recorded.Judged {
		n += len(j.Why)
	}
	for _, e := range recorded.Evidence {
		n += len(e)
	}
	return n
}

// checkReview returns an error for a verdict that contradicts its findings, and for judgements on findings that
// the previous review lacks. findings is the number of these findings. The company applies the same rules when
// it records the review.
func (x subject) checkReview(recorded company.ReviewRecorded, findings int) error {
	for i, judgement := range recorded.Judged {
		if err := judgement.CheckJudgement(findings); err != nil {
			return err
		}
		if slices.ContainsFunc(recorded.Judged[:i],
			func(other company.Judgement) bool { return other.Number == judgement.Number }) {
			return company.E(company.EInvalid, fmt.Sprintf("finding %d is judged twice", judgement.Number)).
				Fix("judge each finding once")
		}
		if !x.second && recorded.Verdict == company.Approve && judgement.Status == company.FindingConfirmed &&
			x.Round.Findings[judgement.Number-1].Severity == company.Blocking {
			return company.E(company.EInvalid, fmt.Sprintf("finding %d blocks and is still there", judgement.Number)).
				Fix("request_changes, or say mended")
		}
	}
	if x.second {
		var err error
		if recorded, err = recorded.ConfirmReview(company.ReviewRecorded{Findings: x.Round.Findings}, x.confirm); err != nil {
			return err
		}
	}
	return recorded.Check()
}

func sortedPaths(diff gitops.Diff) []string {
	out := make([]string, 0, len(diff.Changes))
	for _, c := range diff.Changes {
		out = append(out, c.Path)
	}
	return out
}
