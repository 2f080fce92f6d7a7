package company

import "context"

// Decider is what a role may ask of the company: look at the state, and have a
// command decided. The orchestrator is behind it.
type Decider interface {
	// View is the state at this moment; it does not change under the reader.
	View() *State
	// Do decides a command and returns its events once they are in the
	// ledger. An error that Decide gave is returned as it is.
	Do(ctx context.Context, actor string, c Command) ([]Event, error)
}

// EffectHandler carries out one kind of effect. It returns the outcome as a
// command, or nil when it has sent everything itself; an error is recorded
// against the effect, which is tried again later. When the effect is no longer
// due, ctx ends, and the handler cleans up and returns; its outcome is then
// dropped.
type EffectHandler func(ctx context.Context, e Effect) (Command, error)

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
