package company

import "context"

// Coordinator is the interface between the holder of a run and the company. The holder gets all data for its work with
// the claim, so it may be in another process without the ledger and the state.
type Coordinator interface {
	// Claim makes the claim's worker the holder of a run. It returns EStale if the run cannot be claimed this way.
	Claim(ctx context.Context, c Claim) (Assignment, error)
	// Decide decides a command of the holder, and returns its events once they are in the ledger. It returns errors of the
	// command's decision unchanged.
	Decide(ctx context.Context, c HolderCommand) ([]Event, error)
	// Standing returns the present state of a run for the holder of a claim.
	Standing(ctx context.Context, run RunID, fence uint64) (Standing, error)
}

// Assignment is a claimed run with the data that its holder needs, as of the claim.
type Assignment struct {
	Task    *Task
	Subtask *Subtask // nil means that the run is about the whole task
	Claimed *Run
	Epoch   uint64
	// Clarifications are the president's answers to open points of the instruction.
	Clarifications []*Approval
}

// HolderCommand is a command of a run's holder, under the fence of its claim. The types below are all of them.
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

// Standing holds the facts that others may change while a holder has a run. The holder asks when it needs them: a
// pause may end before the holder looks, and a task may end after its run was cut off.
type Standing struct {
	Held   bool        // the claim is valid
	Paused bool        // the task is paused or the run waits for money: the current turn is the last
	Ended  TaskStatus  // status of an ended task; empty means that it has not ended
	Asked  []*Approval // the questions about packages for the task
	Words  []Word      // the president's messages to the run, in order
}

// Question returns the question about a package, or nil.
func (s Standing) Question(dependency Dependency) *Approval {
	for _, approval := range s.Asked {
		if approval.Key == DependencyKey(approval.Task, dependency) {
			return approval
		}
	}
	return nil
}

// CoordinatorOf returns the coordinator of an office whose ledger is in this process.
func CoordinatorOf(d Decider) Coordinator { return localCoordinator{d} }

type localCoordinator struct{ decider Decider }

func (l localCoordinator) Claim(ctx context.Context, claim Claim) (Assignment, error) {
	evs, err := l.decider.Do(ctx, claim.Worker, claim)
	if err != nil {
		return Assignment{}, err
	}
	state := l.decider.View()
	task, run, err := state.findRun(claim.Run)
	if err != nil {
		return Assignment{}, err
	}
	if run.Fence != ClaimedFence(evs) {
		return Assignment{}, E(EStale, "run "+string(claim.Run)+" was claimed again")
	}
	return Assignment{Task: task, Subtask: task.Subtask(run.Subtask), Claimed: run, Epoch: state.Office.Epoch,
		Clarifications: state.Clarifications(task.ID)}, nil
}

func (l localCoordinator) Decide(ctx context.Context, c HolderCommand) ([]Event, error) {
	return l.decider.Do(ctx, string(c.heldRun()), c)
}

func (l localCoordinator) Standing(_ context.Context, run RunID, fence uint64) (Standing, error) {
	state := l.decider.View()
	task, r, err := state.findRun(run)
	if err != nil {
		return Standing{}, err
	}
	rests := r.Waiting && state.Spending.Shortage != nil
	st := Standing{Held: r.Held && r.Fence == fence, Paused: task.isPaused(r.Subtask) || rests, Words: r.Words}
	if task.Status.Ended() {
		st.Ended = task.Status
	}
	st.Asked = state.selectApprovals(func(a *Approval) bool {
		return a.Task == task.ID && a.Kind == AskDependencyLeave
	})
	return st, nil
}
