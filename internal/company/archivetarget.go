package company

import (
	"reflect"
	"slices"
)

// ArchivedTargets returns the leads of the archives that contain tasks of a command. RestoreArchived decides the
// command with these archives.
func ArchivedTargets(state *State, command Command) []TaskID {
	if len(state.Past) == 0 {
		return nil
	}
	if _, archives := command.(ArchiveTask); archives {
		return nil
	}
	var out []TaskID
	for _, id := range state.tasksNamedIn(reflect.ValueOf(command)) {
		if lead, _ := state.ArchiveHolding(id); lead != "" && !slices.Contains(out, lead) {
			out = append(out, lead)
		}
	}
	return out
}

// tasksNamedIn returns the tasks that the exported fields of a struct and of its nested structs name.
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

// taskNamedBy returns the task that a field of a command refers to, or "".
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

// TaskAskedBy returns the task of a question, archived or not. It returns "" for an unknown question.
func (s *State) TaskAskedBy(id ApprovalID) TaskID {
	if a := s.Approvals[id]; a != nil {
		return a.Task
	}
	for _, pastTask := range s.Past {
		if slices.Contains(pastTask.Questions, id) {
			return pastTask.ID
		}
	}
	return ""
}
