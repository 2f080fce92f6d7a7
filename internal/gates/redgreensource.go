package gates

import (
	"context"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// readSource finds out whether a change touches what a test gate covers: then
// gates.red_green: require wants a test that shows it. Tests and files that are
// deleted do not count. Where the ecosystem cannot say which folders a gate looks at,
// every file counts that is no document.
func readSource(ctx context.Context, m *gitops.Mirror, gates []company.GateCommand, c redGreenInput, out *company.RedGreen) error {
	d, err := m.Diff(ctx, c.base, c.res.Tree, 0)
	if err != nil {
		return err
	}
	var paths []string
	added := map[string]bool{}
	for _, f := range d.Changes {
		if f.NewMode == 0 || f.NewMode == gitops.ModeGitlink || company.IsTest(f.Path) {
			continue
		}
		paths = append(paths, f.Path)
		added[f.Path] = f.OldMode == 0
	}
	if len(paths) == 0 {
		return nil
	}
	tree, err := readTree(ctx, m, c.res.Tree)
	if err != nil {
		return err
	}
	change := &ecosystem.Change{Tree: tree, Changed: paths, Added: added, ReadBase: func() (*ecosystem.Tree, error) { return readTree(ctx, m, c.base) }}
	for _, g := range gates {
		if g.IsTest() && coversChange(g, change) {
			out.Source = true
		}
	}
	if out.Source && out.Files == 0 && slices.ContainsFunc(paths, holdsOwnTests) {
		out.Reason = "tests that lie inside of source files are not run apart from them"
	}
	return change.Err()
}

// coversChange says whether a gate's tests look at what a change touches, as far as
// the ecosystem of the gate knows.
func coversChange(g company.GateCommand, c *ecosystem.Change) bool {
	if planter := catalog.PlanterOf(g.Plant); planter != nil {
		places, reason := planter.CanaryPlaces(c, g)
		if len(places) > 0 || reason == "" {
			return len(places) > 0
		}
	}
	return slices.ContainsFunc(c.Changed, func(p string) bool {
		return ecosystem.IsUnder(path.Dir(p), g.Dir) && !isDocument(p)
	})
}

// holdsOwnTests says whether tests stand in such a source file itself, by the manners
// of its language.
func holdsOwnTests(p string) bool { return path.Ext(p) == ".rs" }

// documents are endings of files that people read and no program runs.
var documents = map[string]bool{
	".md": true, ".markdown": true, ".rst": true, ".adoc": true, ".txt": true, ".pdf": true,
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".svg": true, ".ico": true, ".webp": true,
}

// isDocument says whether a file is text or pictures for people, or belongs to git, an
// editor or a forge.
func isDocument(p string) bool {
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		if dir == "docs" || dir == "doc" || dir != "." && strings.HasPrefix(dir, ".") {
			return true
		}
	}
	name := path.Base(p)
	switch strings.ToUpper(strings.TrimSuffix(name, path.Ext(name))) {
	case "LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "CONTRIBUTORS", "CODEOWNERS", "CHANGELOG", "README":
		return true
	}
	return strings.HasPrefix(name, ".") || documents[strings.ToLower(path.Ext(name))]
}
