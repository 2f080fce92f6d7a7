package agent

import (
	"encoding/json"
	"math/rand"
	"testing"

	"company/internal/adapters"
	"company/internal/company"
)

func tokens(n int64) company.Amount { return company.Amount{MicroUSD: n, Tokens: n} }

// journalOf makes a journal of records.
func journalOf(t *testing.T, kindsAndRecords ...any) *journal {
	t.Helper()
	j := &journal{}
	for i := 0; i < len(kindsAndRecords); i += 2 {
		if _, err := j.Append(t.Context(), kindsAndRecords[i].(string), kindsAndRecords[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// Requests may run side by side: each reply settles the call with its number and no other one.
func TestParallelCallsAreSettledOneByOne(t *testing.T) {
	call := func(n int, model string) callRecord { return callRecord{N: n, Model: model, Worst: tokens(100)} }
	reply := func(n int, cost int64) replyRecord {
		return replyRecord{N: n, Spent: tokens(cost), Error: adapters.MalformedReply,
			Usage: adapters.Usage{InputTokens: int(cost)}}
	}
	ten := tokens(10)
	for name, c := range map[string]struct {
		journal *journal
		want    int64
		byModel []company.ModelSpent
	}{
		"both replies in order": {journalOf(
			t, kindCall, call(1, "a"), kindCall, call(2, "b"), kindReply, reply(1, 10), kindReply, reply(2, 10)), 20,
			[]company.ModelSpent{{Model: "a", Spent: tokens(10), Input: 10}, {Model: "b", Spent: tokens(10), Input: 10}}},
		"the second reply first": {journalOf(
			t, kindCall, call(1, "a"), kindCall, call(2, "b"), kindReply, reply(2, 20), kindReply, reply(1, 10)), 30,
			[]company.ModelSpent{{Model: "b", Spent: tokens(20), Input: 20}, {Model: "a", Spent: tokens(10), Input: 10}}},
		"one reply": {journalOf(t, kindCall, call(1, "a"), kindCall, call(2, "b"), kindReply, reply(2, 10)), 110,
			[]company.ModelSpent{{Model: "b", Spent: tokens(10), Input: 10}}},
		"a retry beside another call": {journalOf(t, kindCall, call(1, "a"), kindCall, call(2, "b"),
			kindCall, callRecord{N: 3, Model: "a", Worst: tokens(100), Before: &ten, BeforeN: 1}, kindReply, reply(2, 10),
			kindReply, reply(3, 10)), 30,
			[]company.ModelSpent{{Model: "a", Spent: tokens(20), Input: 10}, {Model: "b", Spent: tokens(10), Input: 10}}},
		"a new process": {journalOf(t, kindOpened, struct{}{}, kindCall, call(1, "a"), kindCall, call(2, "b"), kindOpened,
			struct{}{}, kindCall, call(3, "a"), kindReply, reply(3, 10)), 210,
			[]company.ModelSpent{{Model: "a", Spent: tokens(110), Input: 10}, {Model: "b", Spent: tokens(100)}}},
		"a number that was used": {journalOf(t, kindCall, call(1, "a"), kindCall, call(1, "a"), kindReply, reply(1, 10)), 110,
			[]company.ModelSpent{{Model: "a", Spent: tokens(110), Input: 10}}},
	} {
		past, err := LookBack(t.Context(), c.journal)
		if err != nil || past.Spent != tokens(c.want) {
			t.Errorf("%s: %v were spent (%v), want %d", name, past.Spent, err, c.want)
		}
		conv := newConversation(config{model: unusedModel{}}.withDefaults())
		err = c.journal.Read(t.Context(), func(_ int, kind string, data json.RawMessage) error {
			return conv.foldRecord(t.Context(), nil, kind, data)
		})
		if err != nil || conv.buildOutcome().Spent != tokens(c.want) {
			t.Errorf("%s: the conversation spent %v (%v), want %d", name, conv.buildOutcome().Spent, err, c.want)
		}
		requireEqual(t, conv.byModel, c.byModel)
	}
}

// Whatever the order of calls and replies: what was spent is the sum of the replies and of the
// worst cases without a reply, and never less than before a process died.
func TestParallelCallsAddUp(t *testing.T) {
	for seed := range int64(200) {
		r := rand.New(rand.NewSource(seed))
		j, open, want := journalOf(t), map[int]int64{}, int64(0)
		for n := 1; n <= 30; n++ {
			worst := int64(1 + r.Intn(100))
			open[n] = worst
			if _, err := j.Append(t.Context(), kindCall, callRecord{N: n, Worst: tokens(worst)}); err != nil {
				t.Fatal(err)
			}
			for m, worst := range open {
				if r.Intn(3) > 0 {
					continue
				}
				cost := int64(r.Intn(int(worst) + 1))
				want += cost
				delete(open, m)
				if _, err := j.Append(t.Context(), kindReply,
					replyRecord{N: m, Spent: tokens(cost), Error: adapters.MalformedReply}); err != nil {
					t.Fatal(err)
				}
			}
			if r.Intn(10) == 0 {
				if _, err := j.Append(t.Context(), kindOpened, struct{}{}); err != nil {
					t.Fatal(err)
				}
				for m, worst := range open {
					want += worst
					delete(open, m)
				}
			}
		}
		for _, worst := range open {
			want += worst
		}
		if past, err := LookBack(t.Context(), j); err != nil || past.Spent != tokens(want) {
			t.Fatalf("seed %d: %v (%v), want %d", seed, past.Spent, err, want)
		}
	}
}

// A recording has each reply with the request that it answers.
func TestRecordingPairsParallelCalls(t *testing.T) {
	reply := func(n int) replyRecord {
		return replyRecord{N: n, Error: adapters.MalformedReply}
	}
	j := journalOf(t, kindCall, callRecord{N: 1, Request: "first"}, kindCall, callRecord{N: 2, Request: "second"},
		kindReply, reply(1), kindReply, reply(2))
	rec, err := ReadRecording(t.Context(), nil, func(fn func(string, json.RawMessage) error) error {
		return j.Read(t.Context(), func(_ int, kind string, data json.RawMessage) error { return fn(kind, data) })
	})
	if err != nil || len(rec.Exchanges) != 2 || rec.Exchanges[0].Request != "first" ||
		rec.Exchanges[1].Request != "second" {
		t.Errorf("%+v, %v", rec.Exchanges, err)
	}
}
