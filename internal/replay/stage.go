package replay

import (
	"context"

	"company/internal/company"
)

// DirectGates has the gates of a subtask judge it on the integration head that the record
// has, which the branch may have left by now. on makes the finder for a view of the office.
func (d *Director) DirectGates(office company.Decider, on func(company.Decider) company.OutcomeFinder) company.OutcomeFinder {
	return func(ctx context.Context, e company.Effect) (company.Command, error) {
		for {
			s, wait := d.findGateState(office, e)
			if s != nil {
				return on(viewAt{office, s})(ctx, e)
			}
			select {
			case <-wait:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
}

// findGateState gives the state that a gate is to judge in.
// Nil: it is to come.
func (d *Director) findGateState(office company.Decider, e company.Effect) (s *company.State, wait <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := office.View() // after the lock: a step that is done later ends the wait
	for _, st := range d.record.steps[d.next:] {
		was, ok := st.data.(*company.GateFinished)
		if !ok || st.subtask != e.Subtask {
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

// viewAt is an office whose state is that of an earlier moment.
type viewAt struct {
	company.Decider
	state *company.State
}

func (v viewAt) View() *company.State { return v.state }

// DirectTests has a test of merges take up the subtasks that the record has, once they are
// in the queue: others may have come into it by now, or are still to come.
func (d *Director) DirectTests(office company.Decider, test company.OutcomeFinder) company.OutcomeFinder {
	return func(ctx context.Context, e company.Effect) (company.Command, error) {
		for {
			stack, wait := d.findStack(office, e)
			if wait == nil {
				e.Stack = stack
				return test(ctx, e)
			}
			select {
			case <-wait:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
}

// findStack gives the subtasks of the next test in the record; with a wait: some may
// not be merged yet.
func (d *Director) findStack(office company.Decider, e company.Effect) (stack []company.QueuedHead, wait <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := office.View()
	t := now.Tasks[d.record.Task]
	members := d.nextTested()
	if t == nil || len(members) == 0 {
		return e.Stack, nil
	}
	for _, id := range members {
		sub := t.Subtask(id)
		if sub == nil {
			return nil, d.changed
		}
		stack = append(stack, company.QueuedHead{Subtask: id, Head: sub.Head})
	}
	if len(now.ListTakenUp(t, company.Effect{Stack: stack})) < len(stack) {
		return nil, d.changed
	}
	return stack, nil
}

// nextTested are the subtasks of the next test of merges in the record. The caller holds mu.
func (d *Director) nextTested() (out []company.SubtaskID) {
	for _, s := range d.record.steps[d.next:] {
		var members []company.StackMember
		switch was := s.data.(type) {
		case *company.StackRed:
			members = was.Members
		case *company.StackIntended:
			members = was.Members
		case *company.MergeGated, *company.ConflictReported, *company.ReviewVoided:
			return []company.SubtaskID{s.subtask}
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
