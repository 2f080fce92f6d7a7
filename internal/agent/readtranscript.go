package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"company/internal/adapters"
	"company/internal/company"
)

// ReadTranscript builds the transcript of a run from its journal. The run may be under way, or have ended before
// its transcript was kept. read calls its function for every record, in order.
func ReadTranscript(
	ctx context.Context, run company.RunID, who string, blobs Blobs,
	read func(fn func(kind string, data json.RawMessage) error) error,
) (Transcript, error) {
	conversation := newTranscriptReader(run, who)
	err := read(func(kind string, data json.RawMessage) error { return conversation.foldRecord(ctx, blobs, kind, data) })
	if err != nil {
		return conversation.log, fmt.Errorf("read the journal of %s: %w", run, err)
	}
	conversation.log.TotalTokens = adapters.AddTokens(conversation.usage.InputTokens, conversation.usage.OutputTokens)
	return conversation.log, nil
}

// ReadUsage adds up the usage that the model's server reported in a run's journal. read calls its function for
// every record, in order.
func ReadUsage(
	ctx context.Context, run company.RunID, blobs Blobs, read func(fn func(kind string, data json.RawMessage) error) error,
) (adapters.Usage, error) {
	conversation := newTranscriptReader(run, "")
	err := read(func(kind string, data json.RawMessage) error { return conversation.foldRecord(ctx, blobs, kind, data) })
	if err != nil {
		return conversation.usage, fmt.Errorf("read the journal of %s: %w", run, err)
	}
	return conversation.usage, nil
}

func newTranscriptReader(run company.RunID, who string) *conversation {
	c := &conversation{cfg: config{Job: Job{Run: run, Agent: who}}.withDefaults(), ids: map[string]bool{},
		told: map[noteTopic]int{}, known: map[string]string{}}
	c.log = Transcript{RunID: run, AgentID: who}
	return c
}

// StreamTranscript emits the entries of a run's transcript as the records of its journal come. The first entry
// describes the run, and the last one holds its totals. read calls its function for every record, in order,
// until it stops.
func StreamTranscript(
	ctx context.Context, run company.RunID, who string, blobs Blobs,
	read func(fn func(kind string, data json.RawMessage) error) error, emit func(TranscriptEntry) error,
) error {
	conversation := newTranscriptReader(run, who)
	messages, calls := 0, 0
	total := func() TranscriptEntry {
		return TranscriptEntry{Run: &TranscriptRun{run, who, messages, calls,
			adapters.AddTokens(conversation.usage.InputTokens, conversation.usage.OutputTokens)}}
	}
	if err := emit(total()); err != nil {
		return err
	}
	err := read(func(kind string, data json.RawMessage) error {
		if err := conversation.foldRecord(ctx, blobs, kind, data); err != nil {
			return fmt.Errorf("read the journal of %s: %w", run, err)
		}
		for ; messages < len(conversation.log.Messages); messages++ {
			if err := emit(TranscriptEntry{Message: &conversation.log.Messages[messages]}); err != nil {
				return err
			}
		}
		for ; calls < len(conversation.log.ToolCalls); calls++ {
			if err := emit(TranscriptEntry{ToolCall: &conversation.log.ToolCalls[calls]}); err != nil {
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

// Add appends an entry of a stream to the transcript.
func (t *Transcript) Add(entry TranscriptEntry) {
	switch {
	case entry.Run != nil:
		t.RunID = entry.Run.RunID
		t.AgentID = entry.Run.AgentID
		t.TotalTokens = entry.Run.TotalTokens
	case entry.Message != nil:
		t.Messages = append(t.Messages, *entry.Message)
	case entry.ToolCall != nil:
		t.ToolCalls = append(t.ToolCalls, *entry.ToolCall)
	}
}
