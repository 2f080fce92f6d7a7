package agent

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

// Turns are the requests of a journal, each with what came of it and the results that it was
// the first to hold. One without a reply counts as its worst case.
func TestReadTurns(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 1, 1, 0, 0, s, 0, time.UTC) }
	said, err := json.Marshal(adapters.Message{ToolCalls: []adapters.ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path":"a.go"}`}}})
	if err != nil {
		t.Fatal(err)
	}
	records := []any{
		kindCall, callRecord{N: 1, At: at(1), Model: "m", Worst: company.Amount{Tokens: 100}},
		kindReply, replyRecord{N: 1, At: at(3), Message: payload{Text: string(said)}, Usage: adapters.Usage{InputTokens: 10, OutputTokens: 2}, Spent: company.Amount{Tokens: 12}},
		kindTool, toolRecord{N: 1, CallID: "c1", Name: "read_file", Result: payload{Text: "package a\n"}},
		kindCall, callRecord{N: 2, At: at(4), Model: "m", Worst: company.Amount{Tokens: 200}},
	}
	turns, err := ReadTurns(t.Context(), "t1-01.1", nil, 0, func(fn func(string, json.RawMessage) error) error {
		for pair := range slices.Chunk(records, 2) {
			text, err := json.Marshal(pair[1])
			if err != nil {
				return err
			}
			if err := fn(pair[0].(string), text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(turns) != 2 {
		t.Fatalf("%+v, %v", turns, err)
	}
	first, second := turns[0], turns[1]
	if first.Spent.Tokens != 12 || !first.Asked.Equal(at(1)) || !first.Answered.Equal(at(3)) || len(first.Read) != 0 {
		t.Errorf("%+v", first)
	}
	if second.Spent.Tokens != 200 || !second.Answered.IsZero() || !slices.Equal(second.Read, []TurnRead{{"read_file", "a.go", 10}}) {
		t.Errorf("%+v", second)
	}
}
