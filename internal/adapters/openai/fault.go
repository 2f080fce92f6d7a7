package openai

import (
	"errors"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// refusals lists errors of requests that go-openai refuses to send.
var refusals = []error{
	sdk.ErrReasoningModelMaxTokensDeprecated, sdk.ErrReasoningModelLimitationsOther, sdk.ErrReasoningSamplingUnsupported,
	sdk.ErrReasoningEffortUnsupported, sdk.ErrChatCompletionInvalidModel,
}

// callError combines the transport's record and go-openai's error into the one error of a call.
func (c *Client) callError(ex *exchange.Exchange, err error) error {
	if errors.Is(err, sdk.ErrReasoningToolsRequireResponses) {
		return &adapters.Error{Kind: adapters.BadRequest,
			Message: "this model takes tools over the Responses API only; name another model in the profile", Err: err}
	}
	for _, refused := range refusals {
		if errors.Is(err, refused) {
			return &adapters.Error{Kind: adapters.BadRequest, Message: c.http.Hide(err.Error()), Err: refused}
		}
	}
	return ex.Failure(err)
}
