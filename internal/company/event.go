package company

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Event is one decision of the company, as stored in the ledger. Seq counts from 1 without gaps. Prev is the hash of
// the previous event and empty for the first one, so no event can be changed, dropped or moved unnoticed.
type Event struct {
	Seq     uint64          `json:"seq"`
	Time    time.Time       `json:"time"`
	Task    TaskID          `json:"task,omitempty"`
	Subtask SubtaskID       `json:"subtask,omitempty"`
	Run     RunID           `json:"run,omitempty"`
	Actor   string          `json:"actor"` // president, company, or the run whose claim it is
	Kind    string          `json:"kind"`
	Data    json.RawMessage `json:"data,omitempty"`
	Cause   string          `json:"cause,omitempty"` // id of the command that caused it
	Prev    Hash            `json:"prev"`
}

// Hash returns the SHA-256 of the event's canonical JSON (STA-22).
func (e Event) Hash() Hash {
	hash, err := HashOf(e)
	if err != nil {
		// An Event holds only plain strings, numbers and JSON made by this package.
		panic(fmt.Sprintf("company: event %d has no canonical form: %v", e.Seq, err))
	}
	return hash
}

// Data is the content of one kind of event. The set of kinds is closed: each is a struct declared beside its noun, and
// apply is the only code that changes State.
type Data interface {
	Kind() string
	apply(s *State, e Event)
}

// kinds is the registry for decoding stored events.
var kinds = map[string]func() Data{}

func registerKind[T any, P interface {
	*T
	Data
}]() struct{} {
	kinds[P(new(T)).Kind()] = func() Data { return P(new(T)) }
	return struct{}{}
}

// ListEventKinds lists the kinds of events, sorted.
func ListEventKinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Decode returns the data of an event. An unknown kind, or data that does not fit, is an ELedger error. It means a
// newer or damaged ledger, so no guess is made.
func Decode(event Event) (Data, error) {
	mk, ok := kinds[event.Kind]
	if !ok {
		return nil, E(ELedger, fmt.Sprintf("event %d is of unknown kind %q", event.Seq, event.Kind)).
			Fix("this office was written by a newer version of company; use that version")
	}
	data := mk()
	if len(event.Data) > 0 {
		if err := json.Unmarshal(event.Data, data); err != nil {
			return nil, E(ELedger, fmt.Sprintf("event %d (%s) cannot be read", event.Seq, event.Kind)).Wrap(err)
		}
	}
	return data, nil
}

// Meta holds the sender, the time and the id of a command. The id makes a repeated command harmless.
type Meta struct {
	ID    string
	Actor string
	Now   time.Time      // UTC; this package has no clock
	Zone  *time.Location // where the office's days begin; nil means UTC
}

// Actors that are not runs.
const (
	President = "president"
	Company   = "company"
)

func (m Meta) newEvent(task TaskID, sub SubtaskID, run RunID, data Data) Event {
	b, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("company: %s does not marshal: %v", data.Kind(), err))
	}
	actor := m.Actor
	if actor == "" {
		actor = Company
	}
	return Event{Time: m.Now.UTC(), Task: task, Subtask: sub, Run: run, Actor: actor, Kind: data.Kind(), Data: b,
		Cause: m.ID}
}

// CommandID returns the id that an office stores a command under. It adds the actor to the sender's own id, so senders
// that both count from 1 do not receive each other's answers.
func CommandID(actor, id string) string { return actor + ":" + id }

// Command is a request of a person or the outcome of an effect. Decide turns it into events or refuses it. A command
// never changes state itself.
type Command interface {
	decide(s *State, m Meta) ([]Event, error)
}

// Decide returns the events that a command causes. It returns no events if the command has no effect (a repeat), and an
// *Error if it is not allowed. It is pure.
func Decide(state *State, meta Meta, command Command) ([]Event, error) {
	if state.Office.Epoch == 0 {
		if _, ok := command.(StartOffice); !ok {
			return nil, E(EInvalid, "the office has not been opened").Fix("company submit opens it with the first instruction")
		}
	}
	return command.decide(state, meta)
}

// validateTarget refuses an event about a task, a subtask or a run that does not exist. Every record belongs to an
// existing one (SUB-9).
func (s *State) validateTarget(event Event) error {
	if event.Task == "" && ofOffice(event.Kind) || strings.HasPrefix(event.Kind, "office.") ||
		event.Kind == (*TaskSubmitted)(nil).Kind() {
		return nil
	}
	task := s.Tasks[event.Task]
	if event.Kind == (*TaskRestored)(nil).Kind() && task == nil && s.Past[event.Task] != nil {
		return nil
	}
	switch {
	case task == nil,
		event.Subtask != "" && task.Subtask(event.Subtask) == nil,
		event.Run != "" && task.Runs[event.Run] == nil && event.Kind != (*RunOffered)(nil).Kind() &&
			event.Kind != (*RunClaimed)(nil).Kind():
		return E(
			ELedger, fmt.Sprintf("event %d (%s) refers to something unknown: %s %s %s", event.Seq, event.Kind,
				event.Task,
				event.Subtask, event.Run))
	}
	return nil
}

// Apply folds one event into the state. It fails only on an invalid log: a gap, an unknown kind, or a move that
// CheckMoves refuses. After an error the state must not be used, since the event may have been applied in part.
func Apply(state *State, event Event) error {
	if event.Seq != state.Seq+1 {
		return E(ELedger, fmt.Sprintf("event %d follows event %d", event.Seq, state.Seq))
	}
	data, err := Decode(event)
	if err != nil {
		return err
	}
	if err := state.validateTarget(event); err != nil {
		return err
	}
	before := state.Tasks[event.Task]
	data.apply(state, event)
	state.Seq = event.Seq
	state.Time = event.Time
	if task := state.Tasks[event.Task]; task != nil {
		if task == before { // the event did not change it, so views share it
			task = state.editTask(event.Task)
		}
		task.Updated = event.Time
		if event.Kind != (*TaskRestored)(nil).Kind() { // TaskRestored brings a task back with its old status
			task.noteTimes(before, event.Time)
			err = CheckMoves(before, task)
		}
		task.noteLeaveNeeds()
	}
	state.endEdits()
	return err
}
