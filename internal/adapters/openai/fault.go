package openai

import (
	"errors"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// refusals are requests that go-openai refuses before anything is sent.
var refusals = []error{
	sdk.ErrReasoningModelMaxTokensDeprecated, sdk.ErrReasoningModelLimitationsOther, sdk.ErrReasoningSamplingUnsupported,
	sdk.ErrReasoningEffortUnsupported, sdk.ErrChatCompletionInvalidModel,
}

// callError makes the one error of a call from what the transport saw and what
// go-openai returned.
func (c *Client) callError(ex *exchange.Exchange, err error) error {
	if errors.Is(err, sdk.ErrReasoningToolsRequireResponses) {
		return &adapters.Error{Kind: adapters.BadRequest, Message: "this model takes tools over the Responses API only; name another model in the profile", Err: err}
	}
	for _, refused := range refusals {
		if errors.Is(err, refused) {
			return &adapters.Error{Kind: adapters.BadRequest, Message: c.http.Hide(err.Error()), Err: refused}
		}
	}
	return ex.Failure(err)
}
