package company

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// number is the task's place among those of its office, from 1.
func (id TaskID) number() int {
	n, _ := strconv.Atoi(strings.TrimPrefix(string(id), "t")) // the ids are ours
	return n
}

// SortedTasks lists all tasks, the newest last.
func (s *State) SortedTasks() []*Task {
	return slices.SortedFunc(maps.Values(s.Tasks), func(a, b *Task) int { return a.ID.number() - b.ID.number() })
}
