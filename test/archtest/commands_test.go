package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// isBelow reports whether a package is a room or lies below it.
func isBelow(name, room string) bool { return name == room || strings.HasPrefix(name, room+"/") }

// belowCommands are the rooms that left the command line (decision 0142).
var belowCommands = []string{"surface/terminalio", "present/jqtemplate", "surface/officeaccess", "surface/foreground",
	"surface/background"}

// TestOnlyCommandsKnowTheCommandLine: flags, arguments and help are for commands and for
// the pages that are made of them.
func TestOnlyCommandsKnowTheCommandLine(t *testing.T) {
	known := []string{"surface/cli"}
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name, ok := strings.CutPrefix(p.ImportPath, "company/internal/")
		if ok && !slices.ContainsFunc(known, func(room string) bool { return isBelow(name, room) }) {
			for _, imp := range p.Imports {
				if strings.HasPrefix(imp, "github.com/spf13/") {
					t.Errorf("%s imports %s: it is no command", p.ImportPath, imp)
				}
			}
		}
		seen[name] = true
	}
	for _, room := range belowCommands {
		if !seen[room] {
			t.Errorf("there is no room %s", room)
		}
	}
}

// notForCommands are packages that commands leave to app, client and diagnose, and the
// rooms below them, too.
var notForCommands = []string{"adapters", "bus", "container", "ecosystem/depproxy", "forge", "gates", "gitops",
	"container/image", "prepare", "ledger", "engine/orchestrator", "delivery/prbody", "agentrun"}

func TestCommandsReachNoDriver(t *testing.T) {
	for _, p := range packages(t) {
		of := strings.TrimPrefix(p.ImportPath, "company/internal/")
		if !isBelow(of, "surface/cli") && !slices.Contains(belowCommands, of) {
			continue
		}
		for _, imp := range p.Imports {
			name := strings.TrimPrefix(imp, "company/internal/")
			if name == "gitops/gitexec" {
				continue // it runs a git command, and knows no repository of the company
			}
			if slices.ContainsFunc(notForCommands, func(room string) bool { return isBelow(name, room) }) {
				t.Errorf("%s imports %s: a function of app, client or diagnose may serve", p.ImportPath, imp)
			}
		}
	}
}

// maxCommandLines is how many lines the command line has today without its tests and
// without what tests share, of 57 commands. The aim is 5,500. It falls when code that is no
// command leaves, and rises only with commands and how they are shown. It was 7,182 before the terminal, the way
// into an office, the work that is followed and texts had left (decision 0142; git log -G
// maxCommandLines names the commits that raised and lowered it). Decision 0071 has the
// numbers. Lines of at most 120 columns took 190 more.
const maxCommandLines = 5410

func TestCommandLineHoldsCommands(t *testing.T) {
	lines := 0
	for _, p := range packages(t) {
		name, ok := strings.CutPrefix(p.ImportPath, "company/internal/")
		if !ok || !isBelow(name, "surface/cli") || isForTests(name) {
			continue
		}
		for _, f := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
		}
	}
	if lines == 0 || lines > maxCommandLines {
		t.Errorf("internal/surface/cli has %d lines, and at most %d are commands", lines, maxCommandLines)
	}
}
