package exchange

import (
	"cmp"
	"strconv"
	"strings"

	"company/internal/lib/lazyregexp"
)

// Limits for learning a model's output cap from refusals. Smaller numbers in a refusal are codes and counts.
const (
	leastOutputCap = 1000
	maxOutputCaps  = 5 // times that a client lowers the cap
)

var (
	// outputRE matches names of the limit of a reply, aboveRE that a value is too large, and sumRE that the conversation
	// counts, too.
	outputRE = lazyregexp.New(`max[ _]?(?:completion|output|new)?[ _]?tokens|maximum tokens|(?:completion|output) tokens`)
	aboveRE  = lazyregexp.New(`too (?:large|high|big|many)|exceed|greater|larger|higher|above|at most|maximum|up to|` +
		`(?:less|lower|smaller|more) (?:than|or equal)|range|between|limit|<=?|≤|>|\[\d|out of|invalid|illegal|非法|范围`)
	sumRE = lazyregexp.New(
		`prompt|messages|seq_len|total|\binputs?\W{0,3}(?:tokens|length|or output|and)|text input`)
	// contextSizeRE matches that the limit is the model's context, which the conversation shares.
	contextSizeRE = lazyregexp.New(`context[ -](?:length|window|size)|max_model_len`)
	// unnamedRE matches refusals of the parameter itself, whatever its value is.
	unnamedRE = lazyregexp.New(`not (?:supported|permitted|allowed)|unsupported|unrecogni[sz]ed|unknown|unexpected|required|` +
		`missing|at least|positive|integer type|valid integer`)
	numberRE = lazyregexp.New(`(?:^|[^\w-]|\d-)(\d{1,3}(?:,\d{3})+|\d{4,9})(?:[^\w-]|$)`)
	// belowRE matches that the number itself is too large as well.
	belowRE = lazyregexp.New(`(?:less|lower|smaller) than \W?\d|exclusive`)
)

// namesOutputCap reports whether a message in lower case says that the requested length of a reply is more than the
// model can give, whatever the length of the conversation is.
func namesOutputCap(text string) bool {
	return outputRE.MatchString(text) && aboveRE.MatchString(text) && !sumRE.MatchString(text) &&
		!timeRE.MatchString(text)
}

// FindOutputCap returns the highest number of output tokens that a server allows, from its refusal of a request for
// more: the number in it, or half of what was requested. It returns 0 for other refusals.
func FindOutputCap(refusal string, requested int) int {
	text := strings.ToLower(refusal)
	if !namesOutputCap(text) {
		return 0
	}
	found := 0
	for rest := text; ; {
		at := numberRE.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		number, _ := strconv.Atoi(strings.ReplaceAll(rest[at[2]:at[3]], ",", ""))
		if number >= leastOutputCap && number < requested {
			found = max(found, number)
		}
		rest = rest[at[3]:]
	}
	if belowRE.MatchString(text) {
		found = cmp.Or(found, requested) - 1
	}
	switch {
	case found > 0 && !contextSizeRE.MatchString(text):
		return found
	case found == 0 && unnamedRE.MatchString(text), requested/2 < leastOutputCap:
		return 0
	}
	return requested / 2
}

// OutputCap is what a client has learnt of its model's output cap. The zero value is not a cap.
type OutputCap struct {
	Tokens int // 0 if unknown
	times  int
}

// Limit returns the number of output tokens to request.
func (o OutputCap) Limit(wanted int) int {
	if o.Tokens > 0 {
		return min(o.Tokens, wanted)
	}
	return wanted
}

// Lowered returns the cap after a refusal of a request for so many tokens. ok reports whether the request should be
// sent again.
func (o OutputCap) Lowered(refusal string, requested int) (lower OutputCap, ok bool) {
	tokens := FindOutputCap(refusal, requested)
	switch {
	case tokens == 0:
		return o, false
	case o.Tokens > 0 && o.Tokens < requested: // a concurrent call has learnt it
		return o, true
	case o.times == maxOutputCaps:
		return o, false
	}
	return OutputCap{Tokens: tokens, times: o.times + 1}, true
}
