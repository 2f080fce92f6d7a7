package node

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"company/internal/company"
	"company/internal/company/glob"
	"company/internal/ecosystem"
	"company/internal/lib/safetext"
)

// Limits for all workspaces of a tree.
const (
	maxWorkspacePatterns = 1000
	workspaceSteps       = 1 << 27 // steps for comparing them with folders
)

// workspaces finds the packages that manifests of a tree include by patterns.
type workspaces struct {
	sources  ecosystem.Sources
	texts    map[string][]byte      // manifests
	globs    map[string][]glob.Glob // folder of the manifest → parsed patterns
	patterns int
	budget   int
}

func newWorkspaces(s ecosystem.Sources, texts map[string][]byte) *workspaces {
	return &workspaces{sources: s, texts: texts, globs: map[string][]glob.Glob{}, budget: workspaceSteps}
}

// covers reports whether the workspaces of the manifest in top include the package in dir, which is below
// top.
func (w *workspaces) covers(top, dir string) bool {
	rel, ok := strings.CutPrefix(dir, top+"/")
	if top == "." {
		rel, ok = dir, dir != "."
	}
	if !ok || w.budget < 0 {
		return false
	}
	for _, g := range w.read(top) {
		if g.MatchWithin(rel, &w.budget) {
			return true
		}
	}
	if w.budget < 0 {
		w.sources.AddNote("the workspaces of %s are not all compared with the folders of the repository: their patterns "+
			"are too many or too complex",
			safetext.EscapeLine(path.Join(top, "package.json"), 200))
	}
	return false
}

// isInstalledAbove reports whether the package of a folder is a workspace of a locked project above it. npm
// installs both from the lock file above.
func (w *workspaces) isInstalledAbove(dir string, locks map[string]string) bool {
	for top := dir; top != "."; {
		top = path.Dir(top)
		if locks[top] != "" && w.covers(top, dir) {
			return true
		}
	}
	return false
}

// read parses the workspace patterns of the manifest in a folder. It adds a note for invalid patterns and
// skips them.
func (w *workspaces) read(top string) []glob.Glob {
	if globs, ok := w.globs[top]; ok {
		return globs
	}
	name := path.Join(top, "package.json")
	all := listPatterns(w.texts[name])
	left, fault := 0, error(nil)
	if room := maxWorkspacePatterns - w.patterns; len(all) > room {
		left, fault = len(all)-room, fmt.Errorf("a repository may have %d", maxWorkspacePatterns)
		all = all[:room]
	}
	w.patterns += len(all)
	globs := []glob.Glob{}
	for _, pattern := range all {
		g, err := parsePattern(pattern)
		if err != nil {
			left, fault = left+1, err
			continue
		}
		globs = append(globs, g)
	}
	if left > 0 {
		w.sources.AddNote("%s: %s of its workspaces left out: %s", safetext.EscapeLine(name, 200),
			company.Count(left, "pattern"), safetext.EscapeLine(fault.Error(), 300))
	}
	w.globs[top] = globs
	return globs
}

// parsePattern parses a workspace pattern.
func parsePattern(pattern string) (glob.Glob, error) {
	return glob.ParsePattern(strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/"), glob.Full)
}

// listPatterns returns the workspace patterns of a manifest.
func listPatterns(manifest []byte) []string {
	var m struct{ Workspaces json.RawMessage }
	if json.Unmarshal(manifest, &m) != nil {
		return nil
	}
	var list []string
	if json.Unmarshal(m.Workspaces, &list) == nil {
		return list
	}
	var long struct{ Packages []string }
	_ = json.Unmarshal(m.Workspaces, &long)
	return long.Packages
}
