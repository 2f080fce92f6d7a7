package company

import (
	"slices"
	"strings"
)

// Files that people read (transcripts, results, logs, tickets, the state of a
// task) are made from the ledger, and decide nothing. A failed write is
// recorded in the ledger all the same: a later reader has to know why the file
// is absent, or old.

// MaxUnwritten bounds the recorded missing files of a task, and of the office.
const MaxUnwritten = 32

// UnwrittenFile is a file that could not be written.
type UnwrittenFile struct {
	File string `json:"file"` // within the office
	Why  string `json:"why"`
}

// RecordFileWrite brings in that a file could not be written, or was in the end. It is
// taken after the end of a task and during a stop, too.
type RecordFileWrite struct {
	Task TaskID // empty: the file is the office's
	Run  RunID  // whose it is; may be empty
	File string
	Why  string // empty: it was written
}

// Lacks says why a file of the task is not there, or old; empty: it is not known
// to be either.
func (t *Task) Lacks(file string) string {
	for _, u := range t.Unwritten {
		if u.File == file {
			return u.Why
		}
	}
	return ""
}

func (c RecordFileWrite) decide(s *State, m Meta) ([]Event, error) {
	list := s.Office.Unwritten
	if c.Task == "" && c.Run != "" || c.File == "" {
		return nil, E(EInvalid, "that is no file of a task or of the office")
	}
	if c.Task != "" {
		t, err := s.Task(c.Task)
		switch {
		case err != nil:
			return nil, err
		case c.Run != "" && t.Runs[c.Run] == nil:
			return nil, E(ENotFound, "there is no run "+string(c.Run))
		}
		list = t.Unwritten
	}
	d := UnwrittenFile{File: plainLine(c.File, MaxRefusedText), Why: plainLine(c.Why, MaxRefusedText)}
	known := slices.ContainsFunc(list, func(u UnwrittenFile) bool { return u.File == d.File })
	switch {
	case known == (d.Why != ""), !known && len(list) >= MaxUnwritten:
		return nil, nil
	case known:
		return []Event{m.newEvent(c.Task, "", c.Run, &FileWriteRecovered{File: d.File})}, nil
	}
	return []Event{m.newEvent(c.Task, "", c.Run, &FileWriteFailed{d})}, nil
}

// FileWriteFailed says that a file is not there, or not as it should be, and why.
type FileWriteFailed struct{ UnwrittenFile }

var _ = registerKind[FileWriteFailed]()

func (*FileWriteFailed) Kind() string { return "file.unwritten" }
func (d *FileWriteFailed) apply(s *State, e Event) {
	list := s.unwrittenFiles(e)
	*list = append(slices.Clone(*list), d.UnwrittenFile)
}

// FileWriteRecovered says that a file that could not be written is there now.
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

// unwrittenFiles is the list that an event changes.
func (s *State) unwrittenFiles(e Event) *[]UnwrittenFile {
	if e.Task == "" {
		return &s.Office.Unwritten
	}
	return &s.editTask(e.Task).Unwritten
}

// ofOffice says whether an event of this kind may be about no task.
func ofOffice(kind string) bool {
	return strings.HasPrefix(kind, "office.") || strings.HasPrefix(kind, "file.") || strings.HasPrefix(kind, "approval.")
}
