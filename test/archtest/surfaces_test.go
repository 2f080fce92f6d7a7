package archtest

import (
	"slices"
	"strings"
	"testing"
)

// engine are the rooms that decide and carry out. A surface reaches them through
// a client, and shows what view and feed make of the state.
var engine = strings.Fields("orchestrator dispatch ledger bus session sandbox worker manager reviewer merger delivery")

// surfaces are the rooms that talk to people and programs.
var surfaces = strings.Fields("api cli tui mcp web")

func TestSurfacesImportNoEngine(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		name, _, _ := strings.Cut(strings.TrimPrefix(p.ImportPath, "company/internal/"), "/")
		if name != "view" && name != "feed" && !slices.Contains(surfaces, name) {
			continue
		}
		seen++
		for _, imp := range p.Imports {
			to, ok := strings.CutPrefix(imp, "company/internal/")
			to, _, _ = strings.Cut(to, "/")
			if ok && slices.Contains(engine, to) {
				t.Errorf("%s imports %s: a surface does not reach into the engine", p.ImportPath, imp)
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d surfaces were found", seen)
	}
}
