package exchange

import (
	"fmt"
	"testing"

	"company/internal/adapters"
)

// What vendors say of a reply that may not be as long. 32,000 tokens were requested.
func TestFindOutputCap(t *testing.T) {
	for message, want := range map[string]int{
		"max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.": 16384,
		"litellm.BadRequestError: OpenAIException - max_tokens is too large: 32000. This model supports at most 4096 " +
			"completion tokens, whereas you provided 32000.": 4096,
		"max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022": 8192,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]":                                          8192,
		"<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1,8192]":                             8192,
		"`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the " +
			"`context_window` for this model": 16384,
		"The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is " +
			"lower than 4096.": 4095,
		"The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, " +
			"expected a value <= 12288, but got 32000 instead. Request id: 0217752964393142fa50af54af66c5": 12288,
		"Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16,384, but got 32000 instead.": 16384,
		"Unable to submit request because it has a maxOutputTokens value of 32000 but the supported range is from 1 " +
			"(inclusive) to 8193 (exclusive). Update the value and try again.": 8192,
		"Unable to submit request because it has a maxOutputTokens value of 32000 but the supported range is from 1 " +
			"(inclusive) to 32000 (exclusive). Update the value and try again.": 31999,
		"max_tokens (32000) exceeds model's maximum output tokens (20480) for model deepseek-v4-flash:0731": 20480,
		"too many tokens: max tokens must be less than or equal to 4096, but it is 32000":                   4096,
		`[{"type":"less_than_equal","loc":["body","max_tokens"],"msg":"Input should be less than or equal to 4096",` +
			`"input":32000,"ctx":{"le":4096}}]`: 4096,
		"Malformed input request: #/max_tokens: 32000 is not less or equal to 5000, please reformat your input": 5000,
		"max_tokens must be between 1-8192":                                        8192,
		"max_tokens参数非法。请检查文档。取值范围：[1, 4095]":                                      4095,
		"max_completion_tokens is limited for this model":                          16000, // no number: half
		"max_tokens is too large":                                                  16000,
		"Error code: 400 - max_tokens is out of range for gpt-3.5-turbo-1106":      16000,
		"max_tokens=32000 cannot be greater than max_model_len=20000.":             16000, // the conversation needs some
		`Illegal param: "max_tokens" must be less than the model's context length`: 16000,

		// The conversation counts, or another thing is wrong.
		"input length and `max_tokens` exceed context limit: 199000 + 32000 > 200000": 0,
		"'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 64001 tokens " +
			"and your request has 44235 input tokens (32000 > 64001 - 44235).": 0,
		"This model's maximum context length is 8192 tokens. However, you requested 32064 tokens (64 in the messages, " +
			"32000 in the completion).": 0,
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 94 `inputs` tokens": 0,
		"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 35000. The input or output tokens " +
			"must be reduced in order to run successfully.": 0,
		"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.": 0,
		"max_tokens: Field required":           0,
		"max_tokens must be at least 1, got 0": 0,
		"the input token count (2845475) exceeds the maximum number of tokens allowed (1048576).": 0,
		"invalid temperature: only 1 is allowed for this model":                                   0,
	} {
		if got := FindOutputCap(message, 32000); got != want {
			t.Errorf("%d for %q, want %d", got, message, want)
		}
		if want == 0 {
			continue
		}
		for _, status := range []int{400, 422, 416, 500} {
			said := ParseServerError(fmt.Appendf(nil, `{"error":{"message":%q}}`, message))
			if kind := kindOfStatus(status, said); kind != adapters.BadRequest {
				t.Errorf("%d %q is %s", status, message, kind)
			}
		}
	}
	body := `{"error":{"message":"Param Incorrect","param":"max_tokens is too large: 32000. At most 8000","code":"400"}}`
	if got := FindOutputCap(ParseServerError([]byte(body)).Message, 32000); got != 8000 {
		t.Errorf("%d for %s", got, body)
	}
}

// A cap is lowered a few times at most, and a refusal of a request that did not know it is not a reason to lower it again.
func TestOutputCapIsLoweredAFewTimes(t *testing.T) {
	var limit OutputCap
	requested, again := 1<<20, 0
	for ok := true; ok && again < 100; again++ {
		requested = limit.Limit(requested)
		limit, ok = limit.Lowered("max_tokens is too large", requested)
	}
	if again != maxOutputCaps+1 {
		t.Errorf("it was sent again %d times", again)
	}
	learnt := OutputCap{Tokens: 4096, times: maxOutputCaps}
	if late, ok := learnt.Lowered("max_tokens is too large: at most 4096", 8192); !ok || late != learnt {
		t.Errorf("%+v, %v", late, ok)
	}
	if got := learnt.Limit(2000); got != 2000 {
		t.Errorf("%d", got)
	}
}
