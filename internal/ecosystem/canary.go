package ecosystem

import (
	"slices"
	"strings"

	"company/internal/company"
)

// CanaryPlaceholder stands for the random name in a gate's canary command.
const CanaryPlaceholder = "CANARY"

// Planter is an ecosystem that can add a failing test to a tree, in a place where its runner finds it.
type Planter interface {
	Ecosystem
	// Plants lists the values of company.GateCommand.Plant that it supports.
	Plants() []string
	// CanaryPlaces returns the places where a failing test must make the gate fail. The reason explains a list that is
	// empty or incomplete.
	CanaryPlaces(c *Change, gate company.GateCommand) (places []CanaryPlace, reason string)
}

// FolderTester is a Planter whose runner can run only the tests of given folders.
type FolderTester interface {
	Planter
	// FolderCommand returns a gate's canary command, limited to these folders that the gate runs anyway. Folders are "."
	// or "./below", relative to the gate's own.
	FolderCommand(canary string, folders []string) string
	// IsTestFile reports whether a file name is one of a test file.
	IsTestFile(name string) bool
	// PackageOf returns the part of a test's name that all tests of its folder share.
	PackageOf(test string) string
}

// RestTester is a FolderTester whose runner can exclude tests. If one test aborts the whole run, the tests after it
// can still be run without it.
type RestTester interface {
	FolderTester
	// RestCommand returns the gate's canary command for the tests of these packages without the excluded tests. The
	// tests run one at a time. Tests and packages are named as in the gate's report.
	RestCommand(canary string, without, packages []string) string
}

// PartTester is a Planter whose toolchain knows which tests a change can affect.
type PartTester interface {
	Planter
	// ListCommand returns a command whose output FindPart reads, for a change of these paths. It runs in the gate's
	// folder. An empty string means that the gate has no such command.
	ListCommand(gate company.GateCommand, changed []string) string
	// PartCommand returns a command that runs the gate's tests of these names from FindPart. The command fails if there
	// are no such tests.
	PartCommand(gate company.GateCommand, names []string) string
	// FindPart reads the output of ListCommand for a change of these paths, including deleted files. It returns false if
	// the affected tests are unknown.
	FindPart(gate company.GateCommand, changed []string, output string) (part TestPart, ok bool)
	// IsRedForAll reports whether a failing part proves that the whole gate fails. It is false if the runner builds or
	// counts a part differently.
	IsRedForAll(c company.GateCheck) bool
}

// TestPart is a part of the tests of a gate.
type TestPart struct {
	Unit  string   // the unit of Names; "" means packages
	Names []string // for PartCommand: folders ("." and "./below" of the gate's own), crates, files
	Of    int      // the number of units that the gate tests in all
	// Has reports whether a test of this name belongs to the part or no longer exists.
	Has func(test string) bool
}

// CanaryPlace is a place for a failing test. Path and Text take the random name of the test.
type CanaryPlace struct {
	Dir         string // relative to the repository
	Unreachable bool   // no gate of the base tests this folder
	// Hollow means that the change removed this place from the gate, so there is nothing to run.
	Hollow bool
	Path   func(word string) string // of the file
	Text   func(word string) string
}

// Change is a tree with the paths that a change touched.
type Change struct {
	*Tree
	Changed   []string              // paths, including deleted files
	Added     map[string]bool       // the paths in Changed that the base does not have
	GateFiles []string              // the paths in Changed that define checks
	ReadBase  func() (*Tree, error) // the tree before the change

	base *Tree
}

// Base returns the tree before the change. It reads the tree on the first call.
func (c *Change) Base() *Tree {
	if c.base == nil {
		var err error
		if c.base, err = c.ReadBase(); err != nil {
			c.base = &Tree{err: err}
		}
	}
	return c.base
}

// Err returns the first error from reading the repository. After an error, all other answers are invalid.
func (c *Change) Err() error {
	if c.base != nil && c.base.err != nil {
		return c.base.err
	}
	return c.Tree.Err()
}

// TouchedFolders returns the folders below a gate's in which the change touched files with these endings and in which
// such files remain. The list is sorted and has no duplicates.
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

// TouchesGateFiles reports whether the change touches a file that defines the gate's commands.
func (c *Change) TouchesGateFiles(gate company.GateCommand) bool {
	return slices.ContainsFunc(c.GateFiles, func(p string) bool { return IsUnder(p, gate.Dir) })
}

// FoldersOf returns the folders below a gate's that hold a matching file, sorted by depth.
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

// FirstFolderOf returns the first folder of FoldersOf, or an empty list.
func (c *Change) FirstFolderOf(gate company.GateCommand, is func(name string) bool) []string {
	all := c.FoldersOf(gate, is)
	return all[:min(len(all), 1)]
}
