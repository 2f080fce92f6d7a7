package main

import (
	"flag"
	"os"
	"testing"

	"company/internal/company"
)

// How much TestQuickScale does. With more it is what a profile is taken of: go test
// ./tools/bench -run TestQuickScale -cpuprofile cpu -args -subtasks 5000 -workers 64 -driver file
var (
	scaleSubtasks = flag.Int("subtasks", 0, "of TestQuickScale; 0: a few")
	scaleWorkers  = flag.Int("workers", 0, "of TestQuickScale; 0: a few")
	scaleDriver   = flag.String("driver", "", "of TestQuickScale; empty: each")
)

// The bench of the engine needs no Docker: an office with its workers does the tasks on
// each bus.
func TestQuickScale(t *testing.T) {
	dir := t.TempDir()
	r, err := Run(t.Context(), []string{"scale"},
		Options{Dir: dir, Quick: true,
			Scale: ScaleSize{Subtasks: *scaleSubtasks, Workers: *scaleWorkers, Driver: *scaleDriver}})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.RenderText())
	want := 8 * len(busDriverNames)
	if *scaleDriver != "" {
		want = 8
	}
	if seen := countLines(t, r); seen["scale"] != want {
		t.Errorf("%+v", r.Lines)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A size that cannot be is refused.
func TestScaleSizes(t *testing.T) {
	for _, s := range []ScaleSize{
		{Subtasks: 9}, {Subtasks: 100, Tasks: 7}, {Subtasks: 100, Tasks: 2}, {Subtasks: 100, Workers: -1}, {Driver: "paper"},
		{Subtasks: 100, Tasks: -1},
	} {
		if _, err := Run(t.Context(), []string{"scale"}, Options{Dir: t.TempDir(), Quick: true, Scale: s}); company.CodeOf(
			err) != company.EUsage {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
