package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// Every bench runs, gives numbers, and leaves nothing behind. How good the
// numbers are is not a test's business.
func TestQuick(t *testing.T) {
	hosttest.Long(t, "one of many alike")
	hosttest.NeedsDocker(t)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	program := filepath.Join(t.TempDir(), "company")
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", program, "company/cmd/company")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build company: %v\n%s", err, out)
	}
	r, err := Run(ctx, nil, Options{Dir: dir, Quick: true, Program: program, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	seen := countLines(t, r)
	for _, b := range benches {
		if (seen[b.name] == 0) != b.asked {
			t.Errorf("%s printed %d lines", b.name, seen[b.name])
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if r.CPUs < 1 || r.LoadBefore == "" || r.LoadAfter == "" {
		t.Errorf("%+v", r)
	}
}

// countLines counts the numbers of each bench, and checks that they are whole.
func countLines(t *testing.T, r Report) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for _, l := range r.Lines {
		seen[l.Bench]++
		if l.What == "" || l.Unit == "" || l.Ours <= 0 || l.Samples < 1 || (l.Against != "") != (l.Bare > 0 && l.Ratio > 0) ||
			(l.Target != "") != (l.Met != nil) {
			t.Errorf("%+v", l)
		}
	}
	return seen
}

// The bench of packages runs with each client, and takes away the layers that it made.
// pip's and cargo's packages are made up, and need no registry of the outside.
func TestQuickDeps(t *testing.T) {
	hosttest.NeedsDocker(t)
	for _, c := range packageClients {
		t.Run(c.name, func(t *testing.T) {
			hosttest.Long(t, "clients install packages beside our layers")
			if c.name == "pip" {
				if out, err := exec.CommandContext(t.Context(), "python3", "-m", "pip", "--version").CombinedOutput(); err != nil {
					hosttest.Lacks(t, "this host has no pip: %v %s", err, out)
				}
			}
			if c.name == "cargo" {
				if _, err := exec.LookPath("cargo"); err != nil {
					hosttest.Lacks(t, "this host has no cargo: %v", err)
				}
			}
			dir := t.TempDir()
			r, err := Run(t.Context(), []string{depsGroup + "-" + c.name},
				Options{Dir: dir, Quick: true, Progress: func(s string) { t.Log(s) }})
			if err != nil {
				t.Fatal(err)
			}
			if seen := countLines(t, r); len(seen) != 1 || len(r.Lines) < 4 {
				t.Errorf("%+v", r.Lines)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

// The bench of the bus needs no Docker.
func TestQuickBus(t *testing.T) {
	dir := t.TempDir()
	r, err := Run(t.Context(), []string{"bus"}, Options{Dir: dir, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if seen := countLines(t, r); seen["bus"] != 4 {
		t.Errorf("%+v", r.Lines)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestUnknown(t *testing.T) {
	dir := t.TempDir()
	if _, err := Run(t.Context(), []string{"ledger", "speed"}, Options{Dir: dir}); company.CodeOf(err) != company.EUsage {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestTake(t *testing.T) {
	var order string
	fn := func(name string, d time.Duration) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			order += name
			return d, nil
		}
	}
	got, err := takeSamples(t.Context(), 3, fn("a", time.Second), fn("b", 2*time.Second))
	if err != nil || order != "abbaabba" || len(got[0]) != 3 || medianMillis(got[1]) != 2000 {
		t.Errorf("%v, %v, %s", got, err, order)
	}
	if m := medianMillis([]time.Duration{4, 1, 2, 100}); m != 3e-6 {
		t.Errorf("%v", m)
	}
}
