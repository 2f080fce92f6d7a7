package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The four mutants that matter most, with every test run; make mutants tries
// all of them.
func TestShort(t *testing.T) {
	t.Chdir("../..")
	ok, err := run(t.Context(), true, "")
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Error("a mutant was not noticed")
	}
}

// A list that proves nothing is said to: each of these is no good mutant.
func TestBadMutantsAreSaid(t *testing.T) {
	t.Chdir("../..")
	dir := t.TempDir()
	clean := filepath.Join(dir, "clean.test")
	if out, err := build(t.Context(), clean, ""); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const text = "func NewTaskID(n int) TaskID {"
	for want, m := range map[string]mutant{
		"occurs 0 times":              {file: "id.go", old: "no such text", test: "TestNeverMain"},
		"does not build":              {file: "id.go", old: text, new: text + " nonsense", test: "TestNeverMain"},
		"SURVIVED":                    {file: "id.go", old: text, new: text + " /* as before */", test: "TestNeverMain"},
		"on the clean tree: does not": {file: "id.go", old: text, new: text, test: "TestThatDoesNotExist"},
	} {
		if verdict, good := try(t.Context(), dir, clean, 1, m); good || !strings.Contains(verdict, want) {
			t.Errorf("%q, want %q", verdict, want)
		}
	}
	if _, err := run(t.Context(), false, "no such name"); err == nil {
		t.Error("an empty list is a success")
	}
	short := 0
	seen := map[string]bool{}
	for _, m := range mutants {
		if seen[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}
		seen[m.name] = true
		if _, err := m.lay(dir, 0); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if m.short {
			short++
		}
	}
	if short != 4 {
		t.Errorf("-short has %d mutants, not 4", short)
	}
}
