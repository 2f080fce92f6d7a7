package budget

import (
	"context"
	"errors"

	"company/internal/adapters"
	"company/internal/company"
)

// CallLog records each request, so that a run that is resumed after a crash knows its spending. A call that was
// opened but never closed counts as its worst case.
type CallLog interface {
	// OpenCall is called before the request is sent, with the final request. After an error it is not sent.
	OpenCall(ctx context.Context, info adapters.Info, req adapters.Request, worst company.Amount) (n int, err error)
	// CloseCall records the cost of call n. It must do so even if ctx is done, because the money is spent.
	CloseCall(ctx context.Context, n int, usage adapters.Usage, actual company.Amount) error
}

// meteredModel is the model that Meter returns.
type meteredModel struct {
	adapters.Model
	allowance *Allowance
	journal   CallLog
}

// Meter makes every request of a model reserve and settle an allowance. It must wrap the bare model, inside
// retries and fallbacks, because each attempt can cost and each model has its own price:
//
//	models.Open(name, func(m adapters.Model) adapters.Model { return budget.Meter(m, allowance, journal) })
func Meter(m adapters.Model, allowance *Allowance, journal CallLog) adapters.Model {
	return &meteredModel{Model: m, allowance: allowance, journal: journal}
}

// Chat reserves an allowance, sends the request and settles its cost. If the allowance or the journal refuses,
// it returns that error and sends no request.
func (m *meteredModel) Chat(
	ctx context.Context, req adapters.Request, onEvent func(adapters.Event),
) (adapters.Response, error) {
	info := m.Info()
	if req.MaxTokens <= 0 {
		req.MaxTokens = info.MaxOutput // set explicitly, because the worst case depends on it
	}
	worst := WorstCase(req, info)
	if err := m.allowance.Reserve(ctx, worst); err != nil {
		return adapters.Response{}, err
	}
	n, err := m.journal.OpenCall(ctx, info, req, worst)
	if err != nil {
		m.allowance.Settle(worst, company.Amount{})
		return adapters.Response{}, err
	}
	resp, err := m.Model.Chat(ctx, req, onEvent)
	usage, actual := resp.Usage, ActualCost(resp.Usage, info.Price, worst)
	if err != nil {
		actual = FailureCost(err, req, info.Price, worst)
		var end *adapters.Unfinished
		if e, ok := asModelError(err); ok && e.Usage != nil {
			usage = *e.Usage
		} else if errors.As(err, &end) {
			usage = end.EstimateUsage(req, req.MaxTokens)
		}
	}
	m.allowance.Settle(worst, actual)
	if jerr := m.journal.CloseCall(context.WithoutCancel(ctx), n, usage, actual); jerr != nil {
		// Return this error alone: with a model's error beside it the call would be retried.
		return adapters.Response{}, jerr
	}
	return resp, err
}

// Unwrap returns the metered model.
func (m *meteredModel) Unwrap() []adapters.Model { return []adapters.Model{m.Model} }

func asModelError(err error) (*adapters.Error, bool) {
	var fault *adapters.Error
	ok := errors.As(err, &fault)
	return fault, ok
}
