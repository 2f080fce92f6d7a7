package agent

import (
	"encoding/json"
	"fmt"
	"slices"

	"company/internal/adapters"
	"company/internal/company"
)

// result is a tool's result in the conversation, as far as its size counts.
type result struct {
	msg     int    // index in msgs
	size    int    // tokens
	keep    bool   // nothing to win by clearing it
	lasts   bool   // the tool asked to keep it
	path    string // the file that it is about; empty: none is known
	changed bool   // it changed the workspace
	call    int    // index in msgs of the reply that asked
	pointer bool   // the model is shown the difference from the result of an earlier call, or that there is none
	// argsHash is hashArguments of the call. Its arguments may be large, and each later call is
	// compared with it.
	argsHash company.Hash
	args     string // the call's arguments once they are cleared; empty: they stay
	won      int    // tokens that clearing the arguments wins
}

// cleared stands in the place of an old result.
const cleared = "[Old tool result content cleared. Call the tool again if you need it.]"

// keepTokens is the size up to which a tool result is never cleared: the
// placeholder would save next to nothing.
const keepTokens = 100

// protectTokens is how much of the newest conversation is never cleared.
const protectTokens = 40_000

// Long before the context is full, old results are cleared: a text that goes with every
// request costs more than a file that an agent reads a second time. It is done in steps, each of
// which wins as much as the server has to read anew for it.
const (
	freshTokens  = 12_000 // newest conversation that stays
	freshReplies = 4      // newest replies whose results stay
	stepTokens   = 12_000 // freed at once, at least
)

// tokensOf is the usual rough count: four bytes are a token.
func tokensOf(s string) int { return (len(s) + 3) / 4 }

// messageTokens is the size of a message with its calls.
func messageTokens(m adapters.Message) int {
	n := 4 + tokensOf(m.Content)
	for _, image := range m.Images {
		n += adapters.ImageTokens(image.Width, image.Height)
	}
	for _, call := range m.ToolCalls {
		n += 4 + tokensOf(call.Name) + tokensOf(call.Arguments)
	}
	return n
}

// foldMask folds that old results are cleared.
func (c *conversation) foldMask(r maskRecord) {
	c.clearings++
	upto := min(r.Upto, len(c.results))
	c.tokens -= c.tokensFreed(upto)
	c.maskTo = max(c.maskTo, upto)
	c.roomMade = c.requests
}

// clearedArguments are a call's arguments with their long values left out, as
// an object that servers take; empty when there is little to win. What a file
// was changed to can be read in the file.
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

// tokensFreed is how many tokens masking the first upto results, with the arguments
// of their calls, would save.
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

// countMaskable is how many results are older than the newest protect tokens.
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

// countStale is how many results may be cleared early; 0: it is not worth it yet.
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
	anew := 0
	for _, m := range c.msgs[c.results[upto-1].msg+1:] {
		anew += messageTokens(m)
	}
	if freed < anew {
		return 0
	}
	return upto
}

// buildRequest is what the model is sent: the conversation with its old results
// cleared, the long arguments of their calls too, and a digest in the place of turns
// that are left out.
func (c *conversation) buildRequest(tools []adapters.Tool) adapters.Request {
	msgs := append([]adapters.Message(nil), c.msgs...)
	for _, r := range c.results[:c.maskTo] {
		if r.msg < c.condensed {
			continue
		}
		if !r.keep {
			msgs[r.msg].Content = cleared
		}
		if r.args == "" {
			continue
		}
		calls := slices.Clone(msgs[r.call].ToolCalls)
		for i := range calls {
			if calls[i].ID == msgs[r.msg].ToolCallID {
				calls[i].Arguments = r.args
			}
		}
		msgs[r.call].ToolCalls = calls
	}
	if c.condensed > 0 {
		head := c.headMessages()
		msgs[head-1].Content += "\n\n" + c.digest
		msgs = slices.Delete(msgs, head, c.condensed)
	}
	return adapters.Request{Messages: msgs, Tools: tools, MaxTokens: c.cfg.model.Info().MaxOutput, Textual: c.textual}
}
