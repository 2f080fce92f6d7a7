package safedir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/lib/safedir/foldertest"
)

// A log that rotates holds the newest lines, whole and in order, in so many files of at
// most its size, also when it is opened again in between.
func TestRotatingLog(t *testing.T) {
	dir := t.TempDir()
	own := foldertest.Open(t, dir)
	const lines, most, kept = 1000, 500, 3
	for n := 0; n < lines; {
		log, err := own.OpenRotating("company.log", most, kept)
		if err != nil {
			t.Fatal(err)
		}
		for end := n + 123; n < end && n < lines; n++ {
			if _, err := fmt.Fprintf(log, "line %d\n", n); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var all strings.Builder
	for _, name := range []string{"company.log.3", "company.log.2", "company.log.1", "company.log"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(text) > most || len(text) == 0 {
			t.Fatalf("%s: %d bytes, %v", name, len(text), err)
		}
		all.Write(text)
	}
	got := strings.Split(strings.TrimSpace(all.String()), "\n")
	for i, line := range got {
		if want := fmt.Sprintf("line %d", lines-len(got)+i); line != want {
			t.Fatalf("line %d is %q, want %q", i, line, want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1+kept || len(got) < 100 {
		t.Fatalf("%d lines in %v, %v", len(got), entries, err)
	}
}

// A full log whose names cannot be changed goes on.
func TestRotatingLogThatCannotMove(t *testing.T) {
	dir := t.TempDir()
	log, err := foldertest.Open(t, dir).OpenRotating("company.log", 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := os.MkdirAll(filepath.Join(dir, "company.log.1", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		if _, err := fmt.Fprintf(log, "line %d\n", n); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "company.log")); err != nil || strings.Count(string(text), "\n") != 10 {
		t.Fatalf("%q, %v", text, err)
	}
}
