package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/lib/hosttest"
)

func recordingOf(t *testing.T, b *bench) Recording {
	t.Helper()
	rec, err := ReadRecording(t.Context(), b.blobs, func(fn func(string, json.RawMessage) error) error {
		return b.journal.Read(t.Context(), func(_ int, kind string, data json.RawMessage) error { return fn(kind, data) })
	})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// A recording has each request with its messages and its answer, in order: the messages
// have the hash that was recorded, also where old results were cleared on the way.
func TestRecordingHasRequestsAndAnswers(t *testing.T) {
	b := newBench(t, resumeScript())
	b.model.info.ContextTokens = 9000
	b.mustRun(t)
	rec := recordingOf(t, b)
	if len(rec.Exchanges) != len(b.model.requests) || rec.Window != 9000 || rec.MaxOutput != 1000 || rec.Interrupted ||
		rec.Began.IsZero() {
		t.Fatalf("%d exchanges of %d, %+v", len(rec.Exchanges), len(b.model.requests), rec)
	}
	for i, x := range rec.Exchanges {
		req := b.model.requests[i]
		req.Messages = x.Messages
		if RequestHash(req) != x.Request || x.N != i+1 || x.At.IsZero() {
			t.Fatalf("exchange %d: %+v", i+1, x)
		}
	}
}

// What an interruption leaves in a journal is not part of the recording: wherever the run
// was cut, it has the messages of a run that was not.
func TestRecordingHasNoInterruption(t *testing.T) {
	whole := newBench(t, resumeScript())
	whole.mustRun(t)
	want := recordingOf(t, whole)
	for n := 2; n < len(whole.journal.records); n++ {
		b := newBench(t, resumeScript())
		b.journal = whole.journal.prefix(n)
		b.blobs = whole.blobs
		b.cfg.Journal, b.cfg.Blobs = b.journal, b.blobs
		b.mustRun(t)
		got := recordingOf(t, b)
		if len(got.Exchanges) != len(want.Exchanges) {
			t.Fatalf("cut behind record %d: %d exchanges, want %d", n, len(got.Exchanges), len(want.Exchanges))
		}
		for i := range got.Exchanges {
			if at, differ := CompareMessages(want.Exchanges[i].Messages, got.Exchanges[i].Messages, false); at >= 0 ||
				len(differ) > 0 {
				t.Fatalf("cut behind record %d: message %d of request %d is another", n, at+1, i+1)
			}
		}
	}
}

// TestCompareMessages: times count for nothing, the result of a tool is told apart, and
// every other difference is found at its place.
func TestCompareMessages(t *testing.T) {
	was := []adapters.Message{
		{Role: adapters.System, Content: "work"},
		{Role: adapters.User, Content: "red after 0.31s\n" + Quote(GateOutput, "", "FAIL a\nok b") + "mend it"},
		{Role: adapters.Assistant, Content: "hm", ToolCalls: []adapters.ToolCall{{ID: "c1", Name: "read", Arguments: "{}"}}},
		{Role: adapters.ToolRole, ToolCallID: "c1", ToolName: "read", Content: "ok in 20ms"},
	}
	for _, c := range []struct {
		name   string
		change func(now []adapters.Message) []adapters.Message
		first  int
		differ string
	}{
		{"the same", func(now []adapters.Message) []adapters.Message { return now }, -1, "[]"},
		{"times", func(now []adapters.Message) []adapters.Message {
			now[1].Content, now[3].Content = strings.Replace(now[1].Content, "0.31s", "1.2s", 1), "ok in 7ms"
			return now
		}, -1, "[]"},
		{"a result", func(now []adapters.Message) []adapters.Message { now[3].Content = "pid 17"; return now }, -1, "[3]"},
		{"a result of another call", func(now []adapters.Message) []adapters.Message {
			now[3].ToolCallID = "c2"
			return now
		}, 3, "[]"},
		{"a prompt", func(now []adapters.Message) []adapters.Message { now[0].Content = "work well"; return now }, 0, "[]"},
		{"a call", func(now []adapters.Message) []adapters.Message {
			now[2].ToolCalls = []adapters.ToolCall{{ID: "c1", Name: "read", Arguments: `{"a":1}`}}
			return now
		}, 2, "[]"},
		{"what gates printed", func(now []adapters.Message) []adapters.Message {
			now[1].Content = "red after 2s\n" + Quote(GateOutput, "", "ok b\nFAIL a\n</gate_output>\nok c") + "mend it"
			return now
		}, -1, "[1]"},
		{"a prompt beside it", func(now []adapters.Message) []adapters.Message {
			now[1].Content = "red after 2s\n" + Quote(GateOutput, "", "FAIL a\nok b") + "mend all of it"
			return now
		}, 1, "[]"},
		{"one less", func(now []adapters.Message) []adapters.Message { return now[:3] }, 3, "[]"},
		{"one more", func(now []adapters.Message) []adapters.Message { return append(now, now[1]) }, 4, "[]"},
	} {
		now := c.change(append([]adapters.Message{}, was...))
		if first, differ := CompareMessages(was, now, false); first != c.first ||
			strings.Join(strings.Fields(fmt.Sprint(differ)), " ") != c.differ {
			t.Errorf("%s: %d %v", c.name, first, differ)
		}
	}
	now := append([]adapters.Message{}, was...)
	now[0].Content, now[1].Content = "work well", "red, and why"
	if first, differ := CompareMessages(was, now, true); first != -1 || len(differ) != 2 {
		t.Errorf("other prompts: %d %v", first, differ)
	}
	now[1].Role = adapters.Assistant
	if first, _ := CompareMessages(was, now, true); first != 1 {
		t.Errorf("another role: %d", first)
	}
	now = append([]adapters.Message{}, was...)
	now[2].Content = "hm, hm"
	if first, _ := CompareMessages(was, now, true); first != 2 {
		t.Errorf("another reply: %d", first)
	}
}

// A recording has what left the context, each before its request; a digest's place is the
// one in the recording, which lacks the notes about restarts.
func TestRecordingHasClearings(t *testing.T) {
	hosttest.NotRaced(t, "a long conversation; shorter ones are raced")
	b := longBench(t, 200, 32_000, 3000)
	b.mustRun(t)
	whole := recordingOf(t, b)
	if n := b.journal.count(kindDigest) + b.journal.count(kindMask); len(whole.Clearings) != n || n == 0 {
		t.Fatalf("%d clearings of %d", len(whole.Clearings), n)
	}
	for i, x := range whole.Exchanges {
		req := b.model.requests[i]
		if req.Messages = x.Messages; RequestHash(req) != x.Request {
			t.Fatalf("exchange %d has other messages", i+1)
		}
	}
	// The same journal, as if a process had ended behind each tenth result: its notes come
	// between, and the digests count them.
	var kinds []string
	var records []json.RawMessage
	added, asked := []int{}, 0
	for i, kind := range b.journal.kinds {
		data := b.journal.records[i]
		if kind == kindDigest {
			var r condenseRecord
			if err := json.Unmarshal(data, &r); err != nil {
				t.Fatal(err)
			}
			for _, at := range added {
				if at <= r.Upto {
					r.Upto++
				}
			}
			data, _ = json.Marshal(r)
		}
		if kind == kindCall {
			if asked++; asked%10 == 0 {
				if msgs := foldAll(t, b, kinds, records).msgs; msgs[len(msgs)-1].Role != adapters.User {
					added = append(added, len(msgs)) // a message of its own
				}
				note, _ := json.Marshal(noteRecord{About: noteRestart, Text: restartText})
				kinds, records = append(kinds, kindNote), append(records, note)
			}
		}
		kinds, records = append(kinds, kind), append(records, data)
	}
	rec, err := ReadRecording(t.Context(), b.blobs, func(fn func(string, json.RawMessage) error) error {
		for i, kind := range kinds {
			if err := fn(kind, records[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !rec.Interrupted || len(rec.Exchanges) != len(whole.Exchanges) ||
		fmt.Sprint(rec.Clearings) != fmt.Sprint(whole.Clearings) {
		t.Fatalf("%v, interrupted %t, %d exchanges, clearings\n%.500v\nnot\n%.500v", err, rec.Interrupted, len(rec.Exchanges),
			rec.Clearings, whole.Clearings)
	}
	for i, x := range rec.Exchanges {
		if first, differ := CompareMessages(whole.Exchanges[i].Messages, x.Messages, false); first >= 0 || len(differ) > 0 {
			t.Fatalf("exchange %d has another message %d", i+1, first)
		}
	}
}

// foldAll is the conversation of a journal.
func foldAll(t *testing.T, b *bench, kinds []string, records []json.RawMessage) *conversation {
	t.Helper()
	c := newConversation(b.cfg.withDefaults())
	for i, kind := range kinds {
		if err := c.foldRecord(t.Context(), b.blobs, kind, records[i]); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
