package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"company/internal/adapters"
	"company/internal/company"
)

// Past summarizes the journal of a run before the run is resumed. It is enough to set up the work tree where the
// work continues.
type Past struct {
	// Spent counts a call without a reply as its worst case. The allowance of a resumed run starts with it, and a
	// crashed run is settled with it.
	Spent   company.Amount
	Turns   int                  // model replies that counted
	ByModel []company.ModelSpent // the part of Spent that belongs to a model
	Heard   int                  // messages of the president that the agent has read
	Begun   bool                 // an earlier holder has begun the conversation
	// Exact reports that each journaled change has its saved state. Older runs have a checkpoint after each turn
	// instead.
	Exact   bool
	Holders int // how often the journal was opened so far
	// Saved is the newest state that can be restored, or nil if there is none.
	Saved *Saved
	// Prompt is the PromptHash of the conversation's start, or empty if it is unknown.
	Prompt company.Hash
}

// LookBack summarizes a journal without reading its payloads.
func LookBack(ctx context.Context, journal JournalReader) (Past, error) {
	var past Past
	var c conversation
	fold := func(kind string, data json.RawMessage) error {
		switch kind {
		case kindOpened:
			past.Holders++
			c.foldOpened()
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
			counts, err := r.isTurn()
			if err != nil {
				return err
			}
			if counts {
				past.Turns++
			}
		case kindNote:
			var r noteRecord
			if err := json.Unmarshal(data, &r); err != nil {
				return err
			}
			past.Heard = max(past.Heard, r.Word)
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
	}
	err := journal.Read(ctx, func(n int, kind string, data json.RawMessage) error {
		if err := fold(kind, data); err != nil {
			return company.E(company.ELedger, fmt.Sprintf("record %d of the journal cannot be read", n)).Wrap(err)
		}
		return nil
	})
	if err != nil {
		return past, fmt.Errorf("read what a run has done: %w", err)
	}
	past.Spent, past.ByModel = c.totalSpent(), c.byModel
	return past, nil
}

// isTurn reports whether a reply counts as a turn. It does not load a payload from a blob, because such a
// message is never empty.
func (r replyRecord) isTurn() (bool, error) {
	if r.Relayed {
		return r.Turn, nil
	}
	if r.Error != "" || r.Finish == adapters.FinishFilter {
		return false, nil
	}
	if r.Message.Blob != "" {
		return true, nil
	}
	var message adapters.Message
	err := json.Unmarshal([]byte(r.Message.Text), &message)
	return !isEmptyReply(message), err
}

// isEmptyReply reports whether a reply has neither text nor a call.
func isEmptyReply(m adapters.Message) bool {
	return len(m.ToolCalls) == 0 && strings.TrimSpace(m.Content) == ""
}
