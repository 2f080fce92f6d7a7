package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
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

// keepOpaque returns what goes back to the same model.
func (r *reply) keepOpaque(model string) opaque {
	out := opaque{Model: model, Message: r.kept.joinMembers()}
	if r.reasoning.Len() > 0 {
		if out.Message == nil {
			out.Message = exchange.Members{}
		}
		out.Message[cmp.Or(r.field, reasoningContent)] = encodeJSON(r.reasoning.String())
	}
	seen := map[string]bool{}
	for i, call := range r.calls {
		isOdd := call.id != "" && adapters.WireName(call.id) != call.id && !seen[call.id]
		seen[call.id] = true
		if isOdd || call.kept.pieces != nil || call.function.pieces != nil {
			out.Calls = append(out.Calls, make([]callMembers, i+1-len(out.Calls))...)
			out.Calls[i] = callMembers{Call: call.kept.joinMembers(), Function: call.function.joinMembers()}
		}
		if isOdd {
			out.Calls[i].ID = call.id
		}
	}
	return out
}

func encodeJSON(v any) json.RawMessage {
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
			k.addPiece(name, raw)
		}
	}
}

// addPiece adds a member, or a piece of it.
func (k *kept) addPiece(name string, raw json.RawMessage) {
	if exchange.IsEmpty(raw) {
		return
	}
	if k.pieces == nil {
		k.pieces = map[string][]json.RawMessage{}
	}
	k.size += len(name) + len(raw)
	k.pieces[name] = append(k.pieces[name], raw)
}

// joinMembers returns the members, whole, or nil without any.
func (k *kept) joinMembers() exchange.Members {
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
	object := map[string]any{}
	for _, piece := range pieces {
		same = same && bytes.Equal(piece, last)
		switch piece[0] {
		case '"':
			text.Add(piece)
		case '[':
			list = appendElements(list, piece)
		case '{':
			mergeObjects(object, decodeObject(piece))
		}
	}
	switch {
	case same:
		return last
	case list != nil:
		out := make([]json.RawMessage, 0, len(list))
		for _, e := range list {
			out = append(out, e.joinTexts())
		}
		return encodeJSON(out)
	case len(object) > 0:
		return encodeJSON(object)
	case text.Len() > 0:
		return encodeJSON(text.String())
	}
	return last
}

// decodeObject decodes an object. Its numbers stay as they are written.
func decodeObject(raw json.RawMessage) map[string]any {
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	_ = decoder.Decode(&object) // it is an object
	return object
}

// mergeObjects adds the members of an object to another one, and those of the objects in it. An empty value replaces
// none. A stream has thousands of pieces, so each is decoded once, and the whole is encoded once.
func mergeObjects(into, more map[string]any) {
	for name, value := range more {
		was, known := into[name]
		inner, wasObject := was.(map[string]any)
		added, isObject := value.(map[string]any)
		switch {
		case wasObject && isObject:
			mergeObjects(inner, added)
		case !known || !isEmptyValue(value):
			into[name] = value
		}
	}
}

// isEmptyValue reports whether a decoded value says nothing.
func isEmptyValue(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
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

// joinTexts returns the element with all its pieces.
func (e *element) joinTexts() json.RawMessage {
	if e.texts == nil {
		return e.raw
	}
	for name, text := range e.texts {
		if text.Len() > 0 {
			e.members[name] = encodeJSON(text.String())
		}
	}
	return encodeJSON(e.members)
}
