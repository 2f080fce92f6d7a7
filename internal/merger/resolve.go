package merger

import (
	"context"
	"embed"
	"fmt"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolbox/toolproto"
)

// system is the merger agent's system prompt.
//
//go:embed prompts/merger.md
var system string

//go:embed prompts/*.tmpl
var templates embed.FS

var prompts = agent.NewPromptTemplates(templates)

// Resolve runs the merger agent to resolve a conflict.
func (g *Merger) Resolve(ctx context.Context, e company.Effect) error {
	return g.Sessions.Execute(ctx, e, resolution{})
}

// resolution is the agentrun.Role of the merger agent. The subtask of its assignment has the conflict.
type resolution struct{}

func (resolution) Prepare(_ context.Context, session *agentrun.Session) (*sandbox.Spec, error) {
	if session.Subtask.Conflict == nil {
		return nil, company.E(company.EStale, string(session.Subtask.ID)+" has no conflict any more")
	}
	return &sandbox.Spec{Base: session.Subtask.Conflict.Onto, Start: session.Subtask.Head,
		Branch: sandbox.Branch(session.Subtask)}, nil
}

func (resolution) Brief(ctx context.Context, session *agentrun.Session) (agentrun.Brief, error) {
	text, err := mergeBrief(ctx, session.Mirror, session.Task, session.Subtask)
	if err != nil {
		return agentrun.Brief{}, err
	}
	return agentrun.Brief{System: system, Title: session.Subtask.Planned.Title, Text: text},
		beginMerge(ctx, session.Sandbox, session.Subtask)
}

func (resolution) Finish(
	ctx context.Context, session *agentrun.Session, out agent.Outcome, failed error,
) (company.EndRun, error) {
	if failed != nil {
		return company.EndRun{}, failed
	}
	end, err := session.Sandbox.Finish(ctx, out, session.Subtask.Conflict.Onto)
	switch {
	case err != nil:
		return end, err
	case end.Outcome.Status == company.RunPartial:
		end.Outcome.Status, end.Outcome.Error = company.RunError, "the merger did not come to an end: out of "+
			map[bool]string{true: "context", false: "turns"}[out.End == agent.EndFull]
	case end.Outcome.Status == company.RunSuccess:
		err = checkResolution(ctx, session.Mirror, session.Subtask, &end.Outcome)
	}
	return end, err
}

// beginMerge starts the merge in the container, and leaves its conflicts for the agent. An exact checkpoint
// already contains the started merge. Otherwise a resolution that an earlier holder committed is kept. If the
// earlier holder left uncommitted files, they are kept and only git's merge state is restored.
func beginMerge(ctx context.Context, b *sandbox.Sandbox, sub *company.Subtask) error {
	if b.Prepared.Exact || company.OID(b.Prepared.Head) != sub.Head {
		return nil
	}
	res, err := b.Tools.Run(
		ctx, toolproto.RunRequest{Command: mergeCommand(sub.Conflict.Onto, b.Prepared.Dirty), TimeoutS: 120})
	if err != nil {
		return fmt.Errorf("begin the merge: %w", err)
	}
	if res.ExitCode > 1 {
		return company.E(company.EGit, "the merge could not be begun in the container: "+res.Stderr.Head)
	}
	return nil
}

// mergeCommand returns the command that merges the integration branch in a container. If dirty is set, it changes no
// file. The driver ours, which git does not know by itself, keeps the file of the integration branch, as in the
// merges on the host: that branch is the other side here.
func mergeCommand(onto company.OID, dirty bool) string {
	how := ""
	if dirty {
		how = "-s ours "
	}
	return fmt.Sprintf("git -c merge.%s.driver='cp %%B %%A' merge --no-ff --no-commit --no-edit %s%s", gitops.DriverOurs,
		how, onto)
}

// checkResolution checks that the agent's commit merges both sides and adds no conflict markers. A refused
// resolution is recorded in out.
func checkResolution(ctx context.Context, mirror *gitops.Mirror, sub *company.Subtask, out *company.RunEnded) error {
	refuse := func(reason string) {
		out.Status = company.RunError
		out.Error = "the resolution is refused: " + reason
		out.Code = company.EConflict
		out.Head = ""
	}
	for _, side := range []company.OID{sub.Head, sub.Conflict.Onto} {
		in, err := mirror.IsAncestor(ctx, side, out.Head)
		if err != nil {
			return err
		}
		if !in {
			refuse("it does not hold " + side.Short() + "; a resolution merges both sides")
			return nil
		}
	}
	left, err := findLeftMarker(ctx, mirror, sub, out.Head)
	if left != "" {
		refuse("a conflict marker is left in " + left + ", which neither side has; resolve it, or indent the line if the " +
			"file has to show a marker")
	}
	return err
}

// mergeBrief returns the first message about a conflict, with the repository's advice for the conflicting files from
// before the task.
func mergeBrief(ctx context.Context, mirror *gitops.Mirror, task *company.Task, sub *company.Subtask) (string, error) {
	advice, err := agentrun.ReadAdvice(ctx, mirror, task.Prepared.Base.OID, sub.Conflict.Paths)
	return conflictBrief(task, sub, advice), err
}

// firstMessage is the data of prompts/first.md.tmpl.
type firstMessage struct {
	Task     *company.Task
	Ticket   *company.Subtask
	Conflict *company.ConflictReported
	Advice   string // quoted
}

func conflictBrief(task *company.Task, sub *company.Subtask, advice string) string {
	return prompts.Render("first.md.tmpl", firstMessage{task, sub, sub.Conflict, advice})
}
