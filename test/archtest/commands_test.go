package archtest

import (
	"slices"
	"strings"
	"testing"
)

// isBelow reports whether a package is a room or lies below it.
func isBelow(name, room string) bool { return name == room || strings.HasPrefix(name, room+"/") }

// belowCommands are the rooms that left the command line (docs/decisions/command-line.md).
var belowCommands = []string{"surface/terminalio", "surface/officeaccess", "surface/foreground"}

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
					t.Errorf("%s imports %s: it is not a command", p.ImportPath, imp)
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
