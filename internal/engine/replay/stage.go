package replay

import (
	"context"

	"company/internal/company"
)

// DirectGates makes the gates of a subtask judge it on the recorded integration head, since the branch may have moved
// on. on creates the gates' finder for a view of the office.
func (d *Director) DirectGates(
	office company.Decider, on func(company.Decider) company.OutcomeFinder,
) company.OutcomeFinder {
	return func(ctx context.Context, effect company.Effect) (company.Command, error) {
		for {
			state, wait := d.findGateState(office, effect)
			if state != nil {
				return on(viewAt{office, state})(ctx, effect)
			}
			select {
			case <-wait:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
}

// findGateState returns the state in which a gate must judge. It returns nil if that state is still to come; wait is
// then closed at the next step.
func (d *Director) findGateState(
	office company.Decider, effect company.Effect,
) (s *company.State, wait <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := office.View() // read after taking the lock: any later step closes wait
	for _, st := range d.record.steps[d.next:] {
		was, ok := st.data.(*company.GateFinished)
		if !ok || st.subtask != effect.Subtask {
			continue
		}
		onto := d.commitNow(was.Onto)
		if t := now.Tasks[d.record.Task]; t != nil && t.Head == onto {
			return now, nil
		}
		if past := d.heads[onto]; past != nil {
			return past, nil
		}
		return nil, d.changed
	}
	return now, nil
}

// viewAt is an office with an earlier state.
type viewAt struct {
	company.Decider
	state *company.State
}

func (v viewAt) View() *company.State { return v.state }

// DirectTests makes a test of merges use the recorded subtasks once they are in the queue. By now the queue may
// contain others, or lack some.
func (d *Director) DirectTests(office company.Decider, test company.OutcomeFinder) company.OutcomeFinder {
	return func(ctx context.Context, effect company.Effect) (company.Command, error) {
		for {
			stack, wait := d.findStack(office, effect)
			if wait == nil {
				effect.Stack = stack
				return test(ctx, effect)
			}
			select {
			case <-wait:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
}

// findStack returns the subtasks of the next recorded test. If wait is not nil, some of them cannot be merged yet.
func (d *Director) findStack(
	office company.Decider, effect company.Effect,
) (stack []company.SubtaskID, wait <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := office.View()
	task := now.Tasks[d.record.Task]
	members := d.nextTested()
	if task == nil || len(members) == 0 {
		return effect.Stack, nil
	}
	if len(now.ListTakenUp(task, members)) < len(members) {
		return nil, d.changed
	}
	return members, nil
}

// nextTested returns the subtasks of the next recorded test of merges. The caller holds mu.
func (d *Director) nextTested() (out []company.SubtaskID) {
	for _, step := range d.record.steps[d.next:] {
		var members []company.StackMember
		switch was := step.data.(type) {
		case *company.StackRed:
			members = was.Members
		case *company.StackIntended:
			members = was.Members
		case *company.MergeGated, *company.ConflictReported, *company.ReviewVoided:
			return []company.SubtaskID{step.subtask}
		default:
			continue
		}
		for _, m := range members {
			out = append(out, m.Subtask)
		}
		return out
	}
	return nil
}
