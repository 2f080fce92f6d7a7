package company

import "context"

// Coordinator is what the holder of a run may ask of the company. The holder
// gets all that its work needs with the claim, so it may be in another process,
// without the ledger and without the state.
type Coordinator interface {
	// Claim makes the claim's worker the holder of a run. EStale: the run is not
	// to be had under this claim.
	Claim(ctx context.Context, c Claim) (Assignment, error)
	// Decide decides a command of the holder, and returns its events once they
	// are in the ledger. An error that Decide gave is returned as it is.
	Decide(ctx context.Context, c HolderCommand) ([]Event, error)
	// Standing is how a run stands for the holder of a claim at this moment.
	Standing(ctx context.Context, run RunID, fence uint64) (Standing, error)
}

// Assignment is a claimed run, and what its holder needs to know of it, as the
// ledger has it since the claim.
type Assignment struct {
	Task    *Task
	Subtask *Subtask // nil: the run is about the whole task
	Claimed *Run
	Epoch   uint64
	// Clarifications are the president's answers to what the instruction left open.
	Clarifications []*Approval
}

// HolderCommand is a command of a run's holder, under the fence of its claim:
// the types below are all of them.
type HolderCommand interface {
	Command
	heldRun() RunID
}

func (c Reserve) heldRun() RunID          { return c.Run }
func (c EndRun) heldRun() RunID           { return c.Run }
func (c Release) heldRun() RunID          { return c.Run }
func (c ProposePlan) heldRun() RunID      { return c.Run }
func (c AskDependency) heldRun() RunID    { return c.Run }
func (c LookUpDependency) heldRun() RunID { return c.Run }
func (c AddDependency) heldRun() RunID    { return c.Run }

// Standing is what others may change under the holder of a run. A pause may be
// lifted before the holder looks, and a task may end when its run was cut off
// already: the holder asks when it matters.
type Standing struct {
	Held   bool        // the claim is not void
	Paused bool        // the task, or the run rests for money: the turn that is under way is the last one
	Ended  TaskStatus  // of a task that has ended; empty: it goes on
	Asked  []*Approval // the questions about packages for the task
	Words  []Word      // the president's messages to the run, in order
}

// Question is the question about a package, or nil.
func (s Standing) Question(d Dependency) *Approval {
	for _, a := range s.Asked {
		if a.Key == DependencyKey(a.Task, d) {
			return a
		}
	}
	return nil
}

// CoordinatorOf is the coordinator of an office whose ledger is in this process.
func CoordinatorOf(d Decider) Coordinator { return localCoordinator{d} }

type localCoordinator struct{ decider Decider }

func (l localCoordinator) Claim(ctx context.Context, c Claim) (Assignment, error) {
	evs, err := l.decider.Do(ctx, c.Worker, c)
	if err != nil {
		return Assignment{}, err
	}
	s := l.decider.View()
	t, r, err := s.findRun(c.Run)
	if err != nil {
		return Assignment{}, err
	}
	if r.Fence != ClaimedFence(evs) {
		return Assignment{}, E(EStale, "run "+string(c.Run)+" was claimed again")
	}
	return Assignment{Task: t, Subtask: t.Subtask(r.Subtask), Claimed: r, Epoch: s.Office.Epoch, Clarifications: s.Clarifications(t.ID)}, nil
}

func (l localCoordinator) Decide(ctx context.Context, c HolderCommand) ([]Event, error) {
	return l.decider.Do(ctx, string(c.heldRun()), c)
}

func (l localCoordinator) Standing(_ context.Context, run RunID, fence uint64) (Standing, error) {
	s := l.decider.View()
	t, r, err := s.findRun(run)
	if err != nil {
		return Standing{}, err
	}
	rests := r.Waiting && s.Spending.Shortage != nil
	st := Standing{Held: r.Held && r.Fence == fence, Paused: t.isPaused(r.Subtask) || rests, Words: r.Words}
	if t.Status.Ended() {
		st.Ended = t.Status
	}
	st.Asked = s.selectApprovals(func(a *Approval) bool {
		return a.Task == t.ID && a.Kind == AskDependencyLeave
	})
	return st, nil
}
