package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agenttools"
	"company/internal/company"
	"company/internal/folder"
	"company/internal/gitops"
	"company/internal/runfiles"
	"company/internal/safetext"
)

// Branch is the one branch that all runs of a subtask work on (GIT-2).
func Branch(sub *company.Subtask) string {
	return gitops.BranchName(string(sub.ID), sub.Planned.Title)
}

// OpenLog opens the git.log of a run in the folder of all runs (GIT-3). A log
// that cannot be opened would show nothing of the run, so that is an error.
// told gets lines that could not be written.
func OpenLog(runs *folder.Folder, id company.RunID, told func(run company.RunID, file string, err error)) (*gitops.OpLog, error) {
	f, err := runfiles.OpenRunLog(runs, id, "git.log")
	if err != nil {
		return nil, err
	}
	return gitops.NewOpLog(folder.Watch(f, func(err error) {
		told(id, "git.log", err)
	})), nil
}

// Finish turns the end of a conversation into the end of a run, with the commit
// that the host took out of the sandbox when there is one: work that was pushed
// is kept whatever the end is. A run that is out of turns keeps its uncommitted
// work too. onto is the integration head: changes are counted against the
// branch's merge base with it.
func (s *Sandbox) Finish(ctx context.Context, out agent.Outcome, onto company.OID) (company.EndRun, error) {
	end := company.RunEnded{Status: company.RunError, Branch: s.spec.Branch}
	switch out.End {
	case agent.EndFinal:
		var fin agenttools.Finish
		if err := out.Decode(&fin); err != nil {
			return company.EndRun{}, fmt.Errorf("read the end of the conversation: %w", err)
		}
		end.Status, end.Summary, end.Decisions = company.RunSuccess, fin.Summary, fin.Decisions
	case agent.EndEscalated:
		var esc agent.Escalation
		if err := out.Decode(&esc); err != nil {
			return company.EndRun{}, fmt.Errorf("read the end of the conversation: %w", err)
		}
		end.Escalate, end.Error = true, esc.Reason
	case agent.EndTurns:
		end.Status, end.Summary = company.RunPartial, lastWords(out)
	case agent.EndFull:
		end.Status, end.Summary = company.RunPartial, lastWords(out)
		end.Hint = "the conversation outgrew the model's context; it goes on in a new one. Use a model with a larger context for this role, or split the task"
	case agent.EndStuck:
		end.Escalate, end.Error = true, "it repeats itself"
		if words := lastWords(out); words != "" {
			end.Error += ": " + words
		}
	case agent.EndNoTools:
		end.Error, end.Code, end.Hint = "the model answers without using its tools", company.EModel, out.NoToolsHint()
	}
	partial := end.Status == company.RunPartial
	end.Progress = partial && s.changedRecently(out.Turns)
	head, err := s.collectHead(ctx, partial)
	if err == nil && head == "" && end.Status == company.RunSuccess && s.spec.Unfinished {
		head = s.spec.Start
	}
	var ce *company.Error
	switch {
	case errors.As(err, &ce) && ce.Code == company.EObjects:
		if end.Status != company.RunError {
			// The agent caused it: the next run is told why.
			end.Status, end.Error, end.Code = company.RunError, ce.Error(), ce.Code
		}
	case err != nil:
		return company.EndRun{}, err
	case head != "":
		end.Head = head
		if end.Changes, err = changedPaths(ctx, s.spec.Mirror, onto, head); err != nil {
			return company.EndRun{}, err
		}
		if n := sizeOf(end.Changes); n > maxChanges {
			end.Status, end.Code, end.Head, end.Escalate = company.RunError, company.EObjects, "", false
			end.Error = fmt.Sprintf("the branch changes %d files; their list alone has %d bytes and one subtask may have %d: leave out what is generated, or change less at a time", len(end.Changes), n, maxChanges)
			end.Changes = nil
		}
	case end.Status == company.RunSuccess:
		// The container's own account of its commits is not believed.
		end.Status, end.Error = company.RunError, "the agent says that it is done, but no commit was pushed"
	}
	return company.EndRun{Outcome: end}, nil
}

// collectHead takes the sandbox's work: the branch's head, and with unsaved the
// uncommitted work of the last checkpoint as a commit on top of it. Empty:
// there is none.
func (s *Sandbox) collectHead(ctx context.Context, unsaved bool) (company.OID, error) {
	s.Close(ctx)
	w := runWork{mirror: s.spec.Mirror, quarantine: s.quarantine, start: s.spec.Start, branch: s.spec.Branch, author: s.factory.Author}
	return w.takeHead(gitops.WithLog(ctx, s.spec.Log), unsaved)
}

// maxChanges bounds the list of changed files of one subtask, as JSON in bytes:
// it becomes part of one record of the ledger, which holds 4 MiB, and of the
// state. That is some twenty thousand files.
const maxChanges = 2 << 20

func sizeOf(changes []company.Change) int {
	text, err := json.Marshal(changes)
	if err != nil {
		panic(err) // strings always encode
	}
	return len(text)
}

// changedPaths are the paths that head changes since it left, or last took in, the
// integration branch.
func changedPaths(ctx context.Context, m *gitops.Mirror, onto, head company.OID) ([]company.Change, error) {
	from, err := m.MergeBase(ctx, onto, head)
	if err != nil {
		return nil, err
	}
	diff, err := m.Diff(ctx, from, head, 0)
	if err != nil {
		return nil, err
	}
	var out []company.Change
	for _, c := range diff.Changes {
		out = append(out, c.Change)
	}
	return out, nil
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
