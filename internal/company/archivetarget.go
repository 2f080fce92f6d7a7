package company

import (
	"reflect"
	"slices"
)

// ArchivedTargets names the archived tasks that a command is about: those in whose
// archives they lie. It is decided with these (RestoreArchived).
func ArchivedTargets(s *State, c Command) []TaskID {
	if len(s.Past) == 0 {
		return nil
	}
	if _, archives := c.(ArchiveTask); archives {
		return nil
	}
	var out []TaskID
	for _, id := range s.tasksNamedIn(reflect.ValueOf(c)) {
		if lead, _ := s.ArchiveHolding(id); lead != "" && !slices.Contains(out, lead) {
			out = append(out, lead)
		}
	}
	return out
}

// tasksNamedIn are the tasks that the fields of a struct name, and those of structs in it.
func (s *State) tasksNamedIn(v reflect.Value) (out []TaskID) {
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if id := s.taskNamedBy(v.Field(i).Interface()); id != "" {
			out = append(out, id)
		}
		out = append(out, s.tasksNamedIn(v.Field(i))...)
	}
	return out
}

// taskNamedBy is the task that a field of a command names, or is of; empty: none.
func (s *State) taskNamedBy(field any) TaskID {
	switch id := field.(type) {
	case TaskID:
		return id
	case SubtaskID:
		return id.Task()
	case RunID:
		return id.Task()
	case ApprovalID:
		return s.TaskAskedBy(id)
	}
	return ""
}

// TaskAskedBy is the task of a question, archived or not; empty: there is no such
// question.
func (s *State) TaskAskedBy(id ApprovalID) TaskID {
	if a := s.Approvals[id]; a != nil {
		return a.Task
	}
	for _, p := range s.Past {
		if slices.Contains(p.Questions, id) {
			return p.ID
		}
	}
	return ""
}
