package main

import (
	"os"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// The bench of gates runs, leaves no layer of its module, and measures a part.
func TestQuickGate(t *testing.T) {
	hosttest.NeedsDocker(t)
	hosttest.Long(t, "a module is compiled and tested")
	dir := t.TempDir()
	r, err := Run(t.Context(), []string{"gate"}, Options{Dir: dir, Quick: true, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.RenderText())
	if seen := countLines(t, r); seen["gate"] != 2 || r.Lines[0].Note != "5 of 10 packages" {
		t.Errorf("%+v", r.Lines)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// The module of the bench has as many lines as its numbers say.
func TestModuleOfTheGate(t *testing.T) {
	dir := t.TempDir()
	if err := writeModule(dir, 10); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for n := range 10 {
		files, err := os.ReadDir(dir + "/" + packageName(n))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(dir + "/" + packageName(n) + "/" + f.Name())
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(string(text), "\n")
		}
	}
	if lines < 9_900 || lines > 10_100 {
		t.Errorf("%d lines, not about 10,000", lines)
	}
}

// The bench of effects needs no Docker.
func TestQuickEffect(t *testing.T) {
	t.Parallel()
	r, err := Run(t.Context(), []string{"effect"}, Options{Dir: t.TempDir(), Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if seen := countLines(t, r); seen["effect"] != 1 {
		t.Errorf("%+v", r.Lines)
	}
}
