package agent

import "company/internal/company"

// sameTokens is the size from which a repeated result is not shown to the model again.
const sameTokens = 250

// unchanged replaces a result that the model already has.
const unchanged = "[Unchanged: the answer is that of your same call before, which stands above; only times may differ.]"

// findSame returns the id of the newest call with the same tool, arguments and result that the model still has.
// It returns "" if there is none. Models read files again to be sure, and tests fail the same way again. A
// second copy costs as much as the first with every later request, and adds no information.
func (c *conversation) findSame(name string, args company.Hash, text string) string {
	if tokensOf(text) < sameTokens {
		return ""
	}
	for i := len(c.results) - 1; i >= c.maskTo; i-- {
		result, call := c.results[i], c.log.ToolCalls[i]
		if result.msg < c.condensed {
			break
		}
		if call.Name != name || result.argsHash != args {
			continue
		}
		if stripTimes(call.Result) != stripTimes(text) {
			return "" // the result has changed since then
		}
		if !result.pointer {
			return call.ID
		}
	}
	return ""
}

// resultOf returns the recorded result of a call, or text if the call is unknown.
func (c *conversation) resultOf(callID, text string) string {
	for i := len(c.log.ToolCalls) - 1; i >= 0; i-- {
		if call := c.log.ToolCalls[i]; call.ID == callID {
			return call.Result
		}
	}
	return text
}
