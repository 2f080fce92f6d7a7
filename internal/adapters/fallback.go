package adapters

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// falling is the model that Fallback returns.
type falling struct{ chain []Model }

// Fallback asks the next model if one fails for a reason of that model or its server. Such reasons are:
// unreachable, overloaded for too long, silent, malformed reply, refused key or quota, unknown model, or a
// filtered answer. An invalid request (BadRequest, TooLong) is not passed on. The switch is reported as an
// Event.
func Fallback(primary Model, next ...Model) Model {
	if len(next) == 0 {
		return primary
	}
	return &falling{chain: append([]Model{primary}, next...)}
}

// Chat returns the first good reply. If every model fails, it returns the last error joined with the earlier
// ones.
func (f *falling) Chat(ctx context.Context, req Request, onEvent func(Event)) (Response, error) {
	if req.MaxTokens == 0 {
		req.MaxTokens = f.Info().MaxOutput // one limit for all models
	}
	var failures []error
	for i, model := range f.chain {
		resp, err := model.Chat(ctx, req, onEvent)
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
			reason := "the answer was filtered"
			if err != nil {
				reason = err.Error()
			}
			onEvent(Event{Reason: fmt.Sprintf(
				"falling back from %s to %s: %s", model.Info().Model, f.chain[i+1].Info().Model, reason)})
		}
	}
	return Response{}, errors.Join(failures...)
}

// canFallBack reports whether another model may succeed.
func canFallBack(err error) bool {
	var fault *Error
	if !errors.As(err, &fault) {
		return false
	}
	switch fault.Kind {
	case TooLong:
		return false
	case BadRequest:
		return fault.Status == 404 || fault.Status >= 500 // the model is unknown there, or too large for its machine
	}
	return true
}

// Info returns the first model's information with safe limits for the whole chain: the highest known price, the
// smallest known context, the shortest reply. For exact costs, a budget meters the bare models instead.
func (f *falling) Info() Info {
	info := f.chain[0].Info()
	for _, m := range f.chain[1:] {
		next := m.Info()
		info.KeyEnv, info.SetIn = "", "" // an error may be that of any of them
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

// Unwrap returns the chain.
func (f *falling) Unwrap() []Model { return f.chain }

// Close closes every model of the chain.
func (f *falling) Close() error {
	var errs []error
	for _, m := range f.chain {
		errs = append(errs, Close(m))
	}
	return errors.Join(errs...)
}
