package agenttest

import (
	"context"
	"encoding/json"
	"sync"
)

// Journal is an agent.Journal in memory.
type Journal struct {
	mu      sync.Mutex
	records []Record
}

// Record is a record of a Journal.
type Record struct {
	Kind string
	Data json.RawMessage
}

// Append implements agent.Journal.
func (j *Journal) Append(_ context.Context, kind string, data any) (int, error) {
	text, err := json.Marshal(data)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.records = append(j.records, Record{kind, text})
	return len(j.records), err
}

// AppendLater implements agent.Journal.
func (j *Journal) AppendLater(ctx context.Context, kind string, data any) error {
	_, err := j.Append(ctx, kind, data)
	return err
}

// Flush implements agent.Journal.
func (j *Journal) Flush(context.Context) error { return nil }

// Read implements agent.Journal.
func (j *Journal) Read(_ context.Context, fn func(int, string, json.RawMessage) error) error {
	for i, r := range j.Records() {
		if err := fn(i+1, r.Kind, r.Data); err != nil {
			return err
		}
	}
	return nil
}

// Records returns a copy of the records.
func (j *Journal) Records() []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Record(nil), j.records...)
}
