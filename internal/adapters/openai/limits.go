package openai

import (
	"strings"

	"company/internal/lib/lazyregexp"
)

// limits holds the limits of a model that OpenAI itself serves. The same name at another address may have other
// limits.
type limits struct{ context, output int }

// knownLimits lists limits by the prefix of the model's name. The first match counts.
var knownLimits = []struct {
	prefix string
	limits
}{
	{"gpt-5", limits{400_000, 16_384}},
	{"gpt-4.1", limits{1_047_576, 16_384}},
	{"gpt-4o", limits{128_000, 16_384}},
	{"o3", limits{200_000, 16_384}},
	{"o4", limits{200_000, 16_384}},
}

func limitsOf(baseURL, model string) limits {
	if baseURL != Standard {
		return limits{}
	}
	for _, k := range knownLimits {
		if strings.HasPrefix(model, k.prefix) {
			return k.limits
		}
	}
	return limits{}
}

// reasoningRE matches the families that refuse max_tokens and other temperatures than their own, also under a router's
// prefix ("openai/gpt-5").
var reasoningRE = lazyregexp.New(`^(?:[^ ]*/)?(?:o[134]|gpt-[56])(?:$|[-:.])`)

func isReasoningModel(model string) bool { return reasoningRE.MatchString(model) }
