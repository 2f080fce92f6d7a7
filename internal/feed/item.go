// Package feed turns what happens in an office into lines for people and
// objects for programs: it describes events of the ledger, passes on what
// happens between two events, and merges both into one ordered stream. It
// promises that a follower misses no event, and that a slow follower holds up
// nothing. It knows the domain alone, so that every surface and every test can
// use it without the engine.
package feed

import (
	"encoding/json"
	"sync"
	"time"

	"company/internal/company"
)

// Mark says at a glance what a feed line is about.
type Mark string

const (
	Started Mark = "started"
	Done    Mark = "done"
	Failed  Mark = "failed"
	Needs   Mark = "needs_you"
	Stalled Mark = "stalled"
	Info    Mark = "info"
)

// Item is one line of the feed: an event of the ledger (Seq is set), or
// something that happens in a run at this moment. Events are never lost; other
// items go to the present listeners, and are dropped for a slow one.
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
	Lines         []string          `json:"lines,omitempty"` // details below the text: subtasks of a plan, findings, what a check printed
	DurationMS    int64             `json:"duration_ms,omitempty"`
	CostMicroUSD  *int64            `json:"cost_micro_usd,omitempty"`
	Quiet         bool              `json:"quiet,omitempty"` // of use to programs only
	After         uint64            `json:"-"`               // of what happens in between: the newest event at that time

	encoded *encoding // shared by all copies
}

// encoding is the JSON of an item that a hub passes on, made once for all listeners.
type encoding struct {
	once sync.Once
	text []byte
	err  error
}

// JSON is the item as JSON. Callers do not change it.
func (it Item) JSON() ([]byte, error) {
	if it.encoded == nil {
		return json.Marshal(it)
	}
	it.encoded.once.Do(func() { it.encoded.text, it.encoded.err = json.Marshal(it) })
	return it.encoded.text, it.encoded.err
}
