package sandbox

import (
	"context"
	"errors"
	"fmt"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolbox/toolproto"
)

// goBack restores the quarantine to the state at the end of the run's journal, and returns the checkpoint to
// continue from. A push after that state has no record and will be repeated. If no conversation has begun in the
// journal, for example because records were lost, the quarantine is emptied.
func (s *Sandbox) goBack(ctx context.Context) (company.OID, error) {
	past := s.spec.Past
	if past.Begun && !past.Exact {
		resume, _, err := s.quarantine.Checkpoint(ctx)
		return resume, err
	}
	saved := past.Saved
	if saved == nil {
		saved = &agent.Saved{}
	}
	ctx = gitops.WithLog(ctx, s.spec.Log)
	if err := s.quarantine.Rewind(ctx, saved.Pushed, saved.Checkpoint); err != nil {
		return "", fmt.Errorf("go back to the last record of %s: %w", s.spec.Run, err)
	}
	return saved.Checkpoint, nil
}

// Workspace returns the workspace that saves and restores the sandbox. It returns nil for a read-only sandbox,
// which saves no state.
func (s *Sandbox) Workspace() agent.Workspace {
	if s.spec.ReadOnly {
		return nil
	}
	return workspace{s}
}

type workspace struct{ sandbox *Sandbox }

// recentTurns is the number of turns within which a run must change the work tree to count as making progress.
const recentTurns = 30

// changedRecently reports whether the work tree changed within the last turns of a conversation of so many
// turns. Only then does a run that is out of turns continue.
func (s *Sandbox) changedRecently(turns int) bool {
	if s.lastChange == 0 { // an earlier holder of the run may have changed it
		return s.Prepared.Dirty || company.OID(s.Prepared.Head) != s.spec.Start
	}
	return turns-s.lastChange < recentTurns
}

// Save makes a checkpoint and reads the branches' commits on the host.
func (w workspace) Save(ctx context.Context, turn int) (*agent.Saved, error) {
	sandbox := w.sandbox
	cp, err := sandbox.Tools.Checkpoint(ctx, string(sandbox.spec.Run))
	var refusal *toolproto.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.ByHost():
		return nil, &agent.NotKept{Err: err}
	case errors.As(err, &refusal):
		// The work tree cannot be saved: the disk is full, or a file is larger than the host accepts. A commit of it
		// is refused to the agent, with the reason.
		sandbox.factory.Logger.InfoContext(
			ctx, "no checkpoint", "run_id", sandbox.spec.Run, "turn", turn, "why", refusal.Message)
		sandbox.lastChange = turn
		return nil, nil
	case err != nil:
		return nil, err
	}
	if cp.Changed {
		sandbox.lastChange = turn
	}
	if !cp.Exact {
		sandbox.factory.Logger.InfoContext(
			ctx, "checkpoint not exact", "run_id", sandbox.spec.Run, "turn", turn, "why", cp.Why)
		return nil, nil
	}
	saved := &agent.Saved{Checkpoint: company.OID(cp.OID)}
	if saved.Pushed, err = sandbox.quarantine.Branches(ctx); err != nil {
		return nil, &agent.NotKept{Err: err}
	}
	return saved, nil
}

func (w workspace) Recall(ctx context.Context, known map[string]string) error {
	return w.sandbox.Tools.Recall(ctx, known)
}
