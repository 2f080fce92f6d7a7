package company

import "context"

// Decider looks at the state and has commands decided, beside the ledger. The
// orchestrator is behind it. What holds a run has a Coordinator.
type Decider interface {
	// View is the state at this moment; it does not change under the reader.
	View() *State
	// Do decides a command and returns its events once they are in the
	// ledger. An error that Decide gave is returned as it is.
	Do(ctx context.Context, actor string, c Command) ([]Event, error)
}

// EffectHandler carries out one kind of effect. It has the outcome decided
// before it returns: the holder of a run must act on the answer. An error is
// recorded against the effect, which is tried again later. When the effect is
// no longer due, ctx ends, and the handler cleans up and returns.
type EffectHandler func(ctx context.Context, e Effect) error

// OutcomeFinder finds out what an effect comes to, and decides nothing. A nil
// command: nothing is to be done any more.
type OutcomeFinder func(ctx context.Context, e Effect) (Command, error)

// ReportOutcome makes a handler that has what find returns decided.
func ReportOutcome(d Decider, find OutcomeFinder) EffectHandler {
	return func(ctx context.Context, e Effect) error {
		c, err := find(ctx, e)
		if err == nil && c != nil {
			_, err = d.Do(ctx, Company, c)
		}
		return err
	}
}

// EventsOf picks the events of one kind out of a decision.
func EventsOf[T any, P interface {
	*T
	Data
}](evs []Event) []T {
	var out []T
	for _, e := range evs {
		if e.Kind != P(new(T)).Kind() {
			continue
		}
		d, err := Decode(e)
		if err != nil {
			continue
		}
		out = append(out, *(d.(P)))
	}
	return out
}
