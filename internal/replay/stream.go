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

// Source is the office that a record is read from.
type Source interface {
	// ID is the id of the office.
	ID() string
	// ReadEvents passes the ledger's events of a task to fn, in order. An error of fn ends it
	// and is returned as it is.
	ReadEvents(ctx context.Context, id company.TaskID, fn func(company.Event) error) error
	// ReadRun passes the records of a run's journal to fn, in order, as ReadEvents does.
	ReadRun(ctx context.Context, run company.RunID, fn func(kind string, data json.RawMessage) error) error
	// Payloads holds the long texts that records name.
	Payloads() agent.Blobs
}

// Entry is a piece of a task's record on its way from the office that has it: an event, a
// text that the next journal record names, or a journal record. A blob without a run is a file
// of the instruction. All events come before these, these before the first run, and the pieces
// of a run come together.
type Entry struct {
	Office string          `json:"office,omitempty"` // beside the first event: the office's id
	Event  *company.Event  `json:"event,omitempty"`
	Run    company.RunID   `json:"run,omitempty"`
	Blob   company.Hash    `json:"blob,omitempty"` // the name of the text
	Text   []byte          `json:"text,omitempty"`
	Kind   string          `json:"kind,omitempty"` // of the journal record
	Data   json.RawMessage `json:"data,omitempty"`
}

// StreamRecord gives the record of a finished task, piece by piece; it holds one run at a
// time in memory. ENotFound: the office has no such task. EInvalid: the task cannot be
// replayed, with the reason. An error of emit ends it and is returned as it is.
func StreamRecord(ctx context.Context, from Source, id company.TaskID, emit func(Entry) error) error {
	fold := newRecordFold(id)
	err := from.ReadEvents(ctx, id, func(e company.Event) error {
		if fold.over {
			return nil
		}
		entry := Entry{Event: &e}
		if fold.first.Task == "" {
			entry.Office = from.ID()
		}
		if err := fold.decodeEvent(e); err != nil {
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
	for _, a := range fold.submitted.Attachments {
		content, err := from.Payloads().GetBlob(ctx, a.Blob)
		if err == nil {
			err = emit(Entry{Blob: a.Blob, Text: content})
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

// streamRun gives the journal of a run, and each text before the record that names it.
func streamRun(ctx context.Context, from Source, run company.RunID, emit func(Entry) error) error {
	var refused error
	pass := func(e Entry) error {
		e.Run = run
		refused = emit(e)
		return refused
	}
	texts := passingBlobs{Blobs: from.Payloads(), sent: map[company.Hash]bool{}, pass: pass}
	_, err := agent.ReadRecording(ctx, texts, func(fold func(string, json.RawMessage) error) error {
		return from.ReadRun(ctx, run, func(kind string, data json.RawMessage) error {
			if err := fold(kind, data); err != nil {
				return err
			}
			return pass(Entry{Kind: kind, Data: data})
		})
	})
	if err != nil && refused == nil {
		return fmt.Errorf("read the record of %s: %w", run, err)
	}
	return refused
}

// passingBlobs passes each text on when it is first read.
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

// Read makes the record of a task from the entries that stream passes to its argument, as
// StreamRecord does. EInvalid: the task cannot be replayed, with the reason.
func Read(ctx context.Context, id company.TaskID, stream func(func(Entry) error) error) (*Record, error) {
	fold := newRecordFold(id)
	var run runReader
	left := int64(maxTexts)
	err := stream(func(e Entry) error {
		if e.Event != nil {
			fold.Office = cmp.Or(fold.Office, e.Office)
			return fold.decodeEvent(*e.Event)
		}
		if e.Run == "" && fold.submitted.Attaches(e.Blob) {
			return fold.addAttached(e)
		}
		if e.Run == "" {
			return company.E(company.EInvalid, "the record is damaged").Because("an entry that is no event has no run").Fix("save the record anew, or replay another task")
		}
		if e.Run != run.run {
			if err := run.finishRun(ctx, fold.Record); err != nil {
				return err
			}
			run = runReader{run: e.Run, texts: storedTexts{byName: map[company.Hash][]byte{}, left: &left}}
		}
		run.addEntry(e)
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
	run     company.RunID // empty: no run has come yet
	records []Entry
	texts   storedTexts
}

func (r *runReader) addEntry(e Entry) {
	if e.Blob != "" {
		r.texts.byName[e.Blob] = e.Text
		return
	}
	r.records = append(r.records, e)
}

// finishRun puts the run's conversation into the record.
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

// maxTexts is how many bytes of texts the conversations of a record may name: one text may
// be named by thousands of journal records, each of which gets a copy.
const maxTexts = 1 << 30

// storedTexts are the texts of one run.
type storedTexts struct {
	byName map[company.Hash][]byte
	left   *int64 // bytes that may still be read, of all runs
}

func (storedTexts) PutBlob(context.Context, []byte) (company.Hash, error) {
	return "", company.E(company.EInternal, "nothing is written while a record is read")
}

func (s storedTexts) GetBlob(_ context.Context, name company.Hash) ([]byte, error) {
	text, ok := s.byName[name]
	if !ok {
		return nil, company.E(company.EInvalid, "the record lacks the text "+string(name)).Fix("read the record anew")
	}
	if *s.left -= int64(len(text)); *s.left < 0 {
		return nil, company.E(company.EInvalid, "the record is too large to be read").
			Because(fmt.Sprintf("its conversations name texts of more than %d MiB in all", maxTexts>>20)).Fix("replay another task")
	}
	return slices.Clone(text), nil
}

// decodeEvent adds an event as the ledger has it. One of another task is left out.
func (f *recordFold) decodeEvent(e company.Event) error {
	if e.Task != f.Task || f.over {
		return nil
	}
	d, err := company.Decode(e)
	if err != nil {
		return err
	}
	return f.addEvent(e, d)
}
