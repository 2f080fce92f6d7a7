package agent

import (
	"cmp"
	"slices"
	"strings"

	"company/internal/adapters"
	"company/internal/lib/safetext"
)

// PartKind names the kind of a part of a request.
type PartKind string

const (
	PartInstructions PartKind = "instructions" // the system message
	PartTools        PartKind = "tools"        // the descriptions of the tools
	PartBrief        PartKind = "brief"        // the first message, without the results that it shows
	PartShown        PartKind = "shown"        // a tool's result that the first message shows
	PartResult       PartKind = "result"       // a tool's result
	PartCall         PartKind = "call"         // a call as the model wrote it, with its arguments
	PartReply        PartKind = "reply"        // text of earlier replies
	PartNote         PartKind = "note"         // messages of the company and of the president
	PartDigest       PartKind = "digest"       // a summary of turns that left the context
	PartCleared      PartKind = "cleared"      // placeholders of old results
	PartRest         PartKind = "rest"         // all smaller parts together
)

// InputPart is a part of a request. Parts with the same kind, tool and argument are combined.
type InputPart struct {
	Kind PartKind `json:"kind"`
	Tool string   `json:"tool,omitempty"` // of a call, or of its result
	What string   `json:"what,omitempty"` // the most descriptive argument, such as a path
	N    int      `json:"n"`              // number of messages or calls in it
	// Tokens are estimated by length. They are scaled so that all parts add up to the server's count.
	Tokens int `json:"tokens"`
}

// mostParts limits the parts of one request. The smallest ones are combined into PartRest.
const mostParts = 12

// sentContext describes the context of a request when it was sent. Later only the newest message changes, when
// notes are added to it.
type sentContext struct {
	messages  int
	last      int // tokens of the newest message
	masked    int // results that were cleared
	condensed int // messages before this one were left out
	digest    int // tokens
}

func (c *conversation) noteContext() sentContext {
	s := sentContext{messages: len(c.msgs), masked: c.maskTo, condensed: c.condensed, digest: tokensOf(c.digest)}
	if s.messages > 0 {
		s.last = messageTokens(c.msgs[s.messages-1])
	}
	return s
}

// listParts splits the input of an earlier request into parts, largest first. input is the server's count of
// tokens.
func (c *conversation) listParts(s sentContext, tools, input int) []InputPart {
	p := partSum{}
	p.add(InputPart{Kind: PartTools}, tools)
	if s.digest > 0 && s.condensed > 0 {
		p.add(InputPart{Kind: PartDigest}, s.digest)
	}
	results := map[int]int{} // index of the result by message
	for i, r := range c.results {
		results[r.msg] = i
	}
	won := map[string]int{} // tokens saved, by call with cleared arguments
	for _, r := range c.results[:min(s.masked, len(c.results))] {
		won[c.msgs[r.msg].ToolCallID] = r.won
	}
	head := c.headMessages()
	for i, message := range c.msgs[:s.messages] {
		if head >= 0 && i >= head && i < s.condensed {
			continue
		}
		size := messageTokens(message)
		if i == s.messages-1 {
			size = s.last
		}
		switch message.Role {
		case adapters.System:
			p.add(InputPart{Kind: PartInstructions}, size)
		case adapters.Assistant:
			for _, call := range message.ToolCalls {
				n := 4 + tokensOf(call.Name) + tokensOf(call.Arguments)
				size -= n
				p.add(InputPart{Kind: PartCall, Tool: call.Name, What: shownArgument(call.Arguments)}, n-won[call.ID])
			}
			p.add(InputPart{Kind: PartReply}, size)
		case adapters.ToolRole:
			index, ok := results[i]
			if ok && index < s.masked && !c.results[index].keep {
				p.add(InputPart{Kind: PartCleared}, 4+tokensOf(cleared))
				continue
			}
			what := ""
			if ok {
				what = shownArgument(c.log.ToolCalls[index].Arguments)
			}
			p.add(InputPart{Kind: PartResult, Tool: message.ToolName, What: what}, size)
		default:
			if head >= 0 && i >= head {
				p.add(InputPart{Kind: PartNote}, size)
				continue
			}
			for _, shown := range c.atFirst {
				if n := tokensOf(shown.Text); n <= size && strings.Contains(message.Content, shown.Text) {
					size -= n
					p.add(InputPart{Kind: PartShown, Tool: shown.Tool, What: shownArgument(shown.Arguments)}, n)
				}
			}
			p.add(InputPart{Kind: PartBrief}, size)
		}
	}
	return p.listLargest(input)
}

// partSum adds parts up by kind, tool and argument.
type partSum map[InputPart]InputPart

func (p partSum) add(part InputPart, tokens int) {
	if tokens <= 0 {
		return
	}
	part.Tool = safetext.EscapeLine(part.Tool, 64)
	sum := p[part]
	key := part
	part.N, part.Tokens = sum.N+1, sum.Tokens+tokens
	p[key] = part
}

// listLargest returns the largest parts, scaled to a count of tokens. A count of 0 leaves the estimate.
func (p partSum) listLargest(count int) []InputPart {
	var out []InputPart
	for _, part := range p {
		out = append(out, part)
	}
	slices.SortFunc(out, func(inputPart, b InputPart) int {
		return cmp.Or(cmp.Compare(b.Tokens, inputPart.Tokens), strings.Compare(string(inputPart.Kind), string(b.Kind)),
			strings.Compare(inputPart.Tool, b.Tool), strings.Compare(inputPart.What, b.What))
	})
	if len(out) > mostParts {
		rest := InputPart{Kind: PartRest}
		for _, part := range out[mostParts-1:] {
			rest.N, rest.Tokens = rest.N+part.N, rest.Tokens+part.Tokens
		}
		out = append(out[:mostParts-1], rest)
	}
	total := 0
	for _, part := range out {
		total += part.Tokens
	}
	if count <= 0 || total == 0 {
		return out
	}
	sum, given := 0, 0
	for i := range out {
		sum += out[i].Tokens
		upto := int(float64(count) * (float64(sum) / float64(total)))
		if i == len(out)-1 {
			upto = count
		}
		out[i].Tokens, given = upto-given, upto
	}
	return out
}
