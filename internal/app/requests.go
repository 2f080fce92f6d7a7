package app

import (
	"context"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/view"
)

var _ view.Journals = (*App)(nil)

// ReadRequests lists the requests of a run as views show them.
func (a *App) ReadRequests(ctx context.Context, id company.RunID, dearest int) ([]view.Request, error) {
	turns, err := a.ReadTurns(ctx, id, dearest)
	if err != nil {
		return nil, err
	}
	out := make([]view.Request, 0, len(turns))
	for _, t := range turns {
		one := view.Request{
			N: t.N, Asked: t.Asked, Model: safetext.EscapeLine(t.Model, 80), Error: safetext.EscapeLine(string(t.Error), 40),
			InputTokens: int64(t.Usage.InputTokens), CachedTokens: int64(t.Usage.CachedTokens), OutputTokens: int64(t.Usage.OutputTokens),
			CostMicroUSD: t.Spent.MicroUSD, Tokens: t.Spent.Tokens,
		}
		if !t.Answered.IsZero() {
			one.Answered = &t.Answered
		}
		for _, call := range t.Calls {
			one.Calls = append(one.Calls, view.RequestCall{Tool: call.Tool, What: call.What})
		}
		for _, p := range t.Input {
			one.Input = append(one.Input, view.RequestPart{Kind: string(p.Kind), Tool: p.Tool, What: p.What, N: p.N, Tokens: int64(p.Tokens)})
		}
		out = append(out, one)
	}
	return out, nil
}
