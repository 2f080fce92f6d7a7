package archtest

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A room that carries out effects is put together in one place, and finds there
// what was left out: no nil is met in the middle of a run.
func TestConstructorsCheckTheirParts(t *testing.T) {
	unchecked := strings.Fields(
		"agentrun worker manager reviewer merger prepare delivery agentrun/depaccess engine/dispatch engine/orchestrator")
	for _, p := range packages(t) {
		at := slices.Index(unchecked, strings.TrimPrefix(p.ImportPath, "company/internal/"))
		for _, name := range p.GoFiles {
			if at < 0 {
				break
			}
			f := parseSource(t, p.ImportPath, filepath.Join(p.Dir, name), nil)
			ast.Inspect(f.file, func(n ast.Node) bool {
				if at >= 0 && f.typeName(n) == "company/internal/company.CheckParts" {
					unchecked, at = slices.Delete(unchecked, at, at+1), -1
				}
				return true
			})
		}
	}
	if len(unchecked) > 0 {
		t.Errorf("%v check nothing of what they are made of", unchecked)
	}
}
