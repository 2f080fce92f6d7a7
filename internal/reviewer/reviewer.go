// Package reviewer compares a worker's change with the ticket. It owns the
// reviewer's prompt, its submit_review tool, and bringing the verdict in, bound
// to the head and to the diff's patch id.
//
// It promises another conversation than the author's, with nothing of the
// author's in it but the commits and, from the second round on, the summary of the
// last run; evidence that code has compared with what the reviewer ran and read; and
// a container from which nothing can be pushed. It does not merge, and it does not decide how often work goes back.
package reviewer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/glob"
	"company/internal/sandbox"
	"company/internal/session"
)

const (
	// maxPatch is how much of a diff the first message holds, in bytes. The rest
	// can be read in the container.
	maxPatch = 96 << 10
	// maxReview is how much text the findings, the judgements and the evidence of one review have
	// together, in bytes. The findings stand in the brief of the next worker, which must fit into
	// its model's context.
	maxReview = 64 << 10
)

// Reviewer reviews heads of subtasks, and whole tasks.
type Reviewer struct{ Sessions *session.Service }

// New checks that a reviewer has what it needs.
func New(sessions *session.Service) (*Reviewer, error) {
	r := &Reviewer{sessions}
	return r, company.CheckParts(r)
}

// Do reviews what the effect names.
func (r *Reviewer) Do(ctx context.Context, e company.Effect) error {
	return r.Sessions.Execute(ctx, e, &review{})
}

// subject is the reviewed change: from one commit to another.
type subject struct {
	from, head, onto company.OID
	diff             gitops.Diff
	flags            []string // what could keep tests from counting
	mentions         []string // lines of commit messages with an @name
	writes           []glob.Glob
	patch            company.Hash
	whole            bool                // the only ticket's: the verdict is the one on the task
	answers          []*company.Approval // of the president
	checks           []company.GateCheck // how the gates came out on it
	// round is the review before this one and the changes since. A first review has none.
	round    *lastRound
	second   bool   // the findings of the first review of this head are judged
	confirm  string // which of them have to be
	baseTree bool   // the tree without the change lies in the container
	advice   string // of the repository, quoted
}

func loadSubject(ctx context.Context, m *gitops.Mirror, t *company.Task, sub *company.Subtask, onto company.OID) (subject, error) {
	x := subject{head: t.Head, onto: onto, from: t.Prepared.Base.OID, whole: sub != nil && t.JudgesWhole(), second: t.AwaitsSecondReview(sub), confirm: t.Settings.ConfirmReview}
	var err error
	gate := t.Gate
	if sub != nil {
		x.head = sub.Head
		if x.from, err = session.FindBranchStart(ctx, m, sub, onto, sub.Head); err != nil {
			return x, err
		}
		gate = sub.Gate
	}
	if gate != nil {
		x.checks = gate.Result.Checks
	}
	if x.diff, err = m.Diff(ctx, x.from, x.head, maxPatch); err != nil {
		return x, err
	}
	x.flags = flagLines(x.diff)
	commits, err := m.Log(ctx, x.from, x.head, maxCommits)
	if err != nil {
		return x, err
	}
	if t.Settings.KeepsHistory() || t.Follows != "" { // other messages are not delivered
		x.mentions = findMentions(commits)
	}
	for _, w := range writeSets(t, sub) {
		if g, err := glob.Parse(w); err == nil { // what does not parse was never accepted
			x.writes = append(x.writes, g)
		}
	}
	if x.round, err = loadLastRound(ctx, m, t, sub, x.head); err != nil {
		return x, err
	}
	x.patch, err = m.PatchID(ctx, x.from, x.head)
	return x, err
}

// writeSets are the globs that a ticket may write; those of all tickets for the whole.
func writeSets(t *company.Task, sub *company.Subtask) []string {
	var out []string
	for _, s := range t.Subtasks {
		if sub == nil || s.ID == sub.ID {
			out = append(out, s.Planned.WriteSet...)
		}
	}
	return out
}

// mayWrite says whether a file belongs to the ticket's write set.
func (x subject) mayWrite(file string) bool {
	return slices.ContainsFunc(x.writes, func(g glob.Glob) bool { return g.Match(file) })
}

// review is the session.Role of a reviewer.
type review struct {
	subject subject
	another bool // a second model is there, and this run is not its own
}

func (r *review) Prepare(ctx context.Context, s *session.Session) (*sandbox.Spec, error) {
	onto := s.Claimed.From
	var err error
	r.subject, err = loadSubject(ctx, s.Mirror, s.Task, s.Subtask, onto)
	// The branch is the container's own; nothing of it can be pushed.
	return &sandbox.Spec{Base: onto, Start: r.subject.head, Branch: "review", ReadOnly: true}, err
}

func (r *review) Brief(ctx context.Context, s *session.Session) (session.Brief, error) {
	r.subject.answers = s.Clarifications
	second := secondModelDue(s.Task, s.Subtask) && s.HasSecond()
	r.another = s.HasSecond() && !second
	var err error
	if r.subject.baseTree, err = layBaseTree(ctx, s, r.subject.from); err != nil {
		return session.Brief{}, err
	}
	if r.subject.advice, err = session.ReadAdvice(ctx, s.Mirror, s.Task.Prepared.Base.OID, writeSets(s.Task, s.Subtask)); err != nil {
		return session.Brief{}, err
	}
	brief := session.Brief{
		System: system, Title: reviewTitle(s.Task, s.Subtask), Text: reviewBrief(s.Task, s.Subtask, r.subject), Second: second || r.subject.second,
		Tools: []agent.Tool{submitReviewTool(r.subject, reviewCriteria(s.Task, s.Subtask), s.ReadCalls)},
	}
	if r.subject.second {
		brief.MaxTurns = secondTurns
	}
	return brief, nil
}

// secondTurns is how many replies a second reviewer has at most. It judges findings that are
// there, and looks for none.
const secondTurns = 15

// secondModelDue says whether the review before was ended for its evidence: then
// another model is asked, where there is one.
func secondModelDue(t *company.Task, sub *company.Subtask) bool {
	key := "review"
	if sub != nil {
		key += " " + string(sub.ID)
	}
	return t.Failures[key].Code == company.EEvidence
}

func (r *review) Finish(_ context.Context, _ *session.Session, out agent.Outcome, failed error) (company.EndRun, error) {
	if failed != nil {
		return company.EndRun{}, failed
	}
	if out.End != agent.EndFinal {
		return company.EndRun{}, company.E(company.EModel, "the reviewer ended without a verdict: "+string(out.End)).Fix(out.NoToolsHint())
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

// readCalls reads the tool calls of a review so far, oldest first.
type readCalls func(context.Context) ([]agent.TranscriptCall, error)

// submitReviewTool is the tool that ends a review. A verdict that its findings do not
// bear out goes back to the model; so does an approval whose evidence does not stand,
// once: the second one ends the run.
func submitReviewTool(x subject, criteria []string, past readCalls) agent.Tool {
	files := map[string]bool{}
	for _, c := range x.diff.Changes {
		files[c.Path] = true
	}
	refuse := func(text string) (agent.Result, error) { return agent.Result{Text: text, IsError: true}, nil }
	earlier := 0
	if x.round != nil {
		earlier = len(x.round.findings)
	}
	var unsent []string
	if earlier == 0 {
		unsent = append(unsent, "earlier")
	}
	return agent.Tool{
		Unsent: unsent,
		Spec: adapters.Tool{
			Name:        submitReview,
			Description: "End the review. approve: evidence for each criterion, nothing blocking. request_changes: something blocking.",
			Schema:      json.RawMessage(schema),
		},
		Amend: amendReview,
		Run: func(ctx context.Context, args json.RawMessage) (agent.Result, error) {
			var v verdict
			if err := json.Unmarshal(args, &v); err != nil {
				return refuse(err.Error())
			}
			splitSeverities(v.Findings)
			review := company.ReviewRecorded{Head: x.head, Onto: x.onto, PatchID: x.patch, Verdict: v.Verdict, Findings: v.Findings, Whole: x.whole, Judged: v.Earlier}
			for _, e := range v.Evidence {
				review.Evidence = append(review.Evidence, e.joinClaims())
			}
			if err := x.checkReview(review, earlier); err != nil {
				return refuse(err.Error())
			}
			if n := countText(review); n > maxReview {
				return refuse(fmt.Sprintf("the review has %d bytes of text, %d are allowed: the next worker and the president read all of it. Say it shorter, and keep the findings that matter", n, maxReview))
			}
			for _, f := range v.Findings {
				if f.Severity == company.Blocking && f.File != "" && !files[f.File] && !x.mayWrite(f.File) && !(x.whole && f.Line == 0) {
					return refuse(fmt.Sprintf("%s is neither a file of this diff nor one that the ticket may write: a blocking finding is about what was changed, or is missing there. Leave the file out where something is absent, or name one of: %s", f.File, strings.Join(sortedPaths(x.diff), ", ")))
				}
			}
			if v.Verdict != company.Approve {
				return agent.Result{Text: "recorded", Final: review}, nil
			}
			calls, err := past(ctx)
			if err != nil {
				return agent.Result{}, err
			}
			checked, fault := newSeenRecord(x, calls).checkEvidence(v.Evidence, criteria)
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

// countText is how much text a review has, in bytes.
func countText(r company.ReviewRecorded) int {
	n := 0
	for _, f := range r.Findings {
		n += len(f.File) + len(f.What) + len(f.Why) + len(f.Suggestion)
	}
	for _, j := range r.Judged {
		n += len(j.Why)
	}
	for _, e := range r.Evidence {
		n += len(e)
	}
	return n
}

// checkReview refuses a verdict that its findings do not bear out, and judgements that are not of the
// review before, which has so many findings. The company records it with the same rules.
func (x subject) checkReview(r company.ReviewRecorded, findings int) error {
	for i, j := range r.Judged {
		if err := j.CheckJudgement(findings); err != nil {
			return err
		}
		if slices.ContainsFunc(r.Judged[:i], func(other company.Judgement) bool { return other.Number == j.Number }) {
			return company.E(company.EInvalid, fmt.Sprintf("finding %d is judged twice", j.Number)).Fix("judge each finding once")
		}
	}
	if x.second {
		var err error
		if r, err = r.ConfirmReview(company.ReviewRecorded{Findings: x.round.findings}, x.confirm); err != nil {
			return err
		}
	}
	return r.Check()
}

func sortedPaths(d gitops.Diff) []string {
	out := make([]string, 0, len(d.Changes))
	for _, c := range d.Changes {
		out = append(out, c.Path)
	}
	return out
}
