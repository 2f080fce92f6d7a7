package replay

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"company/internal/agent"
	"company/internal/company"
)

// texts are blobs in memory, which counts who reads them.
type texts struct {
	kept  map[company.Hash][]byte
	reads int
}

func (s *texts) PutBlob(_ context.Context, text []byte) (company.Hash, error) {
	name := company.Hash(strings.Repeat("a", 1+len(s.kept)))
	s.kept[name] = text
	return name, nil
}

func (s *texts) GetBlob(_ context.Context, name company.Hash) ([]byte, error) {
	s.reads++
	return s.kept[name], nil
}

// journalled is an office of a deck whose first run has a journal.
type journalled struct {
	*deck
	journal *memory
	texts   *texts
}

func (j journalled) ReadRun(ctx context.Context, run company.RunID, fn func(string, json.RawMessage) error) error {
	if run != "t1-plan.1" {
		return nil
	}
	return j.journal.Read(ctx, func(_ int, kind string, data json.RawMessage) error { return fn(kind, data) })
}

func (j journalled) Payloads() agent.Blobs { return j.texts }

// openJournalled has the manager's run of a finished task converse, with a prompt and a
// result so long that they are texts of their own.
func openJournalled(t *testing.T) journalled {
	t.Helper()
	_, k := recordDeck(t)
	from := journalled{k, &memory{}, &texts{kept: map[company.Hash][]byte{}}}
	var written []string
	j := job(strings.Repeat("seen ", 8<<10), &written)
	j.System, j.Journal, j.Blobs = strings.Repeat("You work. ", 4<<10), from.journal, from.texts
	if _, err := (agent.Loop{Models: steps{}}).Drive(t.Context(), j); err != nil || len(from.texts.kept) != 2 {
		t.Fatalf("%v, %d texts", err, len(from.texts.kept))
	}
	return from
}

// TestRecordIsStreamed: a record that went through its stream as JSON has the conversation
// that the journal has; each text comes once, before the record that names it.
func TestRecordIsStreamed(t *testing.T) {
	from := openJournalled(t)
	want, err := agent.ReadRecording(t.Context(), from.texts, func(fn func(string, json.RawMessage) error) error {
		return from.ReadRun(t.Context(), "t1-plan.1", fn)
	})
	if err != nil {
		t.Fatal(err)
	}
	sent := map[company.Hash]int{}
	r, err := Read(t.Context(), "t1", func(fn func(Entry) error) error {
		return StreamRecord(t.Context(), from, "t1", func(e Entry) error {
			text, err := json.Marshal(e)
			var again Entry
			if err == nil {
				err = json.Unmarshal(text, &again)
			}
			if err != nil {
				return err
			}
			if again.Blob != "" {
				sent[again.Blob]++
			}
			return fn(again)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r.Runs["t1-plan.1"])
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(want); string(got) != string(text) || len(want.Exchanges) != 3 || r.Office != "aaaa" {
		t.Errorf("office %s, the conversation is\n%.300s, not\n%.300s", r.Office, got, text)
	}
	for name := range from.texts.kept {
		if sent[name] != 1 {
			t.Errorf("%s was sent %d times", name, sent[name])
		}
	}
}

// TestRecordWithoutAText: a stream that lacks a text is refused, and the reader's error
// ends the stream as it is.
func TestRecordWithoutAText(t *testing.T) {
	from := openJournalled(t)
	_, err := Read(t.Context(), "t1", func(fn func(Entry) error) error {
		return StreamRecord(t.Context(), from, "t1", func(e Entry) error {
			if e.Blob != "" {
				return nil
			}
			return fn(e)
		})
	})
	if company.CodeOf(err) != company.EInvalid || !strings.Contains(err.Error(), "lacks the text") {
		t.Error(err)
	}
	enough := errors.New("enough")
	for _, at := range []func(Entry) bool{func(e Entry) bool { return e.Event != nil },
		func(e Entry) bool { return e.Blob != "" }, func(e Entry) bool { return e.Kind != "" }} {
		err := StreamRecord(t.Context(), from, "t1", func(e Entry) error {
			if at(e) {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Error(err)
		}
	}
}

// A text that many journal records name counts each time: a small file may not fill the memory.
func TestNamedTextsAreBounded(t *testing.T) {
	left := int64(25)
	texts := storedTexts{byName: map[company.Hash][]byte{"x": make([]byte, 10)}, left: &left}
	for range 2 {
		if text, err := texts.GetBlob(t.Context(), "x"); err != nil || len(text) != 10 {
			t.Fatal(err)
		}
	}
	other := storedTexts{byName: texts.byName, left: texts.left} // of another run
	if _, err := other.GetBlob(t.Context(), "x"); company.CodeOf(err) != company.EInvalid {
		t.Errorf("30 bytes of 25: %v", err)
	}
}

// An entry that is no event and of no run is refused.
func TestEntryOfNoRunIsRefused(t *testing.T) {
	_, err := Read(t.Context(), "t1",
		func(fn func(Entry) error) error { return fn(Entry{Blob: "x", Text: []byte("text")}) })
	if company.CodeOf(err) != company.EInvalid || !strings.Contains(err.Error(), "has no run") {
		t.Error(err)
	}
}

// The files of a program's conversation, in which nothing looks for secrets, do not leave the office.
func TestConversationsOfProgramsStay(t *testing.T) {
	got := dropConversation(json.RawMessage(`{"at":"x","saved":null,"session":"T","home":{"text":"AA"}}`))
	if string(got) != `{"at":"x","saved":null}` {
		t.Errorf("%s", got)
	}
	if same := dropConversation(json.RawMessage(`{"b":1,"a":2}`)); string(same) != `{"b":1,"a":2}` {
		t.Errorf("%s", same)
	}
}
