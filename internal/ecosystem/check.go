package ecosystem

import (
	"company/internal/company"
	"company/internal/testreport"
)

// Reporter is an ecosystem with runners that report their tests.
type Reporter interface {
	Ecosystem
	// Formats are the formats of reports that are its runners' alone.
	Formats() []testreport.Format
	// PlainReaders read what its runners print for people.
	PlainReaders() []testreport.LineReader
}

// Completer is an ecosystem that knows its runner in a command that people gave.
type Completer interface {
	Ecosystem
	// CompleteGate adds to a gate how its command reports and how a failing test
	// is planted; not ok: the command is not the runner's alone.
	CompleteGate(g *company.GateCommand) (ok bool)
}

// GateFiler is an ecosystem with files by which a repository says what its checks
// do. The gates are pinned, and yet run what these files define: a reviewer must
// see their changes.
type GateFiler interface {
	Ecosystem
	// IsGateFile says whether a file of a tree, by its path, is one.
	IsGateFile(path string) bool
}

// Builder is an ecosystem whose runner builds the tests first.
type Builder interface {
	Ecosystem
	// IsBuildFailure says whether a failure, by its name, is that of code that
	// does not build.
	IsBuildFailure(test string) bool
}

// Starter is an ecosystem whose runner starts the programs of a check, and ends in a
// way of its own where there is no such program.
type Starter interface {
	Ecosystem
	CannotStart(command string, exitCode int, output string) bool
}

// PackageFinder is an ecosystem that knows which package of Debian has what a build did not find.
type PackageFinder interface {
	Ecosystem
	// MissingPackages are the packages by the output of a build that failed; none: it is not known.
	MissingPackages(output string) []string
}

// Explainer is an ecosystem that knows what some output of its toolchain means in a
// container.
type Explainer interface {
	Ecosystem
	// ExplainOutput is the text that is put behind the output, or nothing.
	ExplainOutput(output string) string
}
