package company

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Event is one decision of the company, as the ledger keeps it. Seq is
// gapless from 1; Prev is the hash of the event before (empty for the first),
// so that no event can be changed, dropped or moved unnoticed.
type Event struct {
	Seq     uint64          `json:"seq"`
	Time    time.Time       `json:"time"`
	Task    TaskID          `json:"task,omitempty"`
	Subtask SubtaskID       `json:"subtask,omitempty"`
	Run     RunID           `json:"run,omitempty"`
	Actor   string          `json:"actor"` // president, company, or the run whose claim it is
	Kind    string          `json:"kind"`
	Data    json.RawMessage `json:"data,omitempty"`
	Cause   string          `json:"cause,omitempty"` // id of the command that it answers
	Prev    Hash            `json:"prev"`
}

// Hash names the event: SHA-256 of its canonical JSON (STA-22).
func (e Event) Hash() Hash {
	h, err := HashOf(e)
	if err != nil {
		// An Event holds plain strings, numbers and JSON that we made.
		panic(fmt.Sprintf("company: event %d has no canonical form: %v", e.Seq, err))
	}
	return h
}

// Data is what one kind of event says. The kinds are closed: each is a struct
// beside its noun, and apply is the only code that changes State.
type Data interface {
	Kind() string
	apply(s *State, e Event)
}

// kinds is the registry that a stored event is decoded with.
var kinds = map[string]func() Data{}

func registerKind[T any, P interface {
	*T
	Data
}]() struct{} {
	kinds[P(new(T)).Kind()] = func() Data { return P(new(T)) }
	return struct{}{}
}

// Decode returns what an event says. An unknown kind or data that does not
// fit is an ELedger error: a newer or damaged ledger, never to be guessed at.
func Decode(e Event) (Data, error) {
	mk, ok := kinds[e.Kind]
	if !ok {
		return nil, E(ELedger, fmt.Sprintf("event %d is of unknown kind %q", e.Seq, e.Kind)).
			Fix("this office was written by a newer version of company; use that version")
	}
	d := mk()
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, d); err != nil {
			return nil, E(ELedger, fmt.Sprintf("event %d (%s) cannot be read", e.Seq, e.Kind)).Wrap(err)
		}
	}
	return d, nil
}

// Meta is the frame of a command: the sender, the time, and the id. The id
// makes a repeated command harmless.
type Meta struct {
	ID    string
	Actor string
	Now   time.Time      // UTC; the core has no clock of its own
	Zone  *time.Location // where the office's days begin; nil: UTC
}

// Actors that are no run.
const (
	President = "president"
	Company   = "company"
)

func (m Meta) newEvent(task TaskID, sub SubtaskID, run RunID, d Data) Event {
	b, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("company: %s does not marshal: %v", d.Kind(), err))
	}
	actor := m.Actor
	if actor == "" {
		actor = Company
	}
	return Event{Time: m.Now.UTC(), Task: task, Subtask: sub, Run: run, Actor: actor, Kind: d.Kind(), Data: b, Cause: m.ID}
}

// CommandID is the id under which an office knows a command that its sender
// calls id: senders that count from 1 do not get each other's answers.
func CommandID(actor, id string) string { return actor + ":" + id }

// Command is a wish of a person or an outcome of an effect. Decide turns it
// into events or refuses it; a command never changes state by itself.
type Command interface {
	decide(s *State, m Meta) ([]Event, error)
}

// Decide answers a command with the events that it causes: none when it
// changes nothing (a repeat), an *Error when it is not allowed. It is pure.
func Decide(s *State, m Meta, c Command) ([]Event, error) {
	if s.Office.Epoch == 0 {
		if _, ok := c.(StartOffice); !ok {
			return nil, E(EInvalid, "the office has not been opened").Fix("company submit opens it with the first instruction")
		}
	}
	return c.decide(s, m)
}

// validateTarget refuses an event about a task, a subtask or a run that does not exist:
// nothing is ever an orphan (SUB-9).
func (s *State) validateTarget(e Event) error {
	if e.Task == "" && ofOffice(e.Kind) || strings.HasPrefix(e.Kind, "office.") || e.Kind == (*TaskSubmitted)(nil).Kind() {
		return nil
	}
	t := s.Tasks[e.Task]
	if e.Kind == (*TaskRestored)(nil).Kind() && t == nil && s.Past[e.Task] != nil {
		return nil
	}
	switch {
	case t == nil,
		e.Subtask != "" && t.Subtask(e.Subtask) == nil,
		e.Run != "" && t.Runs[e.Run] == nil && e.Kind != (*RunOffered)(nil).Kind() && e.Kind != (*RunClaimed)(nil).Kind():
		return E(ELedger, fmt.Sprintf("event %d (%s) is about something that does not exist: %s %s %s", e.Seq, e.Kind, e.Task, e.Subtask, e.Run))
	}
	return nil
}

// Apply folds one event into the state. It fails only on a log that is not valid: a
// gap, an unknown kind, a move that CheckMoves refuses. After an error the state must
// not be used: an event may have been applied in part.
func Apply(s *State, e Event) error {
	if e.Seq != s.Seq+1 {
		return E(ELedger, fmt.Sprintf("event %d follows event %d", e.Seq, s.Seq))
	}
	d, err := Decode(e)
	if err != nil {
		return err
	}
	if err := s.validateTarget(e); err != nil {
		return err
	}
	before := s.Tasks[e.Task]
	d.apply(s, e)
	s.Seq = e.Seq
	s.Time = e.Time
	if t := s.Tasks[e.Task]; t != nil {
		if t == before { // not changed by the event: views share it
			t = s.editTask(e.Task)
		}
		t.Updated = e.Time
		if e.Kind != (*TaskRestored)(nil).Kind() { // which brings a task back with the status that it had
			t.noteTimes(before, e.Time)
			err = CheckMoves(before, t)
		}
		t.noteLeaveNeeds()
	}
	s.endEdits()
	return err
}
