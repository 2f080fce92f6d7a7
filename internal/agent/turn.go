package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// Turn is one request to a model and its outcome.
type Turn struct {
	N        int            `json:"n"` // number of the request, from 1; a retry has its own number
	Asked    time.Time      `json:"asked"`
	Answered time.Time      `json:"answered,omitzero"` // zero if no reply is recorded
	Model    string         `json:"model,omitempty"`
	Usage    adapters.Usage `json:"usage"`
	// Spent is the counted cost of the request. A request with an unknown cost counts as its worst case.
	Spent company.Amount `json:"spent"`
	Error adapters.Kind  `json:"error,omitempty"` // the error instead of a reply
	// Read lists the results of tools that were first sent with this request.
	Read []TurnRead `json:"read,omitempty"`
	// Calls are the tool calls of the reply.
	Calls []TurnCall `json:"calls,omitempty"`
	// Input lists the parts of the request. Only the most expensive turns have it.
	Input []InputPart `json:"input,omitempty"`
}

// TurnRead is the result of a tool call.
type TurnRead struct {
	Tool  string `json:"tool"`
	What  string `json:"what,omitempty"` // the most descriptive argument, such as a path
	Bytes int    `json:"bytes"`          // of the result, as shown to the model
}

// TurnCall is a tool call that a reply asked for.
type TurnCall struct {
	Tool string `json:"tool"`
	What string `json:"what,omitempty"` // as in TurnRead
}

// ReadTurns lists the requests of a run from its journal. The most expensive ones, at most dearest of them, also
// list the parts of their input. read calls its function for every record, in order.
func ReadTurns(
	ctx context.Context, run company.RunID, blobs Blobs, dearest int,
	read func(fn func(kind string, data json.RawMessage) error) error,
) ([]Turn, error) {
	t := turnReader{conv: newConversation(config{Job: Job{Run: run}, model: unusedModel{}}.withDefaults()),
		newest: map[int]int{}}
	if err := read(func(kind string, data json.RawMessage) error {
		return t.passRecord(ctx, blobs, kind, data)
	}); err != nil {
		return nil, fmt.Errorf("read the journal of %s: %w", run, err)
	}
	for n, call := range t.conv.open {
		t.addCost(n, call.Worst)
	}
	t.takeApart(dearest)
	return t.turns, nil
}

// turnReader builds turns from the records of a journal. Its conversation counts the cost, so the turns add up
// to the cost of the run.
type turnReader struct {
	conv    *conversation
	turns   []Turn
	sent    []sentContext // one for each turn
	newest  map[int]int   // index in turns of the newest request, by number
	counted int           // settled calls that are counted in turns
	read    int           // results that earlier requests held
	tools   int           // tokens of the tools' descriptions
}

func (t *turnReader) passRecord(ctx context.Context, blobs Blobs, kind string, data json.RawMessage) error {
	messages := len(t.conv.msgs)
	if err := t.conv.foldRecord(ctx, blobs, kind, data); err != nil {
		return err
	}
	for ; t.counted < len(t.conv.settled); t.counted++ {
		call := t.conv.settled[t.counted]
		t.addCost(call.n, call.cost)
	}
	switch kind {
	case kindPrompt:
		var r promptRecord
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		t.tools = cmp.Or(t.tools, r.ToolTokens)
	case kindCall:
		var r callRecord
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		t.newest[r.N] = len(t.turns)
		t.turns = append(t.turns, Turn{N: r.N, Asked: r.At, Model: r.Model, Read: t.freshResults()})
		t.sent = append(t.sent, t.conv.noteContext())
	case kindReply:
		var r replyRecord
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		i, ok := t.newest[r.N]
		if !ok {
			return nil
		}
		turn := &t.turns[i]
		turn.Answered = r.At
		turn.Usage = r.Usage
		turn.Error = r.Error
		for _, m := range t.conv.msgs[messages:] {
			for _, call := range m.ToolCalls {
				turn.Calls = append(turn.Calls,
					TurnCall{Tool: safetext.EscapeLine(call.Name, 64), What: shownArgument(call.Arguments)})
			}
		}
	}
	return nil
}

// addCost adds a cost to the newest request with a number.
func (t *turnReader) addCost(n int, cost company.Amount) {
	if i, ok := t.newest[n]; ok {
		t.turns[i].Spent = t.turns[i].Spent.Add(cost)
	}
}

// freshResults lists the results that no earlier request held.
func (t *turnReader) freshResults() (fresh []TurnRead) {
	for ; t.read < len(t.conv.results); t.read++ {
		call := t.conv.log.ToolCalls[t.read]
		shown := t.conv.msgs[t.conv.results[t.read].msg].Content
		fresh = append(
			fresh, TurnRead{Tool: safetext.EscapeLine(call.Name, 64), What: shownArgument(call.Arguments), Bytes: len(shown)})
	}
	return fresh
}

// takeApart lists the parts of the input of the most expensive turns.
func (t *turnReader) takeApart(dearest int) {
	order := make([]int, len(t.turns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return CompareCosts(t.turns[b].Spent, t.turns[a].Spent) })
	for _, i := range order[:min(dearest, len(order))] {
		t.turns[i].Input = t.conv.listParts(t.sent[i], t.tools, t.turns[i].Usage.InputTokens)
	}
}

// CompareCosts compares money first, and then tokens.
func CompareCosts(a, b company.Amount) int {
	return cmp.Or(cmp.Compare(a.MicroUSD, b.MicroUSD), cmp.Compare(a.Tokens, b.Tokens))
}

// shownArgument returns the main argument of a call, escaped for people.
func shownArgument(arguments string) string {
	return safetext.EscapeLine(mainArgument(arguments), 200)
}
