package company

import "context"

// Decider reads the state and decides commands through the ledger. The orchestrator implements it. The holder of a run
// uses a Coordinator instead.
type Decider interface {
	// View returns the present state, which later events do not change.
	View() *State
	// Do decides a command and returns its events once they are in the ledger. It returns errors of the command's decision
	// unchanged.
	Do(ctx context.Context, actor string, c Command) ([]Event, error)
}

// EffectHandler carries out one kind of effect. It has the outcome decided before it returns, because the holder of a
// run must act on the answer. An error is recorded as a failure of the effect, which is retried later. When the effect
// is no longer due, ctx ends, and the handler cleans up and returns.
type EffectHandler func(ctx context.Context, e Effect) error

// OutcomeFinder returns the command for the outcome of an effect, without deciding it. A nil command means that there
// is no more work to do.
type OutcomeFinder func(ctx context.Context, e Effect) (Command, error)

// ReportOutcome returns a handler that decides the command that find returns.
func ReportOutcome(decider Decider, find OutcomeFinder) EffectHandler {
	return func(ctx context.Context, e Effect) error {
		command, err := find(ctx, e)
		if err == nil && command != nil {
			_, err = decider.Do(ctx, Company, command)
		}
		return err
	}
}

// EventsOf returns the data of all events of one kind. It skips events that cannot be decoded.
func EventsOf[T any, P interface {
	*T
	Data
}](evs []Event) []T {
	var out []T
	for _, event := range evs {
		if event.Kind != P(new(T)).Kind() {
			continue
		}
		data, err := Decode(event)
		if err != nil {
			continue
		}
		out = append(out, *(data.(P)))
	}
	return out
}
