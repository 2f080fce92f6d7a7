package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"company/internal/adapters/exchange"
	"company/internal/lib/lazyregexp"
)

// opaque is the content of Message.Opaque for this wire: what the server hung on its reply beside the text and the
// calls. Some servers refuse a conversation that lacks it (Gemini's thought signatures). Another model cannot read it.
type opaque struct {
	Model   string           `json:"model"`
	Message exchange.Members `json:"message,omitempty"`
	Calls   []callMembers    `json:"calls,omitempty"` // of the first calls
}

type callMembers struct {
	// ID is the server's, if another one had to be made of it to suit all servers. Kimi's models expect theirs back.
	ID       string           `json:"id,omitempty"`
	Call     exchange.Members `json:"call,omitempty"`
	Function exchange.Members `json:"function,omitempty"`
}

// opaque returns what goes back to the same model.
func (r *reply) opaque(model string) opaque {
	out := opaque{Model: model, Message: r.kept.members()}
	if r.reasoning.Len() > 0 {
		if out.Message == nil {
			out.Message = exchange.Members{}
		}
		out.Message[cmp.Or(r.field, reasoningContent)] = encode(r.reasoning.String())
	}
	seen := map[string]bool{}
	for i, call := range r.calls {
		isOdd := call.id != "" && !plainIDRE.MatchString(call.id) && !seen[call.id]
		seen[call.id] = true
		if isOdd || call.kept.pieces != nil || call.function.pieces != nil {
			out.Calls = append(out.Calls, make([]callMembers, i+1-len(out.Calls))...)
			out.Calls[i] = callMembers{Call: call.kept.members(), Function: call.function.members()}
		}
		if isOdd {
			out.Calls[i].ID = call.id
		}
	}
	return out
}

// plainIDRE matches the ids that the agent leaves as they are.
var plainIDRE = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)

func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil { // unreachable: a text, or JSON that was decoded
		return json.RawMessage("null")
	}
	return data
}

// kept collects members that this wire does not know, with all their pieces.
type kept struct {
	pieces map[string][]json.RawMessage
	size   int // in bytes
}

// addOthers adds the members of an object but for the known ones.
func (k *kept) addOthers(object exchange.Members, known ...string) {
	for name, raw := range object {
		if !slices.Contains(known, name) {
			k.add(name, raw)
		}
	}
}

// add adds a member, or a piece of it.
func (k *kept) add(name string, raw json.RawMessage) {
	if exchange.IsEmpty(raw) {
		return
	}
	if k.pieces == nil {
		k.pieces = map[string][]json.RawMessage{}
	}
	k.size += len(name) + len(raw)
	k.pieces[name] = append(k.pieces[name], raw)
}

// members returns the members, whole, or nil without any.
func (k *kept) members() exchange.Members {
	if k.pieces == nil {
		return nil
	}
	out := exchange.Members{}
	for name, pieces := range k.pieces {
		out[name] = joinPieces(pieces)
	}
	return out
}

// joinPieces joins the pieces in which a stream sends a member. Texts grow, unless each piece is the same. Lists grow.
// An object gets the members of all pieces. Of other values the last one counts.
func joinPieces(pieces []json.RawMessage) json.RawMessage {
	last := pieces[len(pieces)-1]
	var text exchange.Text
	var list []*element
	same := true
	whole := exchange.Members{}
	for _, piece := range pieces {
		same = same && bytes.Equal(piece, last)
		switch piece[0] {
		case '"':
			text.Add(piece)
		case '[':
			list = appendElements(list, piece)
		case '{':
			whole = mergeMembers(whole, exchange.MembersOf(piece))
		}
	}
	switch {
	case same:
		return last
	case list != nil:
		out := make([]json.RawMessage, 0, len(list))
		for _, e := range list {
			out = append(out, e.whole())
		}
		return encode(out)
	case len(whole) > 0:
		return encode(whole)
	case text.Len() > 0:
		return encode(text.String())
	}
	return last
}

// mergeMembers adds the members of an object to another one, and those of the objects in it.
func mergeMembers(into, more exchange.Members) exchange.Members {
	for name, raw := range more {
		if so := exchange.MembersOf(into[name]); so != nil && exchange.MembersOf(raw) != nil {
			raw = encode(mergeMembers(so, exchange.MembersOf(raw)))
		}
		if !exchange.IsEmpty(raw) || into[name] == nil {
			into[name] = raw
		}
	}
	return into
}

// appendElements adds the elements of a list. Its first one may continue the last one so far.
func appendElements(list []*element, more json.RawMessage) []*element {
	var raws []json.RawMessage
	_ = json.Unmarshal(more, &raws) // it is a list
	for i, raw := range raws {
		if last := len(list) - 1; i > 0 || last < 0 || !list[last].continueWith(exchange.MembersOf(raw)) {
			list = append(list, &element{raw: raw, members: exchange.MembersOf(raw)})
		}
	}
	return list
}

// element is one object that may come in pieces.
type element struct {
	raw     json.RawMessage
	members exchange.Members
	texts   map[string]*exchange.Text // nil while there is one piece
}

// growing lists the members of an element that come in pieces.
var growing = []string{"text", "summary", "thinking"}

// continueWith adds a piece. It reports false if the piece is an element of its own: it has another index, type or
// data, or the element is closed by its signature.
func (e *element) continueWith(piece exchange.Members) bool {
	if e.members == nil || piece == nil {
		return false
	}
	for name, raw := range piece {
		isGrowing := slices.Contains(growing, name)
		isOther := !exchange.IsEmpty(raw) && !exchange.IsEmpty(e.members[name]) && !bytes.Equal(e.members[name], raw)
		if isGrowing && !exchange.IsEmpty(raw) && !exchange.IsEmpty(e.members["signature"]) || !isGrowing && isOther {
			return false
		}
	}
	if e.texts == nil {
		e.texts = map[string]*exchange.Text{}
		for _, name := range growing {
			e.texts[name] = &exchange.Text{}
			e.texts[name].Add(e.members[name])
		}
	}
	for name, raw := range piece {
		if slices.Contains(growing, name) {
			e.texts[name].Add(raw)
		} else if exchange.IsEmpty(e.members[name]) {
			e.members[name] = raw
		}
	}
	return true
}

// whole returns the element with all its pieces.
func (e *element) whole() json.RawMessage {
	if e.texts == nil {
		return e.raw
	}
	for name, text := range e.texts {
		if text.Len() > 0 {
			e.members[name] = encode(text.String())
		}
	}
	return encode(e.members)
}
