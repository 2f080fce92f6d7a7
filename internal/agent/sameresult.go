package agent

import "company/internal/company"

// sameTokens is the size from which on a result that is before the model already is not
// shown again.
const sameTokens = 250

// unchanged stands in the place of a result that the model has before it.
const unchanged = "[Unchanged: the answer is that of your same call before, which stands above; only times may differ.]"

// findSame is the id of the newest call with the same tool, arguments and result that the
// model still has before it; "": there is none. A model reads a file again to be sure of
// it, and a test fails as it did: the second text costs as much as the first with every
// request that follows, and tells nothing.
func (c *conversation) findSame(name string, args company.Hash, text string) string {
	if tokensOf(text) < sameTokens {
		return ""
	}
	for i := len(c.results) - 1; i >= c.maskTo; i-- {
		r, call := c.results[i], c.log.ToolCalls[i]
		if r.msg < c.condensed {
			break
		}
		if call.Name != name || r.argsHash != args {
			continue
		}
		if stripTimes(call.Result) != stripTimes(text) {
			return "" // what came after it is news
		}
		if !r.pointer {
			return call.ID
		}
	}
	return ""
}

// resultOf is the result of a call that was recorded before; else the text that stands
// for it.
func (c *conversation) resultOf(callID, text string) string {
	for i := len(c.log.ToolCalls) - 1; i >= 0; i-- {
		if call := c.log.ToolCalls[i]; call.ID == callID {
			return call.Result
		}
	}
	return text
}
