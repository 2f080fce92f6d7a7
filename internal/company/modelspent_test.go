package company

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// What the ledger keeps of a run's models can be counted and shown, whatever their
// servers said.
func TestModelsOfARunAreBounded(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = "a\nb" + strings.Repeat("c", 400)
	}
	d := RunEnded{Models: []ModelSpent{
		{Model: "m", Input: -5, Cached: 7, Served: many}, {Model: "n", Input: 10, Cached: math.MaxInt64},
		{Model: "o", Input: 10, Cached: 4, Served: []string{"o-1"}},
	}}
	got := d.countableModels()
	if len(got[0].Served) != maxServed || len(got[0].Served[0]) > maxModelName+10 ||
		strings.Contains(got[0].Served[0], "\n") || got[0].Input != 0 || got[0].Cached != 0 {
		t.Errorf("%+v", got[0])
	}
	if got[1].Cached != 10 || !reflect.DeepEqual(got[2], d.Models[2]) {
		t.Errorf("%+v", got[1:])
	}
	r := &Run{Models: got}
	task := &Task{Runs: map[RunID]*Run{"a": r, "b": r, "c": {}}}
	if r.CacheUse() != (CacheUse{20, 14}) || task.CacheUse() != (CacheUse{40, 28}) {
		t.Errorf("%+v and %+v", r.CacheUse(), task.CacheUse())
	}
}
