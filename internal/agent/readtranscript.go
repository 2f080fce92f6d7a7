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
	c := &conversation{cfg: config{Job: Job{Run: run, Agent: who}}.withDefaults(), ids: map[string]bool{}, told: map[noteTopic]int{}, known: map[string]string{}}
	c.log = Transcript{RunID: run, AgentID: who}
	err := read(func(kind string, data json.RawMessage) error { return c.foldRecord(ctx, blobs, kind, data) })
	if err != nil {
		return c.log, fmt.Errorf("read the journal of %s: %w", run, err)
	}
	c.log.TotalTokens = adapters.AddTokens(c.usage.InputTokens, c.usage.OutputTokens)
	return c.log, nil
}
