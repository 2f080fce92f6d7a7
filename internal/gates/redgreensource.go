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

// readSource determines whether a change touches files that a test gate covers. In that case gates.red_green: require
// demands a test that demonstrates the change. Tests and deleted files do not count. If the ecosystem does not know
// which folders a gate covers, every file counts except documents.
func readSource(
	ctx context.Context, mirror *gitops.Mirror, gates []company.GateCommand, greenInput redGreenInput,
	out *company.RedGreen,
) error {
	diff, err := mirror.Diff(ctx, greenInput.base, greenInput.res.Tree, 0)
	if err != nil {
		return err
	}
	var paths []string
	added := map[string]bool{}
	for _, fileChange := range diff.Changes {
		if fileChange.NewMode == 0 || fileChange.NewMode == gitops.ModeGitlink || company.IsTest(fileChange.Path) {
			continue
		}
		paths = append(paths, fileChange.Path)
		added[fileChange.Path] = fileChange.OldMode == 0
	}
	if len(paths) == 0 {
		return nil
	}
	tree, err := readTree(ctx, mirror, greenInput.res.Tree)
	if err != nil {
		return err
	}
	change := &ecosystem.Change{Tree: tree, Changed: paths, Added: added,
		ReadBase: func() (*ecosystem.Tree, error) { return readTree(ctx, mirror, greenInput.base) }}
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

// coversChange reports whether a gate's tests cover files that a change touches, as far as the gate's ecosystem
// knows.
func coversChange(gateCommand company.GateCommand, change *ecosystem.Change) bool {
	if planter := catalog.PlanterOf(gateCommand.Plant); planter != nil {
		places, reason := planter.CanaryPlaces(change, gateCommand)
		if len(places) > 0 || reason == "" {
			return len(places) > 0
		}
	}
	return slices.ContainsFunc(change.Changed, func(p string) bool {
		return ecosystem.IsUnder(path.Dir(p), gateCommand.Dir) && !isDocument(p)
	})
}

// holdsOwnTests reports whether a source file may contain its own tests, by the conventions of its language.
func holdsOwnTests(p string) bool { return path.Ext(p) == ".rs" }

// documents lists extensions of files that people read and no program runs.
var documents = map[string]bool{
	".md": true, ".markdown": true, ".rst": true, ".adoc": true, ".txt": true, ".pdf": true,
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".svg": true, ".ico": true, ".webp": true,
}

// isDocument reports whether a file is text or an image for people, or belongs to git, an editor or a forge.
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
