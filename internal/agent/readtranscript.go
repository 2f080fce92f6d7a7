package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"company/internal/adapters"
	"company/internal/company"
)

// ReadTranscript makes the transcript of a run from its journal: of one that
// is under way, or that was cut off before its transcript was kept. read calls
// its function for every record, in order.
func ReadTranscript(ctx context.Context, run company.RunID, who string, blobs Blobs, read func(fn func(kind string, data json.RawMessage) error) error) (Transcript, error) {
	c := newTranscriptReader(run, who)
	err := read(func(kind string, data json.RawMessage) error { return c.foldRecord(ctx, blobs, kind, data) })
	if err != nil {
		return c.log, fmt.Errorf("read the journal of %s: %w", run, err)
	}
	c.log.TotalTokens = adapters.AddTokens(c.usage.InputTokens, c.usage.OutputTokens)
	return c.log, nil
}

// ReadUsage sums what the model's server reported of a run's calls, from the run's
// journal. read calls its function for every record, in order.
func ReadUsage(ctx context.Context, run company.RunID, blobs Blobs, read func(fn func(kind string, data json.RawMessage) error) error) (adapters.Usage, error) {
	c := newTranscriptReader(run, "")
	err := read(func(kind string, data json.RawMessage) error { return c.foldRecord(ctx, blobs, kind, data) })
	if err != nil {
		return c.usage, fmt.Errorf("read the journal of %s: %w", run, err)
	}
	return c.usage, nil
}

func newTranscriptReader(run company.RunID, who string) *conversation {
	c := &conversation{cfg: config{Job: Job{Run: run, Agent: who}}.withDefaults(), ids: map[string]bool{}, told: map[noteTopic]int{}, known: map[string]string{}}
	c.log = Transcript{RunID: run, AgentID: who}
	return c
}

// StreamTranscript gives the entries of a run's transcript one by one, as the
// records of its journal come; the first tells the run, and the last its totals. read
// calls its function for every record, in order, for as long as it wants.
func StreamTranscript(ctx context.Context, run company.RunID, who string, blobs Blobs, read func(fn func(kind string, data json.RawMessage) error) error, emit func(TranscriptEntry) error) error {
	c := newTranscriptReader(run, who)
	messages, calls := 0, 0
	total := func() TranscriptEntry {
		return TranscriptEntry{Run: &TranscriptRun{run, who, messages, calls, adapters.AddTokens(c.usage.InputTokens, c.usage.OutputTokens)}}
	}
	if err := emit(total()); err != nil {
		return err
	}
	err := read(func(kind string, data json.RawMessage) error {
		if err := c.foldRecord(ctx, blobs, kind, data); err != nil {
			return fmt.Errorf("read the journal of %s: %w", run, err)
		}
		for ; messages < len(c.log.Messages); messages++ {
			if err := emit(TranscriptEntry{Message: &c.log.Messages[messages]}); err != nil {
				return err
			}
		}
		for ; calls < len(c.log.ToolCalls); calls++ {
			if err := emit(TranscriptEntry{ToolCall: &c.log.ToolCalls[calls]}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return emit(total())
}

// Add puts an entry of a stream into the transcript.
func (t *Transcript) Add(e TranscriptEntry) {
	switch {
	case e.Run != nil:
		t.RunID, t.AgentID, t.TotalTokens = e.Run.RunID, e.Run.AgentID, e.Run.TotalTokens
	case e.Message != nil:
		t.Messages = append(t.Messages, *e.Message)
	case e.ToolCall != nil:
		t.ToolCalls = append(t.ToolCalls, *e.ToolCall)
	}
}
