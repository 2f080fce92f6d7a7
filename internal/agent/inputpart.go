package agent

import (
	"cmp"
	"slices"
	"strings"

	"company/internal/adapters"
	"company/internal/safetext"
)

// PartKind names what a part of a request is.
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
	PartCleared      PartKind = "cleared"      // lines in place of old results
	PartRest         PartKind = "rest"         // smaller parts together
)

// InputPart is a part of a request. Parts with the same kind, tool and argument are one.
type InputPart struct {
	Kind PartKind `json:"kind"`
	Tool string   `json:"tool,omitempty"` // of a call, or of its result
	What string   `json:"what,omitempty"` // the argument that says most, such as a path
	N    int      `json:"n"`              // how many messages or calls are in it
	// Tokens are estimated by length. They are scaled so that all parts together are what the
	// server counted.
	Tokens int `json:"tokens"`
}

// mostParts bounds the parts of one request. The smallest ones become PartRest.
const mostParts = 12

// sentContext describes the context of a request at that time. Messages are never changed but for
// the newest one, to which notes may be added.
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

// listParts takes the input of an earlier request apart, the largest part first. input is what the
// server counted.
func (c *conversation) listParts(s sentContext, tools, input int) []InputPart {
	p := partSum{}
	p.add(InputPart{Kind: PartTools}, tools)
	if s.digest > 0 && s.condensed > 0 {
		p.add(InputPart{Kind: PartDigest}, s.digest)
	}
	results := map[int]int{} // by message
	for i, r := range c.results {
		results[r.msg] = i
	}
	won := map[string]int{} // of calls whose arguments were cleared
	for _, r := range c.results[:min(s.masked, len(c.results))] {
		won[c.msgs[r.msg].ToolCallID] = r.won
	}
	head := c.headMessages()
	for i, m := range c.msgs[:s.messages] {
		if head >= 0 && i >= head && i < s.condensed {
			continue
		}
		size := messageTokens(m)
		if i == s.messages-1 {
			size = s.last
		}
		switch m.Role {
		case adapters.System:
			p.add(InputPart{Kind: PartInstructions}, size)
		case adapters.Assistant:
			for _, call := range m.ToolCalls {
				n := 4 + tokensOf(call.Name) + tokensOf(call.Arguments)
				size -= n
				p.add(InputPart{Kind: PartCall, Tool: call.Name, What: shownArgument(call.Arguments)}, n-won[call.ID])
			}
			p.add(InputPart{Kind: PartReply}, size)
		case adapters.ToolRole:
			at, ok := results[i]
			if ok && at < s.masked && !c.results[at].keep {
				p.add(InputPart{Kind: PartCleared}, 4+tokensOf(cleared))
				continue
			}
			what := ""
			if ok {
				what = shownArgument(c.log.ToolCalls[at].Arguments)
			}
			p.add(InputPart{Kind: PartResult, Tool: m.ToolName, What: what}, size)
		default:
			if head >= 0 && i >= head {
				p.add(InputPart{Kind: PartNote}, size)
				continue
			}
			for _, shown := range c.atFirst {
				if n := tokensOf(shown.Text); n <= size && strings.Contains(m.Content, shown.Text) {
					size -= n
					p.add(InputPart{Kind: PartShown, Tool: shown.Tool, What: shownArgument(shown.Arguments)}, n)
				}
			}
			p.add(InputPart{Kind: PartBrief}, size)
		}
	}
	return p.listLargest(input)
}

// partSum sums parts up by kind, tool and argument.
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

// listLargest lists the largest parts, scaled to a count of tokens; 0 leaves the estimate.
func (p partSum) listLargest(count int) []InputPart {
	var out []InputPart
	for _, part := range p {
		out = append(out, part)
	}
	slices.SortFunc(out, func(a, b InputPart) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Tool, b.Tool), strings.Compare(a.What, b.What))
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
