package company

import (
	"context"
	"strings"
	"testing"
)

// What the wiring left out is named, all of it, before anything begins.
func TestCheckParts(t *testing.T) {
	t.Parallel()
	type part struct {
		Decider Decider
		Find    OutcomeFinder
		Task    *Task
		Names   map[string]int
		Maybe   *Task `part:"optional"`
		Count   int
		hidden  *Task
	}
	var none *State
	full := part{Find: func(context.Context, Effect) (Command, error) { return nil, nil }, Task: &Task{},
		Names: map[string]int{}, Decider: typedNil{}, hidden: nil}
	if err := CheckParts(full, &full); err != nil {
		t.Error(err)
	}
	err := CheckParts(full, &part{}, struct{ Any any }{none})
	for _, want := range []string{"company.part.Decider, company.part.Find, company.part.Task, company.part.Names, ",
		".Any"} {
		if CodeOf(err) != EInternal || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	if n := strings.Count(err.Error(), ","); n != 4 {
		t.Errorf("%d things are missing too: %v", n+1, err)
	}
}

type typedNil struct{ Decider }
