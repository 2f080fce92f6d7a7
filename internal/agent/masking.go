package agent

import (
	"encoding/json"
	"fmt"
	"slices"

	"company/internal/adapters"
	"company/internal/company"
)

// result describes the size of a tool's result in the conversation.
type result struct {
	msg     int    // index in msgs
	size    int    // tokens
	keep    bool   // too small to be worth clearing
	lasts   bool   // the tool asked to keep it
	path    string // the file that it is about, empty if unknown
	changed bool   // it changed the workspace
	call    int    // index in msgs of the reply with the call
	pointer bool   // the model is shown only the changes since an earlier call, or that there are none
	// argsHash is the hashArguments of the call. Arguments may be large, and each later call is compared with it.
	argsHash company.Hash
	args     string // the call's arguments after clearing, empty if they are not cleared
	won      int    // tokens saved by clearing the arguments
}

// cleared replaces the text of an old result.
const cleared = "[Old tool result content cleared. Call the tool again if you need it.]"

// keepTokens is the size up to which a tool result is never cleared, because the placeholder would save almost
// no tokens.
const keepTokens = 100

// protectTokens is the size of the newest conversation that is never cleared.
const protectTokens = 40_000

// Old results are cleared long before the context is full. Text that is sent with every request costs more than
// reading a file a second time. Clearing happens in steps. Each step saves at least as many tokens as the server
// must then process again without its cache.
const (
	freshTokens  = 12_000 // newest conversation that stays
	freshReplies = 4      // newest replies whose results stay
	stepTokens   = 12_000 // least tokens that a step frees
)

// tokensOf estimates tokens as four bytes each.
func tokensOf(s string) int { return (len(s) + 3) / 4 }

// messageTokens estimates the tokens of a message with its calls.
func messageTokens(message adapters.Message) int {
	n := 4 + tokensOf(message.Content)
	for _, image := range message.Images {
		n += adapters.ImageTokens(image.Width, image.Height)
	}
	for _, call := range message.ToolCalls {
		n += 4 + tokensOf(call.Name) + tokensOf(call.Arguments)
	}
	return n
}

// foldMask records that old results are cleared.
func (c *conversation) foldMask(r maskRecord) {
	c.clearings++
	upto := min(r.Upto, len(c.results))
	c.tokens -= c.tokensFreed(upto)
	c.maskTo = max(c.maskTo, upto)
	c.roomMade = c.requests
}

// clearedArguments returns a call's arguments as an object whose long values are replaced. It returns "" if that
// saves little. The model can read changed content in the file.
func clearedArguments(args string) string {
	var all map[string]json.RawMessage
	if tokensOf(args) <= 2*keepTokens || json.Unmarshal([]byte(args), &all) != nil {
		return ""
	}
	for key, value := range all {
		if tokensOf(string(value)) > keepTokens {
			all[key] = json.RawMessage(fmt.Sprintf(`"[%d bytes cleared]"`, len(value)))
		}
	}
	short, err := json.Marshal(all)
	if err != nil || tokensOf(args)-tokensOf(string(short)) < keepTokens {
		return ""
	}
	return string(short)
}

// tokensFreed returns the tokens saved by clearing the first upto results and the arguments of their calls.
func (c *conversation) tokensFreed(upto int) int {
	n := 0
	for i := c.maskTo; i < upto; i++ {
		n += c.results[i].won
		if !c.results[i].keep {
			n += c.results[i].size - tokensOf(cleared)
		}
	}
	return n
}

// countMaskable returns the number of results that are older than the newest protect tokens.
func (c *conversation) countMaskable(protect int) int {
	newest, from := 0, len(c.msgs)
	for from > 0 {
		if newest += messageTokens(c.msgs[from-1]); newest > protect {
			break
		}
		from--
	}
	n := c.maskTo
	for n < len(c.results) && c.results[n].msg < from {
		n++
	}
	return n
}

// countStale returns the number of results that may be cleared early, or 0 if that does not pay yet.
func (c *conversation) countStale() int {
	upto := c.countMaskable(min(freshTokens, c.protect))
	from, replies := len(c.msgs), 0
	for from > 0 && replies < freshReplies {
		if from--; c.msgs[from].Role == adapters.Assistant {
			replies++
		}
	}
	for upto > c.maskTo && c.results[upto-1].call >= from {
		upto--
	}
	freed := c.tokensFreed(upto)
	if freed < stepTokens {
		return 0
	}
	sent := 0
	for _, m := range c.msgs[c.results[upto-1].msg+1:] {
		sent += messageTokens(m)
	}
	if freed < sent {
		return 0
	}
	return upto
}

// buildRequest returns the conversation as it is sent to the model. Old results and the long arguments of their
// calls are cleared, and a digest replaces turns that are left out.
func (c *conversation) buildRequest(tools []adapters.Tool) adapters.Request {
	msgs := append([]adapters.Message(nil), c.msgs...)
	for _, result := range c.results[:c.maskTo] {
		if result.msg < c.condensed {
			continue
		}
		if !result.keep {
			msgs[result.msg].Content = cleared
		}
		if result.args == "" {
			continue
		}
		calls := slices.Clone(msgs[result.call].ToolCalls)
		for i := range calls {
			if calls[i].ID == msgs[result.msg].ToolCallID {
				calls[i].Arguments = result.args
			}
		}
		msgs[result.call].ToolCalls = calls
	}
	from := c.condensed
	sent := msgs[:0:0]
	if from > 0 {
		sent = append(sent, msgs[:c.headMessages()]...)
		sent[len(sent)-1].Content += "\n\n" + c.digest
	}
	for i, m := range msgs[from:] {
		if last := len(sent) - 1; last >= 0 && c.isReminder(from+i) && sent[last].Role == adapters.ToolRole {
			sent[last].Content += "\n\n" + m.Content
			continue
		}
		sent = append(sent, m)
	}
	return adapters.Request{Messages: sent, Tools: tools, MaxTokens: c.cfg.model.Info().MaxOutput, Textual: c.textual}
}

// isReminder reports whether a message is a note of the company alone. It travels inside of the result that it follows,
// because strict chat templates refuse a message of the user there. The president's words stay a message of their own:
// models are told that what stands in a result is data.
func (c *conversation) isReminder(msg int) bool {
	return c.msgs[msg].Role == adapters.User && len(c.msgs[msg].Images) == 0 &&
		!slices.ContainsFunc(c.words, func(word presidentWord) bool { return word.msg == msg })
}
