package company

import (
	"cmp"
	"slices"
	"strings"
)

// Guide is the manager's decision on a subtask that was handed to it: go on
// with this advice, perhaps with another model, plan it anew, or give it up.
type Guide struct {
	Subtask SubtaskID `json:"subtask"`
	Text    string    `json:"text"`
	GiveUp  bool      `json:"give_up,omitempty"`
	// Model is the profile that its workers use from now on; empty: they keep theirs.
	Model string `json:"model,omitempty"`
	// MoreTurns are replies that each of its next runs may have beyond those of the config;
	// 0: as before.
	MoreTurns int `json:"more_turns,omitempty"`
	// Parts plan the subtask anew, and split it where they are several.
	Parts []PlannedSubtask `json:"parts,omitempty"`
	// Decisions are what the advice settles where the instruction is open.
	Decisions []string `json:"decisions,omitempty"`
}

// MaxMoreTurns bounds the replies that the manager may add to each run of a stuck subtask. What
// they cost stays below the task's cap.
const MaxMoreTurns = 60

// SubtaskGuided is the manager's decision.
type SubtaskGuided struct {
	Text      string   `json:"text"`
	GiveUp    bool     `json:"give_up,omitempty"`
	Model     string   `json:"model,omitempty"` // the profile of its next runs; empty: as before
	MoreTurns int      `json:"more_turns,omitempty"`
	Decisions []string `json:"decisions,omitempty"`
}

var _ = registerKind[SubtaskGuided]()

func (*SubtaskGuided) Kind() string { return "subtask.guided" }
func (d *SubtaskGuided) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	sub := t.editSubtask(e.Subtask)
	t.noteDecision(e.Run, sub, ManagerDecision{Text: d.Text, GaveUp: d.GiveUp, Model: d.Model, MoreTurns: d.MoreTurns})
	if d.GiveUp {
		sub.blockForPresident(sub.Escalation + "; the manager gives up: " + d.Text)
		return
	}
	sub.Guided++
	sub.Model = cmp.Or(d.Model, sub.Model)
	sub.MoreTurns = cmp.Or(d.MoreTurns, sub.MoreTurns)
	sub.Decisions = append(slices.Clone(sub.Decisions), d.Decisions...)
	delete(t.Failures, "run "+string(sub.ID))
	sub.resetAndRequeue("Your manager says: " + d.Text)
}

// CheckModel is the error of a profile that the manager may not give to a subtask: one that the
// task's settings do not name, or that the subtask has already. Empty is no profile.
func (t *Task) CheckModel(sub *Subtask, profile string) *Error {
	allowed := slices.DeleteFunc(slices.Clone(t.Settings.EscalateTo), func(name string) bool { return name == sub.Model })
	switch {
	case profile == "" || slices.Contains(allowed, profile):
		return nil
	case profile == sub.Model:
		return E(EConflict, string(sub.ID)+" has the model "+profile+" already").Fix(listModels(allowed))
	}
	return E(ENotFound, "the model "+cutText(profile, 60)+" is none that "+string(sub.ID)+" may be given").
		Because("agents.worker.escalate_to names those").Fix(listModels(allowed))
}

// listModels says which profiles are left.
func listModels(allowed []string) string {
	if len(allowed) == 0 {
		return "there is none: guide the worker, or give the ticket up"
	}
	return "name one of: " + strings.Join(allowed, ", ")
}
