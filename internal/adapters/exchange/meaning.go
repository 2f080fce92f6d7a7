package exchange

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/adapters"
	"company/internal/lib/lazyregexp"
)

// What a server means by an error. Codes are read first, then meaning (a size and that it is too much), and phrases of
// single vendors last.

// codeKinds classifies errors by parts of the server's code and type.
var codeKinds = []struct {
	kind  adapters.Kind
	codes []string
}{
	{adapters.MalformedReply, []string{"tool_use_failed"}}, // the model's call was unreadable: Groq asks to try again
	{adapters.TooLong, []string{"context_length", "context_size", "context_exceeded", "max_prompt_tokens"}},
	{adapters.Quota, []string{"insufficient_quota", "billing", "insufficient_balance", "exceeded_current_quota"}},
	{adapters.Auth, []string{"invalid_api_key", "authentication_error", "permission_error"}},
	{adapters.Overloaded, []string{"rate_limit", "overloaded", "server_error", "internal_error", "unavailable", "timeout",
		"resource_exhausted", "disconnected"}},
	{adapters.BadRequest, []string{"model_not_found", "not_found", "bad_request"}},
}

var (
	// contextRE matches names of the size of a model's context, and sizeRE what is measured by it.
	contextRE = lazyregexp.New(
		`context|text bytes|max(?:imum)?[ -](?:model|prompt|input|sequence|total|allowed)[ -](?:length|tokens?)|token limit`)
	sizeRE = lazyregexp.New(`prompt|inputs?\b|request\b|messages|conversation|tokens|model.{0,10} length`)
	// excessRE matches that something is too much.
	excessRE = lazyregexp.New(`exceed|too (?:long|large|many|big)|(?:long|larg|great|high)er than|more than \d|overflow|` +
		`reduce (?:the|your)|does(?:n't| not) fit|(?:can ?not|could not|does not) fit|shorte(?:r|n)|` +
		`(?:length|tokens) (?:is|of) [\d,]+[^\d]{1,80}[\d,]+ (?:\w+ )?tokens|should be (?:in )?\[|only supports? up to|` +
		`must (?:be <=?|have less than|not be more)`)
	// timeRE matches limits of a time or an account, and otherRE limits of other things than the context.
	timeRE = lazyregexp.New(
		`per[ -](?:minute|min|hour|day|second|month)|\b[rt]p[mdhs]\b|rate.?limit|quota|credit|afford|balance|free tier`)
	otherRE = lazyregexp.New(`output tokens|max_tokens\W|max_completion_tokens|(?:string|array) too long|` +
		`\btools?\b|functions?\b|system message|\bid\b|\bids\b|image|\bmb\b|\bbytes\b|base64|` +
		`pending|queue|concurren|capacity|description|stop sequence|\bfiles?\b|temperature|` +
		`too many (?:requests|tools|messages|images|functions)|requests? limit`)
	// ratioRE matches a limit and what was requested of it.
	ratioRE = lazyregexp.New(`limit:? ~?([\d,]+)\b.{0,60}?requested:? ~?([\d,]+)\b`)
	quotaRE = lazyregexp.New(`exceeded (?:your )?current quota|insufficient (?:balance|credit|funds)|billing hard limit|` +
		`credit balance is too low|out of credits|please recharge|account .{0,40}(?:not active|suspended|in arrears)`)
	busyRE = lazyregexp.New(
		`overloaded|rate limit|try again later|temporarily|had an error while processing|disconnected|too many requests`)
	authRE    = lazyregexp.New(`(?:incorrect|invalid) api key`)
	missingRE = lazyregexp.New(`model not found|does not exist`)
	// badCallRE matches the message of a server's parser about a model's tool call that it cannot read. The request is
	// repeated.
	badCallRE = lazyregexp.New(`error parsing tool call|invalid character .* (?:looking for|in |after )|` +
		`unexpected end of json|xml syntax error|failed to (?:parse tool|call a function)|model did not call a tool`)
)

// findKind classifies an error by its code and message. It returns "" if that is not possible.
func (s *ServerError) findKind() adapters.Kind {
	if s == nil || s.html {
		return ""
	}
	text := strings.ToLower(s.Message)
	// A limit of a minute is often called a quota. A wait that is named tells them apart.
	waits := s.Wait > 0 && s.Wait < time.Hour && !strings.Contains(s.Code, "insufficient")
	var coded adapters.Kind
	for _, c := range codeKinds {
		if slices.ContainsFunc(c.codes, func(code string) bool { return strings.Contains(s.Code, code) }) {
			coded = c.kind
			break
		}
	}
	switch {
	case waits:
		return adapters.Overloaded
	case coded == adapters.MalformedReply, coded == adapters.TooLong, coded == adapters.Quota:
		return coded
	case namesOutputCap(text):
		return adapters.BadRequest
	case isOverLimit(text), isContextFull(text):
		return adapters.TooLong
	case quotaRE.MatchString(text):
		return adapters.Quota
	case coded != "":
		return coded
	case badCallRE.MatchString(text):
		return adapters.MalformedReply
	case authRE.MatchString(text):
		return adapters.Auth
	case busyRE.MatchString(text):
		return adapters.Overloaded
	case missingRE.MatchString(text), strings.Contains(s.Code, "invalid_request"):
		return adapters.BadRequest
	}
	return ""
}

// isContextFull reports whether a message in lower case says that a request does not fit the model's context.
func isContextFull(text string) bool {
	if timeRE.MatchString(text) || !excessRE.MatchString(text) {
		return false
	}
	return contextRE.MatchString(text) && !strings.Contains(text, "string too long") &&
		!strings.Contains(text, "array too long") ||
		sizeRE.MatchString(text) && !otherRE.MatchString(text)
}

// isOverLimit reports whether one request asks for more than a whole limit, so that waiting does not help.
func isOverLimit(text string) bool {
	found := ratioRE.FindStringSubmatch(text)
	if found == nil {
		return false
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(strings.ReplaceAll(s, ",", "")) // 0 for an absurd number
		return n
	}
	return number(found[2]) > number(found[1]) && number(found[1]) > 0
}

var (
	// waitRE matches a wait in words: "try again in 6.78s", "retry after 7m12.5s", "wait 20 seconds".
	waitRE = lazyregexp.New(`(?i)(?:again|retry|wait|resets?|available)[^.\d]{0,30}?((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)\b|` +
		`(?:again|retry|wait|resets?|available)[^.\d]{0,30}?(\d+(?:\.\d+)?) ?(millisecond|second|sec\b|minute|min\b|hour)`)
	// waitMemberRE matches a wait in a member of the body: retryDelay: "31s", retry_after: 5.
	waitMemberRE = lazyregexp.New(`(?i)"retry_?(?:delay|after)(_?ms)?"\s*:\s*"?([\d.]+)s?"?`)
)

// waitIn returns the wait that an error's body names, 0 without one.
func waitIn(body string) time.Duration {
	units := map[string]float64{"mil": 0.001, "sec": 1, "min": 60, "hou": 3600}
	if found := waitMemberRE.FindStringSubmatch(body); found != nil {
		unit := 1.0
		if found[1] != "" {
			unit = units["mil"]
		}
		return secondsOf(found[2], unit)
	}
	found := waitRE.FindStringSubmatch(body)
	switch {
	case found == nil:
		return 0
	case found[1] != "":
		d, _ := time.ParseDuration(strings.ToLower(found[1])) // 0 for an absurd one
		return boundedDuration(d.Seconds())
	}
	return secondsOf(found[2], units[strings.ToLower(found[3][:3])])
}

func secondsOf(number string, unit float64) time.Duration {
	n, _ := strconv.ParseFloat(number, 64) // 0 for no number
	return boundedDuration(n * unit)
}
