package app

import (
	"context"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/view"
)

var _ view.Journals = (*App)(nil)

// ReadRequests lists the requests of a run for views.
func (a *App) ReadRequests(ctx context.Context, id company.RunID, dearest int) ([]view.Request, error) {
	turns, err := a.ReadTurns(ctx, id, dearest)
	if err != nil {
		return nil, err
	}
	out := make([]view.Request, 0, len(turns))
	for _, turn := range turns {
		one := view.Request{
			N: turn.N, Asked: turn.Asked, Model: safetext.EscapeLine(turn.Model, 80),
			Error:       safetext.EscapeLine(string(turn.Error), 40),
			InputTokens: int64(turn.Usage.InputTokens), CachedTokens: int64(turn.Usage.CachedTokens),
			OutputTokens: int64(turn.Usage.OutputTokens),
			CostMicroUSD: turn.Spent.MicroUSD, Tokens: turn.Spent.Tokens,
		}
		if !turn.Answered.IsZero() {
			one.Answered = &turn.Answered
		}
		for _, call := range turn.Calls {
			one.Calls = append(one.Calls, view.RequestCall{Tool: call.Tool, What: call.What})
		}
		for _, inputPart := range turn.Input {
			one.Input = append(
				one.Input,
				view.RequestPart{Kind: string(inputPart.Kind), Tool: inputPart.Tool, What: inputPart.What, N: inputPart.N,
					Tokens: int64(inputPart.Tokens)})
		}
		out = append(out, one)
	}
	return out, nil
}
