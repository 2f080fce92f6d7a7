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
	"company/internal/proposal"
	"company/internal/service"
)

// Names of checks, in the order in which they run (GAT-1). Where a repository
// has several parts, the part stands behind: "test (web)".
const (
	Lint  = "lint"
	Types = "types"
	Build = "build"
	Test  = "test"
)

// Options say what Detect is to find.
type Options struct {
	Lint, Types, Build, Test CommandOverride // what the config says; empty: auto
	Paths                    []string        // folders that count, as in git.paths; none: all of the repository
	// Proposals has commands looked for that do less than the gates.
	Proposals bool
	Services  []string // what gates.services names
}

// overrideOf is what the config says of the checks of a kind.
func (o Options) overrideOf(kind string) CommandOverride {
	return map[string]CommandOverride{Lint: o.Lint, Types: o.Types, Build: o.Build, Test: o.Test}[kind]
}

// kinds are the kinds of checks in the order in which they are run.
var kinds = []string{Lint, Types, Build, Test}

// Project is what a repository is, as far as its checks go.
type Project struct {
	Gates      []company.GateCommand
	Toolchains []string // what the image needs, by the names of ecosystems; c and cgo are compilers for them
	Spare      []string // those of them that no check needs: a project has the manifest alone
	Unneeded   []string // the same, where it is known that no check calls them: their packages are not installed
	Services   []service.Wish
	// MoreServices says that servers may be added for which the checks of the base look in vain.
	MoreServices bool
	Notes        []string // findings and omissions, for people

	Unrun []company.UnrunCheck // checks of the repository's own people that are no gates

	Proposals proposal.Found
	Narrower  []Narrower // where they were asked for
}

// BesideChecks is what a task keeps of it beside the gates.
func (p Project) BesideChecks() company.BesideChecks {
	out := company.BesideChecks{MoreServices: p.MoreServices, Unrun: p.Unrun}
	for _, w := range p.Services {
		out.Services = append(out.Services, w.Name)
	}
	return out
}

// TestLine is the line of the config by which a command of the repository's own people becomes the
// test. Not ok: there is none.
func (p Project) TestLine() (company.ConfigLine, bool) { return p.Proposals.TestLine() }

// maxComponents is how many folders of a repository get gates of their own. Beyond
// it a verdict would take longer than the work.
const maxComponents = 8

// Detect finds the gates of a project: what the config gives, and for auto
// what the files of the base commit call for. It reads git objects only.
func Detect(ctx context.Context, m *gitops.Mirror, base company.OID, o Options) (Project, error) {
	t, err := readTree(ctx, m, base)
	if err != nil {
		return Project{}, err
	}
	return DetectTree(t, o)
}

// DetectTree is Detect for a tree that need not be git's.
func DetectTree(t *ecosystem.Tree, o Options) (Project, error) {
	parts := keepWithin(t, findComponents(t), o.Paths)
	if t.Err() != nil {
		return Project{}, t.Err()
	}
	parts = limitFolders(t, parts)
	p := Project{Gates: gatesFor(parts, o)}
	if p.Toolchains, p.Spare, p.Unneeded = neededToolchains(t, parts, o); t.Err() != nil {
		return Project{}, t.Err()
	}
	p.Services, p.MoreServices = service.Choose(t, o.Services), slices.Contains(o.Services, service.Auto)
	for _, part := range parts {
		p.Notes = append(p.Notes, summarizeChecks(part, o))
	}
	for _, kind := range kinds {
		given := o.overrideOf(kind)
		switch {
		case given == None:
			p.Notes = append(p.Notes, "no "+kind+": gates."+kind+" is none")
		case !given.isAuto():
			p.Notes = append(p.Notes, kind+": "+string(given)+" (gates."+kind+")")
		case kind != Lint && kind != Test: // most projects have none
		case !slices.ContainsFunc(p.Gates, func(c company.GateCommand) bool { return strings.HasPrefix(c.Name, kind) }):
			p.Notes = append(p.Notes, "no "+kind+" command was found")
		}
	}
	p.Notes = append(p.Notes, t.Notes()...)
	if p.Proposals = proposal.Find(t, p.Gates); o.Proposals {
		p.Narrower = findNarrower(t, p.Gates)
	}
	known := len(p.Gates)
	p.addMaintainerChecks(t, &p.Proposals, o)
	p.addNeedsOfMore(t, p.Gates[known:])
	return p, t.Err()
}

// limitFolders keeps the parts of the first folders, and notes the others. A folder may have several
// parts, of several languages or of one test script.
func limitFolders(t *ecosystem.Tree, parts []ecosystem.Component) []ecosystem.Component {
	folders := map[string]bool{}
	var kept, left []ecosystem.Component
	for _, p := range parts {
		if !folders[p.Dir] && len(folders) == maxComponents {
			left = append(left, p)
			continue
		}
		folders[p.Dir] = true
		kept = append(kept, p)
	}
	if len(left) > 0 {
		t.AddNote("%d parts have checks; those of the first %d folders are gates, not %s (gates.lint and gates.test can name one command for all)",
			len(parts), maxComponents, joinDirs(left))
	}
	return kept
}

// readTree is the tree of a commit as ecosystems look at it.
func readTree(ctx context.Context, m *gitops.Mirror, at company.OID) (*ecosystem.Tree, error) {
	entries, err := m.List(ctx, at)
	if err != nil {
		return nil, err
	}
	var files []ecosystem.File
	byPath := map[string]gitops.Entry{}
	for _, e := range entries {
		if e.Mode == gitops.ModeFile || e.Mode == gitops.ModeExec {
			files = append(files, ecosystem.File{Path: e.Path, Executable: e.Mode == gitops.ModeExec, Size: e.Size})
			byPath[e.Path] = e
		}
	}
	return ecosystem.NewTree(files, func(wanted []ecosystem.File, each func(ecosystem.File, []byte) error) error {
		var entries []gitops.Entry
		of := map[string]ecosystem.File{}
		for _, f := range wanted {
			entries = append(entries, byPath[f.Path])
			of[f.Path] = f
		}
		return m.ReadFiles(ctx, entries, func(e gitops.Entry, text []byte) error { return each(of[e.Path], text) })
	}), nil
}

// findComponents asks every ecosystem, and gives what they found in the order in
// which it is shown: folders by depth, then by name.
func findComponents(t *ecosystem.Tree) []ecosystem.Component {
	var out []ecosystem.Component
	for _, e := range catalog.Of[ecosystem.Detector]() {
		out = append(out, e.Detect(t, out)...)
	}
	catalog.NoteUnknown(t)
	if t.HasFile("", ".gitmodules") {
		t.AddNote("there are submodules (.gitmodules): they are not fetched, their folders are empty for checks and workers")
	}
	slices.SortStableFunc(out, func(a, b ecosystem.Component) int { return ecosystem.CompareDepth(a.Dir, b.Dir) })
	return out
}

// gatesFor are the checks of all parts: lint of all before test of all. A command
// that the config gives takes the place of those of its kind in all parts.
func gatesFor(parts []ecosystem.Component, o Options) []company.GateCommand {
	var out []company.GateCommand
	for _, kind := range kinds {
		switch given := o.overrideOf(kind); {
		case given == None:
			continue
		case !given.isAuto():
			out = append(out, given.toGate(kind))
			continue
		}
		var found []ecosystem.Component
		for _, p := range parts {
			if p.Check(kind) != nil {
				found = append(found, p)
			}
		}
		for _, p := range found {
			g := *p.Check(kind)
			g.Name, g.Dir = kind, p.Dir
			if len(found) > 1 {
				g.Name += " (" + displayName(p, found) + ")"
			}
			out = append(out, g)
		}
	}
	return out
}

// displayName tells a part from the others: its folder, and its kind where that is
// not enough.
func displayName(p ecosystem.Component, all []ecosystem.Component) string {
	same := 0
	for _, o := range all {
		if o.Dir == p.Dir && o.Label == "" {
			same++
		}
	}
	switch {
	case p.Label != "":
		return strings.TrimSpace(p.Dir + " " + p.Label)
	case p.Dir == "":
		return p.Kind
	case same > 1:
		return p.Dir + " " + p.Kind
	}
	return p.Dir
}

// summarizeChecks describes a part's checks for people.
func summarizeChecks(p ecosystem.Component, o Options) string {
	var what []string
	for _, kind := range kinds {
		if g := p.Check(kind); g != nil && o.overrideOf(kind).isAuto() {
			what = append(what, kind+": "+g.Command)
		}
	}
	at := p.Description
	if p.Dir != "" {
		at += " in " + ecosystem.PrintablePath(p.Dir)
	}
	if len(what) == 0 {
		return at
	}
	return at + ": " + strings.Join(what, "; ")
}

// keepWithin keeps the parts that the given folders are about, and notes that there
// are others.
func keepWithin(t *ecosystem.Tree, parts []ecosystem.Component, paths []string) []ecosystem.Component {
	out := selectWithin(parts, paths)
	if n := len(parts) - len(out); n > 0 {
		t.AddNote("%s outside of git.paths: not checked", company.Count(n, "part"))
	}
	return out
}

// selectWithin are the parts at or below one of the folders, and for a folder
// without any the nearest one above it.
func selectWithin(parts []ecosystem.Component, paths []string) []ecosystem.Component {
	if len(paths) == 0 {
		return parts
	}
	keep := map[int]bool{}
	for _, want := range paths {
		want = strings.Trim(path.Clean("/"+want), "/")
		best, below := -1, false
		for i, p := range parts {
			switch {
			case ecosystem.IsUnder(p.Dir, want):
				keep[i], below = true, true
			case ecosystem.IsUnder(want, p.Dir) && (best < 0 || len(p.Dir) > len(parts[best].Dir)):
				best = i
			}
		}
		if below || best < 0 {
			continue
		}
		for i := range parts { // the nearest folder above, whatever kinds it is of
			keep[i] = keep[i] || parts[i].Dir == parts[best].Dir
		}
	}
	var out []ecosystem.Component
	for i, p := range parts {
		if keep[i] {
			out = append(out, p)
		}
	}
	return out
}

func joinDirs(parts []ecosystem.Component) string {
	var out []string
	for _, p := range parts {
		out = append(out, ecosystem.PrintablePath(p.Dir))
	}
	return strings.Join(out, ", ")
}
