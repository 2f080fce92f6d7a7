package company

import (
	"cmp"
	"slices"
	"strings"
)

// Guide is the manager's decision on a subtask that was escalated to it: continue with advice and perhaps another
// model, replan it, or give it up.
type Guide struct {
	Subtask SubtaskID `json:"subtask"`
	Text    string    `json:"text"`
	GiveUp  bool      `json:"give_up,omitempty"`
	// Model is the profile that its workers use from now on. Empty means no change.
	Model string `json:"model,omitempty"`
	// MoreTurns is the number of replies that each of its next runs may have beyond the config's limit. Zero means no
	// change.
	MoreTurns int `json:"more_turns,omitempty"`
	// Parts replan the subtask, and split it if there are several.
	Parts []PlannedSubtask `json:"parts,omitempty"`
	// Decisions lists points that the advice settles where the instruction left them open.
	Decisions []string `json:"decisions,omitempty"`
}

// MaxMoreTurns limits the replies that the manager may add to each run of a stuck subtask. Their cost still counts
// against the task's cap.
const MaxMoreTurns = 60

// SubtaskGuided records the manager's decision.
type SubtaskGuided struct {
	Text      string   `json:"text"`
	GiveUp    bool     `json:"give_up,omitempty"`
	Model     string   `json:"model,omitempty"` // the profile of its next runs; empty means no change
	MoreTurns int      `json:"more_turns,omitempty"`
	Decisions []string `json:"decisions,omitempty"`
}

var _ = registerKind[SubtaskGuided]()

func (*SubtaskGuided) Kind() string { return "subtask.guided" }
func (d *SubtaskGuided) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	sub := task.editSubtask(event.Subtask)
	task.noteDecision(event.Run, sub,
		ManagerDecision{Text: d.Text, GaveUp: d.GiveUp, Model: d.Model, MoreTurns: d.MoreTurns})
	if d.GiveUp {
		sub.blockForPresident(sub.Escalation + "; the manager gives up: " + d.Text)
		return
	}
	sub.Guided++
	sub.Model = cmp.Or(d.Model, sub.Model)
	sub.MoreTurns = cmp.Or(d.MoreTurns, sub.MoreTurns)
	sub.Decisions = append(slices.Clone(sub.Decisions), d.Decisions...)
	delete(task.Failures, "run "+string(sub.ID))
	sub.resetAndRequeue("Your manager says: " + d.Text)
}

// CheckModel returns an error if the manager may not give a profile to a subtask. The profile must be in the task's
// settings, and differ from the subtask's own. An empty profile is valid.
func (t *Task) CheckModel(sub *Subtask, profile string) *Error {
	allowed := slices.DeleteFunc(slices.Clone(t.Settings.EscalateTo), func(name string) bool { return name == sub.Model })
	switch {
	case profile == "" || slices.Contains(allowed, profile):
		return nil
	case profile == sub.Model:
		return E(EConflict, string(sub.ID)+" already has the model "+profile).Fix(listModels(allowed))
	}
	return E(ENotFound, "model profile "+cutText(profile, 60)+" is not allowed for "+string(sub.ID)).
		Because("agents.worker.escalate_to names the allowed ones").Fix(listModels(allowed))
}

// listModels returns a hint with the remaining profiles.
func listModels(allowed []string) string {
	if len(allowed) == 0 {
		return "no other profile is allowed: guide the worker, or give the ticket up"
	}
	return "name one of: " + strings.Join(allowed, ", ")
}
