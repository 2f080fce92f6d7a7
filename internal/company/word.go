package company

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of the president's messages to one run: each is part of the conversation
// from then on, and of every copy of the state.
const (
	MaxWords = 20
	MaxWord  = 8 << 10 // bytes of one
)

// Word is a message of the president to a run that is under way.
type Word struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Tell gives the worker of a subtask a message. It reads it at its next turn.
type Tell struct {
	Subtask SubtaskID
	Text    string
}

func (c Tell) decide(s *State, m Meta) ([]Event, error) {
	t, sub, err := s.findSubtask(c.Subtask)
	if err != nil {
		return nil, err
	}
	show := "company show " + string(t.ID)
	switch {
	case strings.TrimSpace(c.Text) == "":
		return nil, E(EInvalid, "there is nothing to tell").Fix(fmt.Sprintf("company tell %s %q", sub.ID, "…"))
	case len(c.Text) > MaxWord:
		return nil, E(EInvalid, fmt.Sprintf("a message to a worker has at most %d KiB", MaxWord>>10)).Fix("shorten it")
	case !utf8.ValidString(c.Text) || strings.ContainsRune(c.Text, 0):
		return nil, E(EInvalid, "the message is not text").Because("it holds bytes that are not UTF-8").Fix("give it as UTF-8 text")
	case t.Status.Ended():
		return nil, E(EConflict, string(t.ID)+" has ended: "+t.Status.Text()).Because("no worker is at it").Fix(show)
	}
	r := t.Runs[sub.Current]
	if r == nil || r.Ended || sub.Status != SubtaskAssigned && sub.Status != SubtaskRunning {
		return nil, E(EConflict, "no worker is at "+string(sub.ID)+" now").Because("it is " + sub.describeStanding()).Fix(show)
	}
	if len(r.Words) >= MaxWords {
		return nil, E(EConflict, fmt.Sprintf("%s was told %d things already", r.ID, MaxWords)).Fix("wait until it has ended, or company cancel " + string(t.ID))
	}
	return []Event{m.newEvent(t.ID, sub.ID, r.ID, &RunTold{Text: c.Text})}, nil
}

// findSubtask finds a subtask and its task by an id that a person gave.
func (s *State) findSubtask(id SubtaskID) (*Task, *Subtask, error) {
	if !id.Valid() {
		return nil, nil, E(EInvalid, "there is no subtask "+cutText(string(id), 40)).Fix("subtasks look like t12-03; company show t12 lists them")
	}
	t, err := s.Task(id.Task())
	if err != nil {
		return nil, nil, err
	}
	sub := t.Subtask(id)
	if sub == nil {
		return nil, nil, E(ENotFound, "there is no subtask "+string(id)).Fix("company show " + string(t.ID) + " lists them")
	}
	return t, sub, nil
}

// describeStanding tells where a subtask stands.
func (sub *Subtask) describeStanding() string {
	switch sub.Status {
	case SubtaskPending:
		if sub.Escalation != "" {
			return "with its manager"
		}
		return "not begun, or between two runs"
	case SubtaskInGate:
		return "being checked"
	case SubtaskReviewing:
		return "being reviewed"
	case SubtaskMerging:
		return "being merged"
	case SubtaskCompleted:
		return "merged"
	case SubtaskBlocked:
		return "blocked, and waits for your answer"
	}
	return string(sub.Status)
}

// RunTold is a message of the president to a run.
type RunTold struct {
	Text string `json:"text"`
}

var _ = registerKind[RunTold]()

func (*RunTold) Kind() string { return "run.told" }
func (d *RunTold) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	r := *t.Runs[e.Run]
	r.Words = append(slices.Clone(r.Words), Word{At: e.Time, Text: d.Text})
	t.setRun(&r)
}

// FormatWord is how an agent reads a message of the president.
func FormatWord(text string) string { return "The president says: " + text }

// formatUnheard is the messages that a run has not read; "": it read all of them.
func (r *Run) formatUnheard() string {
	var all []string
	for _, w := range r.Words[r.Heard:] {
		all = append(all, FormatWord(w.Text))
	}
	return strings.Join(all, "\n\n")
}

// keepUnheard has the next run of a subtask begin with the messages that the last one
// had no turn left to read. A run that ended well has one more after it: the
// message may ask for something else than what it did.
func (sub *Subtask) keepUnheard(words string) {
	switch {
	case words == "":
	case sub.Status == SubtaskInGate:
		sub.requeue(words)
	case sub.Escalation != "":
		sub.Escalation = appendInput(sub.Escalation, words)
	default:
		sub.Input = appendInput(sub.Input, words)
	}
}
