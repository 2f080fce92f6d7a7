package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"company/internal/agent"
	"company/internal/company"
)

// Source is the office from which a record is read.
type Source interface {
	// ID returns the id of the office.
	ID() string
	// ReadEvents passes the ledger's events of a task to fn, in order. An error of fn stops it and is returned
	// unchanged.
	ReadEvents(ctx context.Context, id company.TaskID, fn func(company.Event) error) error
	// ReadRun passes the records of a run's journal to fn, in order. Errors are handled as in ReadEvents.
	ReadRun(ctx context.Context, run company.RunID, fn func(kind string, data json.RawMessage) error) error
	// Payloads returns the store of the long texts that records refer to.
	Payloads() agent.Blobs
}

// Entry is a piece of a task's record: an event, a text that the next journal record refers to, or a journal record.
// A blob without a run is a file of the instruction. The order is: all events, then these files, then the runs. The
// pieces of a run are contiguous.
type Entry struct {
	Office string          `json:"office,omitempty"` // only with the first event: the office's id
	Event  *company.Event  `json:"event,omitempty"`
	Run    company.RunID   `json:"run,omitempty"`
	Blob   company.Hash    `json:"blob,omitempty"` // the hash of the text
	Text   []byte          `json:"text,omitempty"`
	Kind   string          `json:"kind,omitempty"` // of the journal record
	Data   json.RawMessage `json:"data,omitempty"`
}

// StreamRecord passes the record of a finished task to emit, piece by piece. It holds one run at a time in memory. It
// fails with ENotFound if the office has no such task, and with EInvalid and the reason if the task cannot be
// replayed. An error of emit stops it and is returned unchanged.
func StreamRecord(ctx context.Context, from Source, id company.TaskID, emit func(Entry) error) error {
	fold := newRecordFold(id)
	err := from.ReadEvents(ctx, id, func(event company.Event) error {
		if fold.over {
			return nil
		}
		entry := Entry{Event: &event}
		if fold.first.Task == "" {
			entry.Office = from.ID()
		}
		if err := fold.decodeEvent(event); err != nil {
			return err
		}
		return emit(entry)
	})
	if err == nil {
		err = fold.findObstacle()
	}
	if err != nil {
		return err
	}
	for _, attachment := range fold.submitted.Attachments {
		content, err := from.Payloads().GetBlob(ctx, attachment.Blob)
		if err == nil {
			err = emit(Entry{Blob: attachment.Blob, Text: content})
		}
		if err != nil {
			return err
		}
	}
	for _, run := range fold.begun {
		if err := streamRun(ctx, from, run, emit); err != nil {
			return err
		}
	}
	return nil
}

// streamRun emits the journal of a run, and each text before the record that refers to it.
func streamRun(ctx context.Context, from Source, run company.RunID, emit func(Entry) error) error {
	var refused error
	pass := func(entry Entry) error {
		entry.Run = run
		refused = emit(entry)
		return refused
	}
	texts := passingBlobs{Blobs: from.Payloads(), sent: map[company.Hash]bool{}, pass: pass}
	_, err := agent.ReadRecording(ctx, texts, func(fold func(string, json.RawMessage) error) error {
		return from.ReadRun(ctx, run, func(kind string, data json.RawMessage) error {
			if err := fold(kind, data); err != nil {
				return err
			}
			return pass(Entry{Kind: kind, Data: dropConversation(data)})
		})
	})
	if err != nil && refused == nil {
		return fmt.Errorf("read the record of %s: %w", run, err)
	}
	return refused
}

// dropConversation leaves the files of a program's own conversation out of a record. A replay does not need them, and
// nothing looks for secrets in them.
func dropConversation(data json.RawMessage) json.RawMessage {
	var record map[string]json.RawMessage
	if json.Unmarshal(data, &record) != nil || record["home"] == nil {
		return data
	}
	delete(record, "home")
	delete(record, "session")
	shorter, err := json.Marshal(record)
	if err != nil { // unreachable: it was JSON
		return json.RawMessage("{}")
	}
	return shorter
}

// passingBlobs emits each text when it is first read.
type passingBlobs struct {
	agent.Blobs
	sent map[company.Hash]bool
	pass func(Entry) error
}

func (b passingBlobs) GetBlob(ctx context.Context, name company.Hash) ([]byte, error) {
	text, err := b.Blobs.GetBlob(ctx, name)
	if err == nil && !b.sent[name] {
		b.sent[name] = true
		err = b.pass(Entry{Blob: name, Text: text})
	}
	return text, err
}

// Read builds the record of a task from the entries that stream passes to its argument, in the order of StreamRecord.
// It fails with EInvalid and the reason if the task cannot be replayed.
func Read(ctx context.Context, id company.TaskID, stream func(func(Entry) error) error) (*Record, error) {
	fold := newRecordFold(id)
	var run runReader
	left := int64(maxTexts)
	err := stream(func(entry Entry) error {
		if entry.Event != nil {
			fold.Office = cmp.Or(fold.Office, entry.Office)
			return fold.decodeEvent(*entry.Event)
		}
		if entry.Run == "" && fold.submitted.Attaches(entry.Blob) {
			return fold.addAttached(entry)
		}
		if entry.Run == "" {
			return company.E(company.EInvalid, "the record is damaged").Because("an entry that is not an event has no run").
				Fix("save the record again, or replay another task")
		}
		if entry.Run != run.run {
			if err := run.finishRun(ctx, fold.Record); err != nil {
				return err
			}
			run = runReader{run: entry.Run, texts: storedTexts{byName: map[company.Hash][]byte{}, left: &left}}
		}
		run.addEntry(entry)
		return nil
	})
	if err == nil {
		err = fold.findObstacle()
	}
	if err == nil {
		err = fold.checkAttached()
	}
	if err == nil {
		err = run.finishRun(ctx, fold.Record)
	}
	if err != nil {
		return nil, err
	}
	return fold.Record, nil
}

// runReader collects the entries of one run.
type runReader struct {
	run     company.RunID // empty before the first run
	records []Entry
	texts   storedTexts
}

func (r *runReader) addEntry(entry Entry) {
	if entry.Blob != "" {
		r.texts.byName[entry.Blob] = entry.Text
		return
	}
	r.records = append(r.records, entry)
}

// finishRun adds the run's conversation to the record.
func (r *runReader) finishRun(ctx context.Context, into *Record) error {
	if r.run == "" {
		return nil
	}
	rec, err := agent.ReadRecording(ctx, r.texts, func(fn func(string, json.RawMessage) error) error {
		for _, e := range r.records {
			if err := fn(e.Kind, e.Data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the record of %s: %w", r.run, err)
	}
	into.Runs[r.run] = rec
	return nil
}

// maxTexts limits the total bytes of texts that the conversations of a record refer to. Thousands of journal records
// may refer to one text, and each gets a copy.
const maxTexts = 1 << 30

// storedTexts holds the texts of one run.
type storedTexts struct {
	byName map[company.Hash][]byte
	left   *int64 // bytes that all runs may still read
}

func (storedTexts) PutBlob(context.Context, []byte) (company.Hash, error) {
	return "", company.E(company.EInternal, "cannot write while reading a record")
}

func (s storedTexts) GetBlob(_ context.Context, name company.Hash) ([]byte, error) {
	text, ok := s.byName[name]
	if !ok {
		return nil, company.E(company.EInvalid, "the record lacks the text "+string(name)).Fix("read the record again")
	}
	if *s.left -= int64(len(text)); *s.left < 0 {
		return nil, company.E(company.EInvalid, "the record is too large to read").
			Because(fmt.Sprintf("its conversations refer to more than %d MiB of texts", maxTexts>>20)).
			Fix("replay another task")
	}
	return slices.Clone(text), nil
}

// decodeEvent adds an event in its ledger form. It ignores events of other tasks.
func (f *recordFold) decodeEvent(event company.Event) error {
	if event.Task != f.Task || f.over {
		return nil
	}
	data, err := company.Decode(event)
	if err != nil {
		return err
	}
	return f.addEvent(event, data)
}
