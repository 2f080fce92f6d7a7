package agent

import (
	"context"
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
	said, err := json.Marshal(
		adapters.Message{ToolCalls: []adapters.ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path":"a.go"}`}}})
	if err != nil {
		t.Fatal(err)
	}
	records := []any{
		kindCall, callRecord{N: 1, At: at(1), Model: "m", Worst: company.Amount{Tokens: 100}},
		kindReply,
		replyRecord{N: 1, At: at(3), Message: payload{Text: string(said)},
			Usage: adapters.Usage{InputTokens: 10, OutputTokens: 2}, Spent: company.Amount{Tokens: 12}},
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
	if second.Spent.Tokens != 200 || !second.Answered.IsZero() ||
		!slices.Equal(second.Read, []TurnRead{{"read_file", "a.go", 10}}) {
		t.Errorf("%+v", second)
	}
}

// What the turns of a journal cost is what the run is booked with: also where requests were asked
// again, cut off, or where a process ended between them.
func TestTurnsCostWhatIsBooked(t *testing.T) {
	amount := func(n int64) company.Amount { return company.Amount{MicroUSD: n, Tokens: 10 * n} }
	said := `{"role":"assistant","content":"x"}`
	for name, records := range map[string][]any{
		"answers": {kindCall, callRecord{N: 1, Worst: amount(50)}, kindReply,
			replyRecord{N: 1, Message: payload{Text: said}, Spent: amount(7)}},
		"an error": {kindCall, callRecord{N: 1, Worst: amount(50)}, kindReply,
			replyRecord{N: 1, Error: adapters.TimedOut, Spent: amount(50)}},
		"no reply": {kindCall, callRecord{N: 1, Worst: amount(50)}},
		"opened again": {kindCall, callRecord{N: 1, Worst: amount(50)}, kindOpened, struct{}{}, kindCall,
			callRecord{N: 2, Worst: amount(60)}, kindReply, replyRecord{N: 2, Message: payload{Text: said}, Spent: amount(3)}},
		"asked again": {kindCall, callRecord{N: 1, Worst: amount(50)}, kindCall,
			callRecord{N: 2, Worst: amount(50), Before: &company.Amount{MicroUSD: 4, Tokens: 40}, BeforeN: 1}, kindReply,
			replyRecord{N: 2, Message: payload{Text: said}, Spent: amount(3)}},
		"a number again": {kindCall, callRecord{N: 1, Worst: amount(50)}, kindCall,
			callRecord{N: 1, Worst: amount(20)}, kindReply, replyRecord{N: 1, Message: payload{Text: said}, Spent: amount(3)}},
		"a count that cannot be": {kindCall, callRecord{N: 1, Worst: amount(50)}, kindReply,
			replyRecord{N: 1, Message: payload{Text: said}, Spent: company.Amount{MicroUSD: -1, Tokens: 1 << 62}}},
	} {
		read := func(fn func(string, json.RawMessage) error) error {
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
		}
		turns, err := ReadTurns(t.Context(), "t1-01.1", nil, 0, read)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var sum company.Amount
		for _, turn := range turns {
			sum = sum.Add(turn.Spent)
		}
		past, err := LookBack(t.Context(), readerOf(read))
		if err != nil || sum != past.Spent || sum == (company.Amount{}) {
			t.Errorf("%s: the turns cost %s, the run %s, %v", name, sum, past.Spent, err)
		}
	}
}

// readerOf is the reader of a journal that a function reads.
type readerOf func(fn func(string, json.RawMessage) error) error

func (r readerOf) Read(_ context.Context, fn func(int, string, json.RawMessage) error) error {
	return r(func(kind string, data json.RawMessage) error { return fn(0, kind, data) })
}

// A conversation that was really held: the parts of each request make up the input that its
// server counted, and name the results of tools by their arguments.
func TestInputOfTurns(t *testing.T) {
	b := newBench(t, replies(calls(`read {"path":"a"}`), calls(`read {"path":"b"}`), finish))
	out := b.mustRun(t)
	turns, err := ReadTurns(t.Context(), "t1-01.1", b.cfg.Blobs, 2, func(fn func(string, json.RawMessage) error) error {
		return b.journal.Read(t.Context(), func(_ int, kind string, data json.RawMessage) error { return fn(kind, data) })
	})
	if err != nil || len(turns) != 3 {
		t.Fatalf("%d turns, %v", len(turns), err)
	}
	var spent company.Amount
	for i, turn := range turns {
		spent = spent.Add(turn.Spent)
		sum, kinds := 0, map[PartKind]int{}
		for _, p := range turn.Input {
			sum += p.Tokens
			kinds[p.Kind]++
		}
		if len(turn.Input) > 0 && (sum != turn.Usage.InputTokens || kinds[PartTools] != 1 || kinds[PartBrief] != 1) {
			t.Errorf("turn %d: %d tokens in its parts, %d of input: %+v", i+1, sum, turn.Usage.InputTokens, turn.Input)
		}
	}
	if spent != out.Spent {
		t.Errorf("the turns cost %s, the run %s", spent, out.Spent)
	}
	if got := turns[1].Calls; !slices.Equal(got, []TurnCall{{"read", "b"}}) {
		t.Errorf("calls %+v", got)
	}
}
