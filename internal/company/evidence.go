package company

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// NoEvidence begins the text about a claim that nothing shows.
const NoEvidence = "NO_EVIDENCE"

// MaxVerifiedBytes limits the files that an Evidence lists, in bytes of JSON. They are part of one record of the
// ledger, which holds 4 MiB.
const MaxVerifiedBytes = 3 << 20

// Evidence is what the company itself found before it delivered a task: the record of every run, check and merge was
// whole, and git showed these files as changed (GAT-3, GAT-4).
type Evidence struct {
	At    time.Time      `json:"at"`
	Head  OID            `json:"head"` // the commit that was checked
	Tree  OID            `json:"tree"`
	Files []VerifiedFile `json:"files"`
	More  int            `json:"more,omitempty"` // further files
}

// VerifiedFile is a file that the work of a task changed.
type VerifiedFile struct {
	Path string `json:"path"` // in the repository
	// Action is created, modified or deleted, as git shows it. It is empty for a file that a ticket changed and that is
	// in the end as before.
	Action string `json:"action,omitempty"`
	Hash   OID    `json:"hash,omitempty"` // of its content in the checked tree, as git has it
	Exists bool   `json:"exists"`         // in the checked tree
}

// CountModified returns how many files git shows as changed (GAT-5). A deletion that git confirms counts too.
func (e *Evidence) CountModified() int {
	if e == nil {
		return 0
	}
	n := e.More
	for _, file := range e.Files {
		if file.Action != "" {
			n++
		}
	}
	return n
}

// checkEvidence refuses a completion that is not shown. No file has to differ if no subtask claims a change, as in a
// follow-up that only answers remarks.
func (t *Task) checkEvidence(evidence *Evidence) error {
	fault := E(EInvalid, string(t.ID)+" cannot be complete without evidence")
	switch {
	case evidence == nil:
		return fault.Because("nothing was checked")
	case evidence.Head != t.Head || evidence.Tree != t.Tree:
		return fault.Because("what was checked is another commit")
	case evidence.CountModified() == 0 && t.ClaimsChanges():
		return fault.Because("no file differs from the base")
	}
	return nil
}

// ClaimsChanges reports whether the work of a subtask is not the repository as it was.
func (t *Task) ClaimsChanges() bool {
	return slices.ContainsFunc(t.Subtasks, func(sub *Subtask) bool { return !sub.Unchanged })
}

// RefuseCompletion ends a task before its delivery, because claims of it are not shown or its report cannot be written.
// company retry checks it again.
type RefuseCompletion struct {
	Task    TaskID
	Head    OID
	Missing []string // what is not shown, at least one
}

func (c RefuseCompletion) decide(s *State, meta Meta) ([]Event, error) {
	task, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if task.Head != c.Head || !s.canDeliver(task) || len(c.Missing) == 0 {
		return nil, E(EConflict, "the missing evidence is not about the head to be delivered")
	}
	missing := plainLine(c.Missing[0], MaxRefusedText)
	if more := len(c.Missing) - 1; more > 0 {
		missing += fmt.Sprintf("; and %d more", more)
	}
	return []Event{meta.newEvent(task.ID, "", "", &TaskFailed{Code: EEvidence,
		Reason: strings.TrimSuffix(NoEvidence+": "+missing, ".") + ".",
		Hint:   fmt.Sprintf("company evidence verify %s lists what is missing; company retry %[1]s checks it again", task.ID),
	})}, nil
}
