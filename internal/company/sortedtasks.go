package company

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Number returns the task's number in its office, from 1.
func (id TaskID) Number() int {
	n, _ := strconv.Atoi(strings.TrimPrefix(string(id), "t")) // the ids are valid
	return n
}

// SortedTasks returns the tasks that are not archived, the newest last.
func (s *State) SortedTasks() []*Task {
	return slices.SortedFunc(maps.Values(s.Tasks), func(a, b *Task) int { return a.ID.Number() - b.ID.Number() })
}
