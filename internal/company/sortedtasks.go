package company

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// SortedTasks lists all tasks, the newest last.
func (s *State) SortedTasks() []*Task {
	number := func(id TaskID) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(string(id), "t")) // the ids are ours
		return n
	}
	return slices.SortedFunc(maps.Values(s.Tasks), func(a, b *Task) int { return number(a.ID) - number(b.ID) })
}
