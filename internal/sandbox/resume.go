package sandbox

import (
	"context"
	"errors"
	"fmt"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolproto"
)

// goBack puts the quarantine back to the state that the run's journal ends
// with, and says which checkpoint the work goes on from. A push after that
// state has no record: it will be made again. A journal in which no conversation
// has begun, be it that its records were lost, ends with an empty quarantine.
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

// Workspace is the sandbox as the conversation keeps and restores it; nil: of a
// sandbox that nothing can be pushed from, nothing is kept.
func (s *Sandbox) Workspace() agent.Workspace {
	if s.spec.ReadOnly {
		return nil
	}
	return workspace{s}
}

type workspace struct{ sandbox *Sandbox }

// recentTurns is how many turns ago a run has last got on that still gets on.
const recentTurns = 30

// changedRecently says whether the work tree changed within the last turns of a
// conversation of so many: a run that is out of turns goes on only then.
func (s *Sandbox) changedRecently(turns int) bool {
	if s.lastChange == 0 { // an earlier holder of the run may have changed it
		return s.Prepared.Dirty || company.OID(s.Prepared.Head) != s.spec.Start
	}
	return turns-s.lastChange < recentTurns
}

// Save makes a checkpoint and reads on the host where the branches stand.
func (w workspace) Save(ctx context.Context, turn int) (*agent.Saved, error) {
	b := w.sandbox
	cp, err := b.Tools.Checkpoint(ctx, string(b.spec.Run))
	var refusal *toolproto.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.ByHost():
		return nil, &agent.NotKept{Err: err}
	case errors.As(err, &refusal):
		// What lies in the work tree cannot be kept: the disk is full, or a file
		// there is larger than the host takes. A commit of it is refused to the
		// agent, with the reason.
		b.factory.Logger.InfoContext(ctx, "no checkpoint", "run_id", b.spec.Run, "turn", turn, "why", refusal.Message)
		b.lastChange = turn
		return nil, nil
	case err != nil:
		return nil, err
	}
	if cp.Changed {
		b.lastChange = turn
	}
	if !cp.Exact {
		b.factory.Logger.InfoContext(ctx, "checkpoint not exact", "run_id", b.spec.Run, "turn", turn, "why", cp.Why)
		return nil, nil
	}
	saved := &agent.Saved{Checkpoint: company.OID(cp.OID)}
	if saved.Pushed, err = b.quarantine.Branches(ctx); err != nil {
		return nil, &agent.NotKept{Err: err}
	}
	return saved, nil
}

func (w workspace) Recall(ctx context.Context, known map[string]string) error {
	return w.sandbox.Tools.Recall(ctx, known)
}
