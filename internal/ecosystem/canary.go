package ecosystem

import (
	"slices"
	"strings"

	"company/internal/company"
)

// CanaryPlaceholder stands for the random name in a gate's canary command.
const CanaryPlaceholder = "CANARY"

// Planter is an ecosystem that can put a test that must fail beside a change, in a
// way that its runner finds.
type Planter interface {
	Ecosystem
	// Plants are its ways (company.GateCommand.Plant).
	Plants() []string
	// CanaryPlaces are the places for such tests where a gate must look; reason
	// says why there are none, or too few.
	CanaryPlaces(c *Change, gate company.GateCommand) (places []CanaryPlace, reason string)
}

// FolderTester is a Planter whose runner can run the tests of some folders alone.
type FolderTester interface {
	Planter
	// FolderCommand is a gate's canary command on these folders ("." and "./below"
	// of the gate's own), as far as the gate runs them.
	FolderCommand(canary string, folders []string) string
	// IsTestFile says whether a file, by its name, holds tests of its folder.
	IsTestFile(name string) bool
	// PackageOf is what the tests of one folder have in common in their names.
	PackageOf(test string) string
}

// RestTester is a FolderTester whose runner can leave tests out: what one that ends the
// whole run kept from running can be run after all.
type RestTester interface {
	FolderTester
	// RestCommand is a gate's canary command on the tests of these packages without some,
	// one behind the other. Both are named as in its report.
	RestCommand(canary string, without, packages []string) string
}

// PartTester is a Planter whose toolchain tells which tests a change can reach.
type PartTester interface {
	Planter
	// ListCommand is a command that prints what FindPart reads for a change of these paths,
	// run where the gate is; empty: there is none for this gate.
	ListCommand(gate company.GateCommand, changed []string) string
	// PartCommand runs the gate's tests of these names, which FindPart gave; it fails where
	// there are none.
	PartCommand(gate company.GateCommand, names []string) string
	// FindPart reads the output of ListCommand for a change of these paths, those of
	// deleted files among them. Not ok: what the change reaches is not known.
	FindPart(gate company.GateCommand, changed []string, output string) (part TestPart, ok bool)
	// IsRedForAll says whether a part that is red shows that all of its gate's tests are: not
	// where its runner builds or counts otherwise for a part.
	IsRedForAll(c company.GateCheck) bool
}

// TestPart is a part of the tests of a gate.
type TestPart struct {
	Unit  string   // what it consists of; empty: packages
	Names []string // for PartCommand: folders ("." and "./below" of the gate's own), crates, files
	Of    int      // how many of them the gate tests in all
	// Has says whether a test, by its name, is one of the part's or is gone.
	Has func(test string) bool
}

// CanaryPlace is a place for a failing test. The word is the test's own.
type CanaryPlace struct {
	Dir         string // of the repository
	Unreachable bool   // no gate of the base can look there
	// Hollow: the change took the place out of the gate; there is nothing to run.
	Hollow bool
	Path   func(word string) string // of the file
	Text   func(word string) string
}

// Change is a tree, and what a change has touched on the way to it.
type Change struct {
	*Tree
	Changed   []string              // paths, the deleted ones too
	Added     map[string]bool       // of them, what the base does not have
	GateFiles []string              // of them, what says what checks do
	ReadBase  func() (*Tree, error) // the tree before the change

	base *Tree
}

// Base is the tree before the change. It is read when it is asked for.
func (c *Change) Base() *Tree {
	if c.base == nil {
		var err error
		if c.base, err = c.ReadBase(); err != nil {
			c.base = &Tree{err: err}
		}
	}
	return c.base
}

// Err is the first failure of the repository; answers after it mean nothing.
func (c *Change) Err() error {
	if c.base != nil && c.base.err != nil {
		return c.base.err
	}
	return c.Tree.Err()
}

// TouchedFolders are the folders below a gate's in which files of these endings are
// changed and some are left, each once, sorted.
func (c *Change) TouchedFolders(gate company.GateCommand, endings ...string) []string {
	of := func(name string) bool {
		return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) })
	}
	var out []string
	for _, p := range c.Changed {
		dir, name := SplitPath(p)
		if of(name) && IsUnder(dir, gate.Dir) && !IsForeignToTests(dir) && slices.ContainsFunc(c.Dirs[dir], of) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TouchesGateFiles says whether the change touches a file that says what the gate does.
func (c *Change) TouchesGateFiles(gate company.GateCommand) bool {
	return slices.ContainsFunc(c.GateFiles, func(p string) bool { return IsUnder(p, gate.Dir) })
}

// FoldersOf are the folders below a gate's that have such a file, the upper ones
// first.
func (c *Change) FoldersOf(gate company.GateCommand, is func(name string) bool) []string {
	var out []string
	for dir, names := range c.Dirs {
		if IsUnder(dir, gate.Dir) && !IsForeignDir(dir) && slices.ContainsFunc(names, is) {
			out = append(out, dir)
		}
	}
	slices.SortFunc(out, CompareDepth)
	return out
}

// FirstFolderOf is the first of FoldersOf, or none.
func (c *Change) FirstFolderOf(gate company.GateCommand, is func(name string) bool) []string {
	all := c.FoldersOf(gate, is)
	return all[:min(len(all), 1)]
}
