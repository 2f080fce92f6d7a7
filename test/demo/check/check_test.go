package check

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTheCheckerIsNoPartOfCompany: it imports the standard library alone.
func TestTheCheckerIsNoPartOfCompany(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		file, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			path := strings.Trim(imp.Path.Value, `"`)
			if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") || first == "company" {
				t.Errorf("%s imports %s", f, path)
			}
		}
	}
}

func TestTouches(t *testing.T) {
	const diff = "--- a/x\n+++ b/x\n@@ -10 +10,3 @@\n-a\n+b\n+c\n+d\n@@ -20,2 +22 @@\n-a\n-b\n+c\n@@ -30,0 +31 @@\n+put " +
		"behind 30\n@@ -40,2 +41,0 @@\n-x\n-y\n"
	for line, want := range map[int]bool{9: false, 10: true, 11: false, 19: false, 20: true, 21: true, 22: false,
		30: false, 31: false, 40: true, 41: true, 42: false} {
		if got := touches(diff, line); got != want {
			t.Errorf("line %d: %v, want %v", line, got, want)
		}
	}
}

// event is one line as docker events writes it.
func event(at int, action, id, role, name string) string {
	return fmt.Sprintf(
		`{"Type":"container","Action":%q,"Actor":{"ID":%q,"Attributes":{"company.office":"abcd","company.run":"t1-01","company.role":%q,"name":%q,"exitCode":"1"}},"timeNano":%d}`+"\n",
		action, id, role, name, time.Duration(at)*time.Second)
}

func boxesOf(t *testing.T, events string) *eyes {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, EventsFile), []byte(events), 0o600); err != nil {
		t.Fatal(err)
	}
	boxes, err := readBoxes(dir, "abcd")
	if err != nil {
		t.Fatal(err)
	}
	return &eyes{boxes: boxes}
}

func TestReadBoxes(t *testing.T) {
	events := event(1, "create", "g1", "gate", "company-abcd-t1-01-1-gate-0123abc-1") +
		event(2, "start", "g1", "gate", "company-abcd-t1-01-1-gate-0123abc-1") +
		event(3, "die", "g1", "gate", "company-abcd-t1-01-1-gate-0123abc-1") +
		event(4, "destroy", "g1", "gate", "company-abcd-t1-01-1-gate-0123abc-1") +
		strings.ReplaceAll(event(1, "create", "other", "worker", "w"), "abcd", "wxyz") +
		`{"Type":"container","Action":"kill","Actor":{"ID":"b"},"timeNano":5}` + "\n"
	e := boxesOf(t, events)
	if len(e.boxes) != 1 {
		t.Fatalf("%d containers of the office: %+v", len(e.boxes), e.boxes)
	}
	if b := e.boxes[0]; b.Tree != "0123abc" || b.GateNumber != "1" || b.Run != "t1-01" || b.Exit != "1" || !b.Gone ||
		b.Died.Sub(b.Started) != time.Second {
		t.Errorf("%+v", b)
	}
	// A red gate that was run again is judged by its last run.
	again := "company-abcd-t1-01-1-gate-0123abc-1-again1"
	e = boxesOf(t, events+event(5, "create", "g2", "gate", again)+event(6, "start", "g2", "gate", again)+
		event(7, "die", "g2", "gate", again))
	if all := e.of("gate"); len(e.boxes) != 2 || len(all) != 1 || all[0].Name != again || all[0].GateNumber != "1" ||
		all[0].Tree != "0123abc" {
		t.Errorf("%+v", e.boxes)
	}
	if _, err := readBoxes(t.TempDir(), "abcd"); err == nil {
		t.Error("a record that is not there was read")
	}
}

func TestParallelCountsLives(t *testing.T) {
	life := func(id string, from, to int) string {
		return event(from, "start", id, "worker", id) + event(to, "die", id, "worker", id)
	}
	for name, tc := range map[string]struct {
		events string
		ok     bool
	}{
		"three":       {life("a", 1, 10) + life("b", 2, 10) + life("c", 3, 4), true},
		"one by one":  {life("a", 1, 2) + life("b", 3, 4) + life("c", 5, 6), false},
		"two and two": {life("a", 1, 5) + life("b", 2, 6) + life("c", 6, 9) + life("d", 7, 9), false},
		"gates too": {life("a", 1, 9) + life("b", 1, 9) + event(2, "start", "g", "gate", "g") +
			event(8, "die", "g", "gate", "g"), false},
		"never finished": {life("a", 1, 9) + life("b", 1, 9) + event(2, "start", "c", "worker", "c"), false},
	} {
		if seen, err := boxesOf(t, tc.events).parallel(t.Context()); (err == nil) != tc.ok {
			t.Errorf("%s: %q, %v", name, seen, err)
		}
	}
}
