// Package reviewer compares a worker's change with the ticket. It owns the
// reviewer's prompt, its submit_review tool, and bringing the verdict in, bound
// to the head and to the diff's patch id.
//
// It promises another conversation than the author's, with nothing of the
// author's in it but the commits, and a container from which nothing can be
// pushed. It does not merge, and it does not decide how often work goes back.
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

// maxPatch is how much of a diff the first message holds, in bytes. The rest
// can be read in the container.
const maxPatch = 96 << 10

// Reviewer reviews heads of subtasks, and whole tasks.
type Reviewer struct{ Sessions *session.Service }

// New checks that a reviewer has what it needs.
func New(sessions *session.Service) (*Reviewer, error) {
	r := &Reviewer{sessions}
	return r, company.CheckParts(r)
}

// Do reviews what the effect names.
func (r *Reviewer) Do(ctx context.Context, e company.Effect) error {
	return r.Sessions.Execute(ctx, e.Claim, &review{})
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
}

func loadSubject(ctx context.Context, m *gitops.Mirror, t *company.Task, sub *company.Subtask, onto company.OID) (subject, error) {
	x := subject{head: t.Head, onto: onto, from: t.Prepared.Base.OID, whole: sub != nil && t.JudgesWhole()}
	var err error
	if sub != nil {
		x.head = sub.Head
		if x.from, err = m.MergeBase(ctx, onto, sub.Head); err != nil {
			return x, err
		}
	}
	if x.diff, err = m.Diff(ctx, x.from, x.head, maxPatch); err != nil {
		return x, err
	}
	x.flags = flagLines(x.diff)
	commits, err := m.Log(ctx, x.from, x.head, maxCommits)
	if err != nil {
		return x, err
	}
	x.mentions = findMentions(commits)
	for _, s := range t.Subtasks {
		if sub != nil && s.ID != sub.ID {
			continue
		}
		for _, w := range s.Planned.WriteSet {
			if g, err := glob.Parse(w); err == nil { // what does not parse was never accepted
				x.writes = append(x.writes, g)
			}
		}
	}
	x.patch, err = m.PatchID(ctx, x.from, x.head)
	return x, err
}

// mayWrite says whether a file belongs to the ticket's write set.
func (x subject) mayWrite(file string) bool {
	return slices.ContainsFunc(x.writes, func(g glob.Glob) bool { return g.Match(file) })
}

// review is the session.Role of a reviewer.
type review struct{ subject subject }

func (r *review) Prepare(ctx context.Context, s *session.Session) (*sandbox.Spec, error) {
	onto := s.Claimed.From
	var err error
	r.subject, err = loadSubject(ctx, s.Mirror, s.Task, s.Subtask, onto)
	// The branch is the container's own; nothing of it can be pushed.
	return &sandbox.Spec{Base: onto, Start: r.subject.head, Branch: "review", ReadOnly: true}, err
}

func (r *review) Brief(_ context.Context, s *session.Session) (session.Brief, error) {
	r.subject.answers = s.Clarifications
	return session.Brief{
		System: system, Title: reviewTitle(s.Task, s.Subtask), Text: reviewBrief(s.Task, s.Subtask, r.subject),
		Tools: []agent.Tool{submitReviewTool(r.subject, len(reviewCriteria(s.Task, s.Subtask)))},
	}, nil
}

func (*review) Finish(_ context.Context, _ *session.Session, out agent.Outcome, failed error) (company.EndRun, error) {
	if failed != nil {
		return company.EndRun{}, failed
	}
	if out.End != agent.EndFinal {
		return company.EndRun{}, company.E(company.EModel, "the reviewer ended without a verdict: "+string(out.End))
	}
	var v company.ReviewRecorded
	if err := out.Decode(&v); err != nil {
		return company.EndRun{}, fmt.Errorf("read the verdict: %w", err)
	}
	return company.EndRun{
		Outcome: company.RunEnded{Status: company.RunSuccess, Summary: v.Verdict},
		Review:  &v,
	}, nil
}

// verdict is the argument of submit_review.
type verdict struct {
	Verdict  string            `json:"verdict"`
	Findings []company.Finding `json:"findings"`
	Evidence []string          `json:"evidence"`
}

const schema = `{"type":"object","additionalProperties":false,"required":["verdict"],"properties":{
"verdict":{"enum":["approve","request_changes"]},
"evidence":{"type":"array","maxItems":96,"items":{"type":"string","maxLength":4000},"description":"for each acceptance criterion, in order, what shows that it is met"},
"findings":{"type":"array","maxItems":50,"items":{"type":"object","additionalProperties":false,"required":["severity","what"],"properties":{
"severity":{"enum":["blocking","minor"]},"file":{"type":"string","maxLength":1024,"description":"a file of the diff, or one that the ticket may write; left out where something is missing that has no file"},"line":{"type":"integer","minimum":0,"description":"of the new version; 0 or left out where something is missing"},
"what":{"type":"string","minLength":1,"maxLength":4000},"why":{"type":"string","maxLength":4000},"suggestion":{"type":"string","maxLength":4000}}}}}}`

// submitReviewTool is the tool that ends a review. A verdict that its findings do not
// bear out goes back to the model.
func submitReviewTool(x subject, criteria int) agent.Tool {
	files := map[string]bool{}
	for _, c := range x.diff.Changes {
		files[c.Path] = true
	}
	return agent.Tool{
		Spec: adapters.Tool{
			Name:        "submit_review",
			Description: "End the review with a verdict. approve: no blocking finding. request_changes: at least one blocking finding, with what is wrong and why (a failing input or command), and file and line of the new version; where something is missing, the file in which it belongs and no line, or neither.",
			Schema:      json.RawMessage(schema),
		},
		Run: func(_ context.Context, args json.RawMessage) (agent.Result, error) {
			var v verdict
			if err := json.Unmarshal(args, &v); err != nil {
				return agent.Result{Text: err.Error(), IsError: true}, nil
			}
			review := company.ReviewRecorded{Head: x.head, Onto: x.onto, PatchID: x.patch, Verdict: v.Verdict, Findings: v.Findings, Evidence: v.Evidence, Whole: x.whole}
			if err := review.Check(); err != nil {
				return agent.Result{Text: err.Error(), IsError: true}, nil
			}
			for _, f := range v.Findings {
				if f.Severity == company.Blocking && f.File != "" && !files[f.File] && !x.mayWrite(f.File) && !(x.whole && f.Line == 0) {
					return agent.Result{IsError: true, Text: fmt.Sprintf("%s is neither a file of this diff nor one that the ticket may write: a blocking finding is about what was changed, or is missing there. Leave the file out where something is absent, or name one of: %s", f.File, strings.Join(sortedPaths(x.diff), ", "))}, nil
				}
			}
			said := slices.DeleteFunc(slices.Clone(v.Evidence), func(e string) bool { return strings.TrimSpace(e) == "" })
			if v.Verdict == company.Approve && len(said) < criteria {
				return agent.Result{IsError: true, Text: fmt.Sprintf("there are %d acceptance criteria; evidence names what shows each of them", criteria)}, nil
			}
			return agent.Result{Text: "recorded", Final: review}, nil
		},
	}
}

func sortedPaths(d gitops.Diff) []string {
	out := make([]string, 0, len(d.Changes))
	for _, c := range d.Changes {
		out = append(out, c.Path)
	}
	return out
}
