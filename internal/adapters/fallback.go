package adapters

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// falling is the wrapper that Fallback makes.
type falling struct{ chain []Model }

// Fallback asks the next model when one fails for a reason that lies with that
// model or its server: out of reach, overloaded for too long, silent, garbled,
// its key or quota refused, the model unknown there, or the answer filtered. A
// request that is wrong in itself (BadRequest, TooLong) is not carried on. The
// change is reported as an Event.
func Fallback(primary Model, next ...Model) Model {
	if len(next) == 0 {
		return primary
	}
	return &falling{chain: append([]Model{primary}, next...)}
}

// Chat returns the first good reply. When every model fails, the error is the
// last one's, with the earlier ones joined to it.
func (f *falling) Chat(ctx context.Context, req Request, onEvent func(Event)) (Response, error) {
	if req.MaxTokens == 0 {
		req.MaxTokens = f.Info().MaxOutput // one bound for whichever answers
	}
	var failures []error
	for i, m := range f.chain {
		resp, err := m.Chat(ctx, req, onEvent)
		last := i == len(f.chain)-1
		if err == nil && (resp.Finish != FinishFilter || last) {
			return resp, nil
		}
		if err != nil {
			if ctx.Err() != nil || !canFallBack(err) {
				return Response{}, err
			}
			failures = append(failures, err)
		}
		if last {
			slices.Reverse(failures) // errors.As finds the last model's error first
			return Response{}, errors.Join(failures...)
		}
		if onEvent != nil {
			why := "the answer was filtered"
			if err != nil {
				why = err.Error()
			}
			onEvent(Event{Reason: fmt.Sprintf("falling back from %s to %s: %s", m.Info().Model, f.chain[i+1].Info().Model, why)})
		}
	}
	return Response{}, errors.Join(failures...)
}

// canFallBack reports whether another model may do better.
func canFallBack(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case TooLong:
		return false
	case BadRequest:
		return e.Status == 404 || e.Status >= 500 // no such model there, or none that its machine can hold
	}
	return true
}

// Info is the first model's, made safe for a caller that cannot know which one
// will answer: the dearest known price, the smallest known context, the
// shortest reply. A budget that must be exact meters the bare models instead.
func (f *falling) Info() Info {
	info := f.chain[0].Info()
	for _, m := range f.chain[1:] {
		next := m.Info()
		info.MaxOutput = min(info.MaxOutput, next.MaxOutput)
		if next.ContextTokens > 0 && (info.ContextTokens == 0 || next.ContextTokens < info.ContextTokens) {
			info.ContextTokens = next.ContextTokens
		}
		info.Price.Known = info.Price.Known || next.Price.Known
		info.Price.WriteMicro = max(info.Price.Write(), next.Price.Write())
		info.Price.InputMicro = max(info.Price.InputMicro, next.Price.InputMicro)
		info.Price.CacheMicro = max(info.Price.CacheMicro, next.Price.CacheMicro)
		info.Price.OutMicro = max(info.Price.OutMicro, next.Price.OutMicro)
	}
	return info
}

// Unwrap is the chain.
func (f *falling) Unwrap() []Model { return f.chain }

// Close closes every model of the chain.
func (f *falling) Close() error {
	var errs []error
	for _, m := range f.chain {
		errs = append(errs, Close(m))
	}
	return errors.Join(errs...)
}
