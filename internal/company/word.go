package company

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of the president's messages to one run. Each becomes part of the conversation and of every copy of the state.
const (
	MaxWords = 20
	MaxWord  = 8 << 10 // bytes of one
)

// Word is a message of the president to a run.
type Word struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Tell sends a message to the worker of a subtask, which reads it at its next turn.
type Tell struct {
	Subtask SubtaskID
	Text    string
}

func (c Tell) decide(s *State, meta Meta) ([]Event, error) {
	task, sub, err := s.findSubtask(c.Subtask)
	if err != nil {
		return nil, err
	}
	show := "company show " + string(task.ID)
	switch {
	case strings.TrimSpace(c.Text) == "":
		return nil, E(EInvalid, "the message is empty").Fix(fmt.Sprintf("company tell %s %q", sub.ID, "…"))
	case len(c.Text) > MaxWord:
		return nil, E(EInvalid, fmt.Sprintf("the message is longer than %d KiB", MaxWord>>10)).Fix("shorten it")
	case !utf8.ValidString(c.Text) || strings.ContainsRune(c.Text, 0):
		return nil, E(EInvalid, "the message is not text").Because("it holds bytes that are not UTF-8").
			Fix("use UTF-8 text")
	case task.Status.Ended():
		return nil, E(EConflict, string(task.ID)+" has ended: "+task.Status.Text()).Because("no worker works on it").Fix(show)
	}
	run := task.Runs[sub.Current]
	if run == nil || run.Ended || sub.Status != SubtaskAssigned && sub.Status != SubtaskRunning {
		return nil, E(EConflict, "no worker works on "+string(sub.ID)+" now").
			Because("it is " + sub.describeStanding()).Fix(show)
	}
	if len(run.Words) >= MaxWords {
		return nil, E(EConflict, fmt.Sprintf("%s has already received %d messages", run.ID, MaxWords)).
			Fix("wait until it has ended, or company cancel " + string(task.ID))
	}
	return []Event{meta.newEvent(task.ID, sub.ID, run.ID, &RunTold{Text: c.Text})}, nil
}

// findSubtask returns a subtask and its task for an id that a person gave.
func (s *State) findSubtask(id SubtaskID) (*Task, *Subtask, error) {
	if !id.Valid() {
		return nil, nil, E(EInvalid, "there is no subtask "+cutText(string(id), 40)).
			Fix("subtasks look like t12-03; company show t12 lists them")
	}
	task, err := s.Task(id.Task())
	if err != nil {
		return nil, nil, err
	}
	sub := task.Subtask(id)
	if sub == nil {
		return nil, nil, E(ENotFound, "there is no subtask "+string(id)).
			Fix("company show " + string(task.ID) + " lists them")
	}
	return task, sub, nil
}

// describeStanding returns the state of a subtask for people.
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
		if sub.Unresolved != nil && !sub.isSummarized() {
			return "blocked by a conflict, which the reviewer summarises for you"
		}
		return "blocked, and waits for your answer"
	}
	return string(sub.Status)
}

// RunTold records a message of the president to a run.
type RunTold struct {
	Text string `json:"text"`
}

var _ = registerKind[RunTold]()

func (*RunTold) Kind() string { return "run.told" }
func (d *RunTold) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	run := *task.Runs[event.Run]
	run.Words = append(slices.Clone(run.Words), Word{At: event.Time, Text: d.Text})
	task.setRun(&run)
}

// FormatWord returns a message of the president in the form that an agent reads.
func FormatWord(text string) string { return "The president says: " + text }

// formatUnheard returns the messages that a run has not read, or "" if it read all.
func (r *Run) formatUnheard() string {
	var all []string
	for _, w := range r.Words[r.Heard:] {
		all = append(all, FormatWord(w.Text))
	}
	return strings.Join(all, "\n\n")
}

// keepUnheard passes the messages that the last run did not read to the subtask's next run. A successful run is
// followed by another one, because the message may ask for different work.
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
