package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"company/internal/company"
)

// Past is what a journal says of a run before it is taken up: enough to set up
// the place that the work goes on in.
type Past struct {
	Spent company.Amount // a call without a reply as its worst case
	Begun bool           // an earlier holder has begun the conversation
	// Exact says that each journaled change has its state beside it. Runs that
	// began before there was such a record have a checkpoint after each turn.
	Exact   bool
	Holders int // how often the journal was opened so far
	// Saved is the newest state that can be brought back.
	// Nil: there is none.
	Saved *Saved
	// Prompt is PromptHash of what the conversation began with; empty: it is not known.
	Prompt company.Hash
}

// LookBack reads a journal without its payloads.
func LookBack(ctx context.Context, journal JournalReader) (Past, error) {
	var past Past
	var c conversation
	err := journal.Read(ctx, func(_ int, kind string, data json.RawMessage) error {
		switch kind {
		case "opened":
			past.Holders++
		case kindPrompt:
			var r promptRecord
			if err := json.Unmarshal(data, &r); err != nil {
				return err
			}
			if !past.Begun {
				past.Prompt = r.Hash
			}
			past.Begun, past.Exact = true, r.Exact
		case kindCall:
			var r callRecord
			if err := json.Unmarshal(data, &r); err != nil {
				return err
			}
			c.foldCall(r)
		case kindReply:
			var r replyRecord
			if err := json.Unmarshal(data, &r); err != nil {
				return err
			}
			c.foldUsage(r)
		case kindTool, kindSaved, kindRedone:
			var r struct{ Saved *Saved }
			if err := json.Unmarshal(data, &r); err != nil {
				return err
			}
			if r.Saved != nil {
				past.Saved = r.Saved
			}
		}
		return nil
	})
	if err != nil {
		return past, fmt.Errorf("read what a run has done: %w", err)
	}
	past.Spent = c.totalSpent()
	return past, nil
}

// Spent is what a run's journal shows as spent, a call without a reply as its
// worst case: a resumed run's allowance starts with it, and a crashed run is
// settled with it.
func Spent(ctx context.Context, journal JournalReader) (company.Amount, error) {
	past, err := LookBack(ctx, journal)
	return past.Spent, err
}
