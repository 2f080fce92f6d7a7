package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

// replayRequests folds a journal and gives, for each call in it, the hash of the request
// that the conversation makes at that place, beside the one that the call's record has.
func replayRequests(t *testing.T, b *bench, j *journal) (made, recorded []company.Hash) {
	t.Helper()
	tools, err := newToolset(b.cfg.Tools)
	if err != nil {
		t.Fatal(err)
	}
	conv := newConversation(b.cfg.withDefaults())
	for i, kind := range j.kinds {
		if kind == kindCall {
			var r callRecord
			if err := json.Unmarshal(j.records[i], &r); err != nil {
				t.Fatal(err)
			}
			made, recorded = append(made, RequestHash(conv.buildRequest(tools.specs))), append(recorded, r.Request)
		}
		if err := conv.foldRecord(t.Context(), b.blobs, kind, j.records[i]); err != nil {
			t.Fatal(err)
		}
	}
	return made, recorded
}

// The requests of a run can be made again from its journal: each has the hash that was
// recorded before it went out, also with a crash in between, old results cleared, and
// what a server wants back.
func TestRequestsAreReplayedFromTheJournal(t *testing.T) {
	b := newBench(t, resumeScript())
	b.model.info.ContextTokens = 9000 // old results are cleared on the way
	opaque := b.model.reply
	b.model.reply = func(n int, req adapters.Request) (adapters.Response, error) {
		r, err := opaque(n, req)
		r.Message.Opaque, r.FirstByte = json.RawMessage(`{"signature":"x<y>","at":1.50}`), 7*time.Millisecond
		return r, err
	}
	b.mustRun(t)
	check := func(b *bench, j *journal) {
		t.Helper()
		made, recorded := replayRequests(t, b, j)
		if len(made) != j.count(kindCall) || len(made) < 5 {
			t.Fatalf("%d of %d requests", len(made), j.count(kindCall))
		}
		for i := range made {
			if made[i] != recorded[i] || len(made[i]) != 64 {
				t.Fatalf("request %d is %s, and was recorded as %s", i+1, made[i], recorded[i])
			}
		}
	}
	check(b, b.journal)
	for i, req := range b.model.requests {
		if _, recorded := replayRequests(t, b, b.journal); RequestHash(req) != recorded[i] {
			t.Fatalf("request %d went out as %s, and was recorded as %s", i+1, RequestHash(req), recorded[i])
		}
	}
	if !strings.Contains(string(b.journal.records[2]), `"first_byte_ms":7`) {
		t.Errorf("the first reply is recorded as %s", b.journal.records[2])
	}
	other := b.model.requests[1]
	hash := RequestHash(other)
	if other.MaxTokens++; RequestHash(other) == hash {
		t.Error("another request has the same hash")
	}

	next := newBench(t, resumeScript())
	next.journal = b.journal.prefix(12)
	next.cfg.Journal, next.blobs, next.cfg.Blobs = next.journal, b.blobs, b.blobs
	next.mustRun(t)
	check(next, next.journal)
}

// What a conversation began with is named by one hash, which a later holder finds in the
// journal, whatever it would begin with itself.
func TestPromptHash(t *testing.T) {
	b := newBench(t, replies(finish))
	b.mustRun(t)
	past, err := LookBack(t.Context(), b.journal)
	if err != nil || past.Prompt != PromptHash(b.cfg.System, b.cfg.First) || len(past.Prompt) != 64 {
		t.Fatalf("%q, %v", past.Prompt, err)
	}
	if one, again := PromptHash("a", "b"), PromptHash("a", "b"); one != again || one == PromptHash("ab", "") {
		t.Error("two prompts have one hash, or one has two")
	}
}

// ADP-6: the names that a server gives to its model are evidence, and so is how much
// of the input it read from its cache. A reply without a count counts nowhere.
func TestServedModelsAndCacheAreCounted(t *testing.T) {
	turns := []struct {
		model     string
		in, cache int
		estimated bool
	}{{"m", 100, 0, false}, {"m-2030-01", 200, 150, false}, {"m-2030-01", 300, 250, true}, {"cheaper", 400, 300, false}}
	var script []adapters.Response
	for i, turn := range turns {
		r := calls(fmt.Sprintf(`read {"path":"%d"}`, i))
		r.Model = turn.model
		r.Usage = adapters.Usage{InputTokens: turn.in, CachedTokens: turn.cache, OutputTokens: 5, Estimated: turn.estimated}
		script = append(script, r)
	}
	last := finish
	last.Model = "cheaper"
	b := newBench(t, replies(append(script, last)...))
	out := b.mustRun(t)
	want := company.ModelSpent{Model: "m", Spent: out.Spent, Input: 710, Cached: 450,
		Served: []string{"m-2030-01", "cheaper"}}
	requireEqual(t, out.ByModel, []company.ModelSpent{want})
}
