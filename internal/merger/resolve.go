package merger

import (
	"context"
	_ "embed" // the prompt is a file
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/sandbox"
	"company/internal/session"
	"company/internal/toolproto"
)

// system is the merger agent's system prompt.
//
//go:embed prompts/merger.md
var system string

// Resolve has the merger agent resolve a conflict.
func (g *Merger) Resolve(ctx context.Context, e company.Effect) error {
	return g.Sessions.Execute(ctx, e, resolution{})
}

// resolution is the session.Role of the merger agent. The subtask of its
// assignment has the conflict.
type resolution struct{}

func (resolution) Prepare(_ context.Context, s *session.Session) (*sandbox.Spec, error) {
	if s.Subtask.Conflict == nil {
		return nil, company.E(company.EStale, string(s.Subtask.ID)+" has no conflict any more")
	}
	return &sandbox.Spec{Base: s.Subtask.Conflict.Onto, Start: s.Subtask.Head, Branch: sandbox.Branch(s.Subtask)}, nil
}

func (resolution) Brief(ctx context.Context, s *session.Session) (session.Brief, error) {
	text, err := mergeBrief(ctx, s.Mirror, s.Task, s.Subtask)
	if err != nil {
		return session.Brief{}, err
	}
	return session.Brief{System: system, Title: s.Subtask.Planned.Title, Text: text}, beginMerge(ctx, s.Sandbox, s.Subtask)
}

func (resolution) Finish(ctx context.Context, s *session.Session, out agent.Outcome, failed error) (company.EndRun, error) {
	if failed != nil {
		return company.EndRun{}, failed
	}
	end, err := s.Sandbox.Finish(ctx, out, s.Subtask.Conflict.Onto)
	switch {
	case err != nil:
		return end, err
	case end.Outcome.Status == company.RunPartial:
		end.Outcome.Status, end.Outcome.Error = company.RunError, "the merger did not come to an end: out of "+map[bool]string{true: "context", false: "turns"}[out.End == agent.EndFull]
	case end.Outcome.Status == company.RunSuccess:
		err = checkResolution(ctx, s.Mirror, s.Subtask, &end.Outcome)
	}
	return end, err
}

// beginMerge starts the merge in the container, and leaves its conflicts for
// the agent. An exact checkpoint holds it as it stood. Otherwise a resolution
// that an earlier holder has committed is kept; of one that was only begun the
// files are there, and git's merge state is restored.
func beginMerge(ctx context.Context, b *sandbox.Sandbox, sub *company.Subtask) error {
	if b.Prepared.Exact || company.OID(b.Prepared.Head) != sub.Head {
		return nil
	}
	how := ""
	if b.Prepared.Dirty {
		how = "-s ours " // touches no file
	}
	res, err := b.Tools.Run(ctx, toolproto.RunRequest{Command: fmt.Sprintf("git merge --no-ff --no-commit --no-edit %s%s", how, sub.Conflict.Onto), TimeoutS: 120})
	if err != nil {
		return fmt.Errorf("begin the merge: %w", err)
	}
	if res.ExitCode > 1 {
		return company.E(company.EGit, "the merge could not be begun in the container: "+res.Stderr.Head)
	}
	return nil
}

// checkResolution holds the agent's commit against what a resolution is: a
// merge of exactly the two sides, without conflict markers left.
func checkResolution(ctx context.Context, m *gitops.Mirror, sub *company.Subtask, out *company.RunEnded) error {
	refuse := func(why string) {
		out.Status, out.Error, out.Code = company.RunError, "the resolution is refused: "+why, company.EConflict
		out.Head = ""
	}
	for _, side := range []company.OID{sub.Head, sub.Conflict.Onto} {
		in, err := m.IsAncestor(ctx, side, out.Head)
		if err != nil {
			return err
		}
		if !in {
			refuse("it does not hold " + side.Short() + "; a resolution merges both sides")
			return nil
		}
	}
	for _, path := range sub.Conflict.Paths {
		text, err := m.ReadFile(ctx, out.Head, path)
		if company.CodeOf(err) == company.ENotFound {
			continue // resolved by deleting it
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") {
				refuse("conflict markers are left in " + path)
				return nil
			}
		}
	}
	return nil
}

// mergeBrief is the conflict with both sides' tickets, and the repository's advice for the
// files that conflict, as it stood before the task.
func mergeBrief(ctx context.Context, m *gitops.Mirror, t *company.Task, sub *company.Subtask) (string, error) {
	text := conflictBrief(t, sub)
	advice, err := session.ReadAdvice(ctx, m, t.Prepared.Base.OID, sub.Conflict.Paths)
	if advice != "" {
		text += "\n## What the repository says to agents\n" + advice
	}
	return text, err
}

// conflictBrief is both sides' tickets and the conflict.
func conflictBrief(t *company.Task, sub *company.Subtask) string {
	var w strings.Builder
	fmt.Fprintf(&w, "# Merge ticket %s into the integration branch\n\nThe container is on the ticket's branch (%s); HEAD is that side. The integration branch (%s) is being merged in.\n\n## Conflicts\n",
		sub.ID, sub.Head.Short(), sub.Conflict.Onto.Short())
	for _, p := range sub.Conflict.Paths {
		fmt.Fprintf(&w, "- %s\n", agent.JoinLines(p))
	}
	if why := sub.Conflict.Why; why != "" {
		fmt.Fprintf(&w, "\nLock files and generated files among them are to be made by their own programs, which failed on their own: %s\n", agent.JoinLines(why))
	}
	if sub.Conflict.Moved {
		fmt.Fprint(&w, "\nThese have no markers: one side has moved a file there, the other edits it by its old name, and git brings the edit to the new one. Only a person may let that name change, so the merge has to be a commit of yours: keep the edit where it belongs there, and commit.\n")
	}
	fmt.Fprintf(&w, "\n## This side: %s %s\n%s\n", sub.ID, agent.JoinLines(sub.Planned.Title), agent.EscapeHeadings(sub.Planned.Description))
	for _, other := range t.Subtasks {
		if other.Status == company.SubtaskCompleted {
			fmt.Fprintf(&w, "\n## Merged before: %s %s\n%s\n", other.ID, agent.JoinLines(other.Planned.Title), agent.EscapeHeadings(other.Planned.Description))
		}
	}
	w.WriteString(agent.QuoteNotes(t.Notes()))
	return w.String()
}
