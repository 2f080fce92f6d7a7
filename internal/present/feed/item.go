// Package feed turns the events of an office into lines for people and objects for programs. It describes events of
// the ledger, passes on items that occur between two events, and merges both into one ordered stream. A follower
// misses no event, and a slow follower delays no one else. The package depends on the domain only, so that every
// surface and test can use it without the engine.
package feed

import (
	"encoding/json"
	"sync"
	"time"

	"company/internal/company"
)

// Mark is the category of a feed line.
type Mark string

const (
	Started Mark = "started"
	Done    Mark = "done"
	Failed  Mark = "failed"
	Needs   Mark = "needs_you"
	Stalled Mark = "stalled"
	Info    Mark = "info"
)

// Item is one line of the feed. It is an event of the ledger (Seq is set), or a momentary item of a run. Events are
// never lost. Other items only go to current listeners, and slow ones may miss them.
type Item struct {
	SchemaVersion int               `json:"schema_version"`
	Seq           uint64            `json:"seq,omitempty"`
	Time          time.Time         `json:"time"`
	Task          company.TaskID    `json:"task,omitempty"`
	Subtask       company.SubtaskID `json:"subtask,omitempty"`
	Run           company.RunID     `json:"run,omitempty"`
	Worker        string            `json:"worker,omitempty"`
	Kind          string            `json:"kind"`
	Mark          Mark              `json:"mark"`
	Text          string            `json:"text"`
	// details below the text: subtasks of a plan, findings, output of a check
	Lines        []string `json:"lines,omitempty"`
	DurationMS   int64    `json:"duration_ms,omitempty"`
	CostMicroUSD *int64   `json:"cost_micro_usd,omitempty"`
	Quiet        bool     `json:"quiet,omitempty"` // useful to programs only
	After        uint64   `json:"-"`               // for an item between events: the newest event at that time

	encoded *encoding // shared by all copies
}

// encoding is the JSON of an item, encoded once for all listeners of a hub.
type encoding struct {
	once sync.Once
	text []byte
	err  error
}

// JSON returns the item as JSON. The caller must not change the result.
func (it Item) JSON() ([]byte, error) {
	if it.encoded == nil {
		return json.Marshal(it)
	}
	it.encoded.once.Do(func() { it.encoded.text, it.encoded.err = json.Marshal(it) })
	return it.encoded.text, it.encoded.err
}
