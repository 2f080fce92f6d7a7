package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Hold is work of a task that does not begin now, and the reason.
type Hold struct {
	Subtask company.SubtaskID `json:"subtask,omitempty"` // absent if the whole task waits
	Kind    company.HoldKind  `json:"kind"`
	Tasks   []company.TaskID  `json:"tasks,omitempty"` // the tasks that it waits for
	Until   *time.Time        `json:"until,omitempty"` // when a failed step is tried again
	Text    string            `json:"text"`            // the reason, such as "tries again in 48s (attempt 5 of 5)"
	Error   string            `json:"error,omitempty"` // of the step that failed
}

// NewHold returns the view of a hold. active is the number of tasks that may be under way at once.
func NewHold(hold company.Hold, state *company.State, active int, now time.Time) Hold {
	v := Hold{Subtask: hold.Subtask, Kind: hold.Kind, Tasks: hold.Tasks}
	switch hold.Kind {
	case company.HoldTasks:
		v.Text = "waits for " + JoinIDs(hold.Tasks)
	case company.HoldBranch:
		v.Text = "waits for " + JoinIDs(hold.Tasks) + ", which uses the same branch"
	case company.HoldSlot:
		v.Text = fmt.Sprintf("waits for a slot: %s; limits.concurrent_tasks is %d", describeUnderWay(hold.Tasks), active)
	case company.HoldRetry:
		until := hold.Failure.NotBefore.UTC()
		v.Until = &until
		v.Text = retryText(hold, now)
		v.Error = safetext.EscapeLine(hold.Failure.Error, 200)
	case company.HoldAnswer:
		v.Text = "waits for your answer"
	case company.HoldMoney:
		v.Text = "waits for budget: a cap of the office is used up"
	case company.HoldWorker:
		v.Text = fmt.Sprintf("waits for a free worker (%s in all)", company.Count(state.Office.WorkerCount(), "worker"))
	case company.HoldWriters:
		v.Text = fmt.Sprintf("waits for its turn in the project: limits.writers is %d", state.Office.Writers)
	}
	return v
}

// describeUnderWay names the tasks that are under way.
func describeUnderWay(ids []company.TaskID) string {
	verb := " are under way ("
	if len(ids) == 1 {
		verb = " is under way ("
	}
	return company.Count(len(ids), "task") + verb + joinFirst(ids, 5) + ")"
}

// joinFirst joins at most so many ids with commas, and counts the others.
func joinFirst[ID ~string](ids []ID, most int) string {
	var text string
	for i, id := range ids[:min(len(ids), most)] {
		if i > 0 {
			text += ", "
		}
		text += string(id)
	}
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// retryText says when a failed step is tried again, and what happens if that fails, too.
func retryText(hold company.Hold, now time.Time) string {
	wait := max(0, hold.Failure.NotBefore.Sub(now)+time.Second-1) // a part of a second counts as one
	text := "retries in " + FormatAge(wait)
	if hold.Attempts > 0 {
		text += fmt.Sprintf(" (attempt %d of %d)", hold.Attempt, hold.Attempts)
	}
	switch {
	case hold.Attempt != hold.Attempts:
	case hold.Manager:
		text += ", then the manager decides"
	default:
		text += ", then asks you"
	}
	return text
}

// joinReason returns the text of a hold, followed by the error of its step.
func (v Hold) joinReason() string {
	if v.Error == "" {
		return v.Text
	}
	return v.Text + ": " + v.Error
}

// HoldTexts lists why a task, or parts of it, do not begin now. Questions are not among it, nor the tasks that it
// begins after: its state names those.
func (v Task) HoldTexts() []string {
	var out []string
	parts := map[string][]company.SubtaskID{} // by what they wait for
	for _, hold := range v.Waits {
		switch {
		case hold.Kind == company.HoldTasks || hold.Kind == company.HoldAnswer:
		case hold.Subtask == "":
			out = append(out, hold.joinReason())
		default:
			parts[hold.joinReason()] = append(parts[hold.joinReason()], hold.Subtask)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(parts)) {
		out = append(out, joinFirst(parts[text], 4)+": "+text)
	}
	return out
}

// LineText returns the title of a task in one line, with the reason if it waits.
func (v Task) LineText() string {
	if texts := v.HoldTexts(); len(texts) > 0 {
		return v.Title() + " (" + strings.Join(texts, "; ") + ")"
	}
	return v.Title()
}
