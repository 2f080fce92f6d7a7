package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/safetext"
)

// Turn is one request to a model and what came of it.
type Turn struct {
	N        int            `json:"n"` // of the request, from 1; one that was asked again has another number
	Asked    time.Time      `json:"asked"`
	Answered time.Time      `json:"answered,omitzero"` // zero: no reply is on record
	Model    string         `json:"model,omitempty"`
	Usage    adapters.Usage `json:"usage"`
	Spent    company.Amount `json:"spent"`
	Error    adapters.Kind  `json:"error,omitempty"` // that came in the place of a reply
	// Read are the results of tools that the request was the first to hold.
	Read []TurnRead `json:"read,omitempty"`
}

// TurnRead is the result of a tool call.
type TurnRead struct {
	Tool  string `json:"tool"`
	What  string `json:"what,omitempty"` // the argument that says most, such as a path
	Bytes int    `json:"bytes"`          // of the result, as the model was shown it
}

// ReadTurns lists the requests of a run from its journal. read calls its function for every
// record, in order.
func ReadTurns(ctx context.Context, run company.RunID, blobs Blobs, read func(fn func(kind string, data json.RawMessage) error) error) ([]Turn, error) {
	var turns []Turn
	var fresh []TurnRead
	calls := map[string]adapters.ToolCall{}
	err := read(func(kind string, data json.RawMessage) error {
		switch kind {
		case kindCall:
			var c callRecord
			if err := json.Unmarshal(data, &c); err != nil {
				return err
			}
			turns = append(turns, Turn{N: c.N, Asked: c.At, Model: c.Model, Spent: c.Worst, Read: fresh})
			fresh = nil
		case kindReply:
			var r replyRecord
			if err := json.Unmarshal(data, &r); err != nil {
				return err
			}
			text, err := r.Message.load(ctx, blobs)
			if err != nil {
				return err
			}
			var said adapters.Message
			if text != "" {
				if err := json.Unmarshal([]byte(text), &said); err != nil {
					return err
				}
			}
			for _, call := range said.ToolCalls {
				calls[call.ID] = call
			}
			for i := range turns {
				if t := &turns[i]; t.N == r.N {
					t.Answered, t.Usage, t.Spent, t.Error = r.At, r.Usage, r.Spent, r.Error
				}
			}
		case kindTool:
			var r toolRecord
			if err := json.Unmarshal(data, &r); err != nil {
				return err
			}
			text, err := r.Result.load(ctx, blobs)
			if err != nil {
				return err
			}
			fresh = append(fresh, TurnRead{Tool: r.Name, What: safetext.EscapeLine(mainArgument(calls[r.CallID].Arguments), 200), Bytes: len(text)})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal of %s: %w", run, err)
	}
	return turns, nil
}
