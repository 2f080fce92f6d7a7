package company

import (
	"slices"
	"strings"
)

// Files that people read (transcripts, results, logs, tickets, the state of a task) are generated from the ledger, and
// no decision uses them. A failed write is recorded in the ledger anyway, so that a later reader can see why the file
// is missing or out of date.

// MaxUnwritten limits the recorded missing files of a task, and of the office.
const MaxUnwritten = 32

// UnwrittenFile is a file that could not be written.
type UnwrittenFile struct {
	File string `json:"file"` // within the office
	Why  string `json:"why"`
}

// RecordFileWrite records that a file could not be written, or was written after all. It is also accepted after the end
// of a task and during a stop.
type RecordFileWrite struct {
	Task TaskID // empty means a file of the office
	Run  RunID  // run that the file belongs to; may be empty
	File string
	Why  string // empty means that it was written
	// Full means that the disk is full: it can be written once there is room.
	Full bool
}

// Lacks returns why a file of the task is missing or out of date, or "" if no failure is recorded.
func (t *Task) Lacks(file string) string {
	for _, u := range t.Unwritten {
		if u.File == file {
			return u.Why
		}
	}
	return ""
}

func (c RecordFileWrite) decide(state *State, meta Meta) ([]Event, error) {
	list := state.Office.Unwritten
	if c.Task == "" && c.Run != "" || c.File == "" {
		return nil, E(EInvalid, "not a file of a task or of the office")
	}
	if c.Task != "" {
		task, err := state.Task(c.Task)
		switch {
		case err != nil:
			return nil, err
		case c.Run != "" && task.Runs[c.Run] == nil:
			return nil, E(ENotFound, "there is no run "+string(c.Run))
		}
		list = task.Unwritten
	}
	file := UnwrittenFile{File: plainLine(c.File, MaxRefusedText), Why: plainLine(c.Why, MaxRefusedText)}
	known := slices.ContainsFunc(list, func(u UnwrittenFile) bool { return u.File == file.File })
	if file.Why != "" && !c.Full && file.File == c.Task.LogFile() && state.isBeforeWork(c.Task) {
		ended := meta.newEvent(c.Task, "", "", &TaskFailed{Code: EEvidence,
			Reason: "Its log cannot be written: " + strings.TrimSuffix(file.Why, ".") + ".",
			Hint:   "make " + file.File + " below the runtime folder writable; then company retry " + string(c.Task)})
		if known || len(list) >= MaxUnwritten {
			return []Event{ended}, nil
		}
		return []Event{meta.newEvent(c.Task, "", c.Run, &FileWriteFailed{file}), ended}, nil
	}
	switch {
	case known == (file.Why != ""), !known && len(list) >= MaxUnwritten:
		return nil, nil
	case known:
		return []Event{meta.newEvent(c.Task, "", c.Run, &FileWriteRecovered{File: file.File})}, nil
	}
	return []Event{meta.newEvent(c.Task, "", c.Run, &FileWriteFailed{file})}, nil
}

// isBeforeWork reports whether a task is open and no agent has worked on it. A task whose log cannot be written ends
// then, before it costs anything (LOG-2).
func (s *State) isBeforeWork(id TaskID) bool {
	task, err := s.activeTask(id)
	return err == nil && len(task.Runs) == 0
}

// FileWriteFailed records that a file is missing or out of date, and why.
type FileWriteFailed struct{ UnwrittenFile }

var _ = registerKind[FileWriteFailed]()

func (*FileWriteFailed) Kind() string { return "file.unwritten" }
func (d *FileWriteFailed) apply(s *State, e Event) {
	list := s.unwrittenFiles(e)
	*list = append(slices.Clone(*list), d.UnwrittenFile)
}

// FileWriteRecovered records that a file was written after an earlier failure.
type FileWriteRecovered struct {
	File string `json:"file"`
}

var _ = registerKind[FileWriteRecovered]()

func (*FileWriteRecovered) Kind() string { return "file.written" }
func (d *FileWriteRecovered) apply(s *State, e Event) {
	list := s.unwrittenFiles(e)
	*list = slices.DeleteFunc(slices.Clone(*list), func(u UnwrittenFile) bool { return u.File == d.File })
	if len(*list) == 0 {
		*list = nil
	}
}

// unwrittenFiles returns the list that an event changes.
func (s *State) unwrittenFiles(event Event) *[]UnwrittenFile {
	if event.Task == "" {
		return &s.Office.Unwritten
	}
	return &s.editTask(event.Task).Unwritten
}

// ofOffice reports whether an event of this kind may have no task.
func ofOffice(kind string) bool {
	return strings.HasPrefix(kind, "office.") || strings.HasPrefix(kind, "file.") || strings.HasPrefix(kind, "approval.")
}
