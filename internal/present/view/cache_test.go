package view

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"company/internal/company"
)

// ADP-6: a run and a task show how much of their input was cached, and under which
// names a server served a model.
func TestCacheAndServedModelsAreShown(t *testing.T) {
	r := &company.Run{ID: "t1-01.1", Role: company.Worker, Ended: true, Models: []company.ModelSpent{
		{Model: "m", Input: 800, Cached: 600, Served: []string{"m-2030", "m-\x1bcheap"}}, {Model: "n", Input: 200},
	}}
	old := &company.Run{ID: "t1-01.0", Role: company.Worker, Ended: true, Models: []company.ModelSpent{{Model: "m"}}}
	task := &company.Task{ID: "t1", Runs: map[company.RunID]*company.Run{r.ID: r, old.ID: old}}
	src := Source{State: company.NewState()}
	run := src.Run(task, r)
	for _, want := range []string{"  cache:  60 % of the input was cached (600 of 1000 tokens)\n",
		"  served: m as m-2030, then m-\\x1bcheap (the server changed it)\n"} {
		if text := run.Render(Style{}); !strings.Contains(text, want) {
			t.Errorf("the run lacks %q:\n%s", want, text)
		}
	}
	text, err := json.Marshal(run)
	if err != nil || !strings.Contains(string(text), `"cache":{"input_tokens":1000,"cached_tokens":600,"percent":60}`) ||
		!strings.Contains(string(text), `"served":["m-2030"`) {
		t.Errorf("%v: %s", err, text)
	}
	detail := src.TaskDetail(task)
	if detail.Cache == nil || *detail.Cache != (Cache{1000, 600, 60}) ||
		!strings.Contains(detail.Render(Style{}), "  cache:  60 %") {
		t.Errorf("the task shows %+v", detail.Cache)
	}
	for _, quiet := range []Run{src.Run(task, old), src.Run(task, &company.Run{ID: "t1-01.2"})} {
		if quiet.Cache != nil || strings.Contains(quiet.Render(Style{}), "cache:") ||
			strings.Contains(quiet.Render(Style{}), "served:") {
			t.Errorf("a run that no server counted: %+v", quiet)
		}
	}
	if got := viewCache(company.CacheUse{Input: math.MaxInt64, Cached: math.MaxInt64}); got.Percent != 100 {
		t.Errorf("at the largest numbers: %+v", got)
	}
}
