package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agentrun/agenttools"
	"company/internal/agentrun/runfiles"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/patch"
	"company/internal/lib/safedir"
	"company/internal/lib/safetext"
)

// Branch returns the name of the branch that all runs of a subtask use (GIT-2).
func Branch(sub *company.Subtask) string {
	return gitops.BranchName(string(sub.ID), sub.Planned.Title)
}

// OpenLog opens the git.log of a run in the folder of all runs (GIT-3). It returns an error if it cannot,
// because the run would otherwise have no log. report receives the errors of lines that could not be written.
func OpenLog(
	runs *safedir.Folder, id company.RunID, report func(run company.RunID, file string, err error),
) (*gitops.OpLog, error) {
	f, err := runfiles.OpenRunLog(runs, id, "git.log")
	if err != nil {
		return nil, err
	}
	return gitops.NewOpLog(safedir.Watch(f, func(err error) {
		report(id, "git.log", err)
	})), nil
}

// Finish turns the end of a conversation into the end of a run. It includes the commit that the host takes out
// of the sandbox, if there is one. Pushed work is kept however the run ends. A run that is out of turns keeps
// its uncommitted work, too. onto is the integration head: changes are counted against the branch's merge base
// with it.
func (s *Sandbox) Finish(ctx context.Context, out agent.Outcome, onto company.OID) (company.EndRun, error) {
	end := company.RunEnded{Status: company.RunError, Branch: s.spec.Branch}
	switch out.End {
	case agent.EndFinal:
		if out.FinalTool == agenttools.AskPresidentName {
			return s.finishAsking(ctx, out)
		}
		var fin agenttools.Finish
		if err := out.Decode(&fin); err != nil {
			return company.EndRun{}, fmt.Errorf("read the end of the conversation: %w", err)
		}
		end.Status = company.RunSuccess
		end.Summary = fin.Summary
		end.Decisions = fin.Decisions
		end.Problem = fin.Problem
		end.Risks = fin.Risks
		end.Unchanged = fin.Unchanged
	case agent.EndEscalated:
		var esc agent.Escalation
		if err := out.Decode(&esc); err != nil {
			return company.EndRun{}, fmt.Errorf("read the end of the conversation: %w", err)
		}
		end.Escalate, end.Error = true, esc.Reason
		if out.FinalTool == "escalate" { // other tools include their refusal already
			end.Error += lastFailure(out)
		}
	case agent.EndTurns:
		end.Status, end.Summary = company.RunPartial, lastWords(out)
	case agent.EndFull:
		end.Status, end.Summary = company.RunPartial, lastWords(out)
		end.Hint = "the conversation outgrew the model's context; it goes on in a new one. Use a model with a larger " +
			"context for this role, or split the task"
	case agent.EndStuck:
		end.Escalate, end.Error = true, "it repeats itself"
		if words := lastWords(out); words != "" {
			end.Error += ": " + words
		}
		end.Error += lastFailure(out)
	case agent.EndNoTools:
		end.Error = "the model answers without using its tools" + lastFailure(out)
		end.Code, end.Hint = company.EModel, out.NoToolsHint()
	}
	end.Notes = agenttools.NotesOf(out.Transcript)
	partial := end.Status == company.RunPartial
	end.Progress = partial && s.changedRecently(out.Turns)
	head, err := s.collectHead(ctx, partial)
	if err == nil && head == "" && end.Status == company.RunSuccess &&
		(s.spec.Unfinished || end.Unchanged && s.spec.Start == s.spec.Base) {
		head = s.spec.Start
	}
	var ce *company.Error
	switch {
	case errors.As(err, &ce) && ce.Code == company.EObjects:
		if end.Status != company.RunError {
			// The agent caused it: its error goes to the next run.
			end.Status = company.RunError
			end.Error = ce.Error()
			end.Code = ce.Code
		}
	case err != nil:
		return company.EndRun{}, err
	case head != "":
		end.Head = head
		if end.Changes, err = changedPaths(ctx, s.spec.Mirror, onto, head); err != nil {
			return company.EndRun{}, err
		}
		// Commits without a change count as none.
		end.Unchanged = end.Status == company.RunSuccess && len(end.Changes) == 0
		if err := s.recordCommits(ctx, head); err != nil {
			return company.EndRun{}, err
		}
		if len(s.added.commits) > 0 {
			subject := strings.TrimSpace(strings.TrimPrefix(s.added.commits[0].Subject(), "["+s.ticket+"]"))
			if !strings.HasSuffix(subject, unfinishedSubject) {
				end.Subject = subject
			}
		}
		if n := company.SizeOfChanges(end.Changes); n > company.MaxChanges {
			end.Status = company.RunError
			end.Code = company.EObjects
			end.Head = ""
			end.Escalate = false
			end.Error = fmt.Sprintf(
				"the branch changes %d files; their list alone has %d bytes and one subtask may have %d: leave out what is "+
					"generated, or change less at a time", len(end.Changes), n, company.MaxChanges)
			end.Changes = nil
		}
	case end.Status == company.RunSuccess:
		// The container's own report of its commits is not trusted.
		end.Status, end.Error = company.RunError, "the agent says that it is done, but no commit was pushed"
	}
	return company.EndRun{Outcome: end}, nil
}

// finishAsking returns the end of a run that asks the president before its first change. Nothing is taken out of the
// sandbox.
func (s *Sandbox) finishAsking(ctx context.Context, out agent.Outcome) (company.EndRun, error) {
	var asked agenttools.Question
	if err := out.Decode(&asked); err != nil {
		return company.EndRun{}, fmt.Errorf("read the question to the president: %w", err)
	}
	s.Close(ctx)
	return company.EndRun{Question: asked.Question,
		Outcome: company.RunEnded{Status: company.RunSuccess, Notes: agenttools.NotesOf(out.Transcript)}}, nil
}

// maxListed limits the commits of one run that its result lists. More cannot be pushed at once.
const maxListed = 1000

// ListCommits returns the new commits of head since the start of the sandbox, oldest first. If there are none,
// it returns head alone, which was submitted.
func (s *Sandbox) ListCommits(ctx context.Context, head company.OID) ([]company.OID, error) {
	commits, err := s.newCommits(ctx, head)
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return []company.OID{head}, nil
	}
	ids := make([]company.OID, len(commits))
	for i, c := range commits {
		ids[i] = c.OID
	}
	return ids, nil
}

// newCommits returns the new commits of head since the start of the sandbox, oldest first.
func (s *Sandbox) newCommits(ctx context.Context, head company.OID) ([]gitops.Commit, error) {
	if s.added.head == head {
		return s.added.commits, nil
	}
	seen := append([]company.OID{s.spec.Base}, s.spec.seenCommits()...)
	commits, err := s.spec.Mirror.LogWithout(ctx, head, seen, maxListed)
	if err != nil {
		return nil, fmt.Errorf("list the commits of %s: %w", s.spec.Run, err)
	}
	slices.Reverse(commits)
	s.added.head, s.added.commits = head, commits
	return commits, nil
}

// recordCommits writes the commits of the run into its git.log, because they were made in the container.
func (s *Sandbox) recordCommits(ctx context.Context, head company.OID) error {
	commits, err := s.newCommits(gitops.WithLog(ctx, s.spec.Log), head)
	for _, c := range commits {
		s.spec.Log.Record("commit", string(c.OID), safetext.EscapeLine(c.Subject(), 120))
	}
	return err
}

// collectHead closes the sandbox and takes the branch's head. With unsaved, it adds the uncommitted work of the
// last checkpoint as a commit on top. It returns "" if there is no work.
func (s *Sandbox) collectHead(ctx context.Context, unsaved bool) (company.OID, error) {
	s.Close(ctx)
	w := runWork{mirror: s.spec.Mirror, quarantine: s.quarantine, start: s.spec.Start, branch: s.spec.Branch,
		author: s.factory.Author}
	return w.takeHead(gitops.WithLog(ctx, s.spec.Log), unsaved)
}

// maxCounted limits the patch in which changed lines are counted, in bytes.
const maxCounted = 4 << 20

// changedPaths returns the paths that head changes against its merge base with the integration branch, each with
// the number of changed lines and with the attribute of git that its content bypasses.
func changedPaths(ctx context.Context, mirror *gitops.Mirror, onto, head company.OID) ([]company.Change, error) {
	from, err := mirror.MergeBase(ctx, onto, head)
	if err != nil {
		return nil, err
	}
	diff, err := mirror.Diff(ctx, from, head, 0)
	if err != nil {
		return nil, err
	}
	paths := diff.Paths()
	bypassed, err := mirror.FindBypassed(ctx, from, diff.Changes, nil)
	if err != nil {
		return nil, err
	}
	by := map[string]string{}
	for _, file := range bypassed {
		by[file.Path] = string(file.By)
	}
	for i := range paths {
		paths[i].Bypassed = by[paths[i].Path]
	}
	counted, err := mirror.Diff(ctx, from, head, maxCounted)
	if err != nil { // counts only set an order of reading, so ignore the error unless ctx ended
		return paths, context.Cause(ctx)
	}
	lines := map[string]int{}
	for line := range patch.Lines(string(counted.Patch)) {
		if line.Kind == patch.Added || line.Kind == patch.Removed {
			lines[line.File.Path()]++
		}
	}
	for i := range paths {
		paths[i].Lines = lines[paths[i].Path]
	}
	return paths, nil
}

// lastFailure describes the last failed call before an agent ended without a result, for the question to its manager
// and to the president. It returns "" if none of its newest calls failed.
func lastFailure(out agent.Outcome) string {
	if failure := out.Transcript.LastFailure(); failure != "" {
		return ". Its last failed call: " + failure
	}
	return ""
}

// lastWords returns the agent's last message.
func lastWords(out agent.Outcome) string {
	for i := len(out.Messages) - 1; i >= 0; i-- {
		if m := out.Messages[i]; m.Role == adapters.Assistant && strings.TrimSpace(m.Content) != "" {
			return safetext.Escape(m.Content)
		}
	}
	return ""
}
