package gates

import (
	"context"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/container/service"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/checkfinder"
	"company/internal/gitops"
)

// Names of checks, in the order in which they run (GAT-1). If a repository has several parts, the part follows: "test
// (web)".
const (
	Lint  = "lint"
	Types = "types"
	Build = "build"
	Test  = "test"
)

// Options controls the checks that Detect finds.
type Options struct {
	Lint, Types, Build, Test CommandOverride // the commands from the config; empty means auto
	Paths                    []string        // folders to check, as in git.paths; empty means the whole repository
	// Proposals enables the search for commands that do less than the gates.
	Proposals bool
	Services  []string // the value of gates.services
}

// overrideOf returns the config's override for a kind of check.
func (o Options) overrideOf(kind string) CommandOverride {
	return map[string]CommandOverride{Lint: o.Lint, Types: o.Types, Build: o.Build, Test: o.Test}[kind]
}

// kinds lists the kinds of checks in the order in which they run.
var kinds = []string{Lint, Types, Build, Test}

// Project describes the checks of a repository and their needs.
type Project struct {
	Gates      []company.GateCommand
	Toolchains []string // ecosystems that the image needs, by name; c and cgo are compilers for them
	Spare      []string // toolchains that no check needs: the project only has the manifest
	Unneeded   []string // spare toolchains that certainly no check calls: their packages are not installed
	Services   []service.Wish
	// MoreServices allows adding servers that the base's checks try to reach and do not find.
	MoreServices bool
	Notes        []string // findings and omissions, for people

	Unrun []company.UnrunCheck // the maintainers' checks that are not gates

	Proposals checkfinder.Found
	Narrower  []Narrower // set if Options.Proposals was set
}

// BesideChecks returns the facts about the project that a task keeps beside the gates.
func (p Project) BesideChecks() company.BesideChecks {
	out := company.BesideChecks{MoreServices: p.MoreServices, Unrun: p.Unrun}
	for _, w := range p.Services {
		out.Services = append(out.Services, w.Name)
	}
	return out
}

// TestLine returns the config line that makes a command of the maintainers the test. ok is false if there is none.
func (p Project) TestLine() (company.ConfigLine, bool) { return p.Proposals.TestLine() }

// maxComponents limits how many folders of a repository get their own gates. With more, a verdict would take longer
// than the work.
const maxComponents = 8

// Detect finds the gates of a project: the commands from the config and, for auto, those that the files of the base
// commit call for. It only reads git objects.
func Detect(ctx context.Context, m *gitops.Mirror, base company.OID, options Options) (Project, error) {
	tree, err := readTree(ctx, m, base)
	if err != nil {
		return Project{}, err
	}
	return DetectTree(tree, options)
}

// DetectTree works like Detect, on a tree that need not come from git.
func DetectTree(tree *ecosystem.Tree, options Options) (Project, error) {
	parts := keepWithin(tree, findComponents(tree), options.Paths)
	if tree.Err() != nil {
		return Project{}, tree.Err()
	}
	parts = limitFolders(tree, parts)
	project := Project{Gates: gatesFor(parts, options)}
	if project.Toolchains, project.Spare, project.Unneeded = neededToolchains(tree, parts, options); tree.Err() != nil {
		return Project{}, tree.Err()
	}
	project.Services, project.MoreServices = service.Choose(tree, options.Services),
		slices.Contains(options.Services, service.Auto)
	for _, part := range parts {
		project.Notes = append(project.Notes, summarizeChecks(part, options))
	}
	for _, kind := range kinds {
		given := options.overrideOf(kind)
		switch {
		case given == None:
			project.Notes = append(project.Notes, "no "+kind+": gates."+kind+" is none")
		case !given.isAuto():
			project.Notes = append(project.Notes, kind+": "+string(given)+" (gates."+kind+")")
		case kind != Lint && kind != Test: // most projects have none
		case !slices.ContainsFunc(project.Gates, func(c company.GateCommand) bool { return strings.HasPrefix(c.Name, kind) }):
			project.Notes = append(project.Notes, "no "+kind+" command was found")
		}
	}
	project.Notes = append(project.Notes, tree.Notes()...)
	if project.Proposals = checkfinder.Find(tree, project.Gates); options.Proposals {
		project.Narrower = findNarrower(tree, project.Gates)
	}
	known := len(project.Gates)
	project.addMaintainerChecks(tree, &project.Proposals, options)
	project.addNeedsOfMore(tree, project.Gates[known:])
	return project, tree.Err()
}

// limitFolders keeps the parts in the first maxComponents folders and notes the rest. A folder may have several
// parts, for several languages or from one test script.
func limitFolders(tree *ecosystem.Tree, parts []ecosystem.Component) []ecosystem.Component {
	folders := map[string]bool{}
	var kept, left []ecosystem.Component
	for _, component := range parts {
		if !folders[component.Dir] && len(folders) == maxComponents {
			left = append(left, component)
			continue
		}
		folders[component.Dir] = true
		kept = append(kept, component)
	}
	if len(left) > 0 {
		tree.AddNote("%d parts have checks; those of the first %d folders are gates, not %s (gates.lint and gates.test can "+
			"name one command for all)",
			len(parts), maxComponents, joinDirs(left))
	}
	return kept
}

// readTree returns the tree of a commit in the form that ecosystems read.
func readTree(ctx context.Context, mirror *gitops.Mirror, at company.OID) (*ecosystem.Tree, error) {
	entries, err := mirror.List(ctx, at)
	if err != nil {
		return nil, err
	}
	var files []ecosystem.File
	byPath := map[string]gitops.Entry{}
	for _, entry := range entries {
		if entry.Mode == gitops.ModeFile || entry.Mode == gitops.ModeExec {
			files = append(files, ecosystem.File{Path: entry.Path, Executable: entry.Mode == gitops.ModeExec, Size: entry.Size})
			byPath[entry.Path] = entry
		}
	}
	return ecosystem.NewTree(files, func(wanted []ecosystem.File, each func(ecosystem.File, []byte) error) error {
		var entries []gitops.Entry
		of := map[string]ecosystem.File{}
		for _, file := range wanted {
			entries = append(entries, byPath[file.Path])
			of[file.Path] = file
		}
		return mirror.ReadFiles(ctx, entries, func(e gitops.Entry, text []byte) error { return each(of[e.Path], text) })
	}), nil
}

// findComponents asks every ecosystem and returns the parts in display order: folders by depth, then by name.
func findComponents(tree *ecosystem.Tree) []ecosystem.Component {
	var out []ecosystem.Component
	for _, e := range catalog.Of[ecosystem.Detector]() {
		out = append(out, e.Detect(tree, out)...)
	}
	catalog.NoteUnknown(tree)
	if tree.HasFile("", ".gitmodules") {
		tree.AddNote("there are submodules (.gitmodules): they are not fetched, their folders are empty for checks and " +
			"workers")
	}
	slices.SortStableFunc(out, func(a, b ecosystem.Component) int { return ecosystem.CompareDepth(a.Dir, b.Dir) })
	return out
}

// gatesFor returns the checks of all parts, with lint of all parts before test of all parts. A command from the
// config replaces the checks of its kind in all parts.
func gatesFor(parts []ecosystem.Component, options Options) []company.GateCommand {
	var out []company.GateCommand
	for _, kind := range kinds {
		switch given := options.overrideOf(kind); {
		case given == None:
			continue
		case !given.isAuto():
			out = append(out, given.toGate(kind))
			continue
		}
		var found []ecosystem.Component
		for _, component := range parts {
			if component.Check(kind) != nil {
				found = append(found, component)
			}
		}
		for _, component := range found {
			gateCommand := *component.Check(kind)
			gateCommand.Name, gateCommand.Dir = kind, component.Dir
			if len(found) > 1 {
				gateCommand.Name += " (" + displayName(component, found) + ")"
			}
			out = append(out, gateCommand)
		}
	}
	return out
}

// displayName returns a name that distinguishes a part from the others: its folder, and also its kind if the folder
// is not enough.
func displayName(component ecosystem.Component, components []ecosystem.Component) string {
	same := 0
	for _, o := range components {
		if o.Dir == component.Dir && o.Label == "" {
			same++
		}
	}
	switch {
	case component.Label != "":
		return strings.TrimSpace(component.Dir + " " + component.Label)
	case component.Dir == "":
		return component.Kind
	case same > 1:
		return component.Dir + " " + component.Kind
	}
	return component.Dir
}

// summarizeChecks describes a part's checks for people.
func summarizeChecks(component ecosystem.Component, options Options) string {
	var what []string
	for _, kind := range kinds {
		if g := component.Check(kind); g != nil && options.overrideOf(kind).isAuto() {
			what = append(what, kind+": "+g.Command)
		}
	}
	at := component.Description
	if component.Dir != "" {
		at += " in " + ecosystem.PrintablePath(component.Dir)
	}
	if len(what) == 0 {
		return at
	}
	return at + ": " + strings.Join(what, "; ")
}

// keepWithin keeps the parts that belong to the given folders and notes how many were left out.
func keepWithin(tree *ecosystem.Tree, parts []ecosystem.Component, paths []string) []ecosystem.Component {
	out := selectWithin(parts, paths)
	if n := len(parts) - len(out); n > 0 {
		tree.AddNote("%s outside of git.paths: not checked", company.Count(n, "part"))
	}
	return out
}

// selectWithin returns the parts at or below the given folders. For a folder without any, it returns the nearest part
// above.
func selectWithin(parts []ecosystem.Component, paths []string) []ecosystem.Component {
	if len(paths) == 0 {
		return parts
	}
	keep := map[int]bool{}
	for _, want := range paths {
		want = strings.Trim(path.Clean("/"+want), "/")
		best, below := -1, false
		for i, component := range parts {
			switch {
			case ecosystem.IsUnder(component.Dir, want):
				keep[i], below = true, true
			case ecosystem.IsUnder(want, component.Dir) && (best < 0 || len(component.Dir) > len(parts[best].Dir)):
				best = i
			}
		}
		if below || best < 0 {
			continue
		}
		for i := range parts { // the nearest folder above, with parts of all kinds
			keep[i] = keep[i] || parts[i].Dir == parts[best].Dir
		}
	}
	var out []ecosystem.Component
	for i, component := range parts {
		if keep[i] {
			out = append(out, component)
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
