package archtest

import (
	"slices"
	"strings"
	"testing"
)

// engine are the rooms that decide and carry out. A surface reaches them through
// a client, and shows what view and feed make of the state.
var engine = strings.Fields("engine ledger bus agentrun worker manager reviewer merger delivery")

// engineTexts are folders of those rooms that surfaces may show: reports, and deaths of processes.
var engineTexts = []string{"engine/replay", "ledger/crashes"}

// surfaces are the rooms that talk to people and programs, and those that several
// surfaces share.
var surfaces = strings.Fields("api surface present")

func TestSurfacesImportNoEngine(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "company/internal/")
		if !slices.ContainsFunc(surfaces, func(room string) bool { return isBelow(name, room) }) {
			continue
		}
		seen++
		for _, imp := range p.Imports {
			to, ok := strings.CutPrefix(imp, "company/internal/")
			if ok && !slices.Contains(engineTexts, to) &&
				slices.ContainsFunc(engine, func(room string) bool { return isBelow(to, room) }) {
				t.Errorf("%s imports %s: a surface does not reach into the engine", p.ImportPath, imp)
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d surfaces were found", seen)
	}
}

// The tools for an agent stand on the three packages that surfaces are built on, with the words
// of the domain and the bounds of text; what else they need comes from their Host.
func TestToolsStandOnClientViewFeed(t *testing.T) {
	allowed := strings.Fields("api/client present/view present/feed company lib/safetext")
	for _, p := range packages(t) {
		if p.ImportPath != "company/internal/surface/mcpserver" {
			continue
		}
		for _, imp := range p.Imports {
			if to, ok := strings.CutPrefix(imp, "company/internal/"); ok && !slices.Contains(allowed, to) {
				t.Errorf("mcpserver imports %s", imp)
			}
		}
		return
	}
	t.Error("there is no mcpserver")
}
