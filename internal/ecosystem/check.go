package ecosystem

import (
	"company/internal/company"
	"company/internal/ecosystem/testreport"
)

// Reporter is an ecosystem with runners that report their tests.
type Reporter interface {
	Ecosystem
	// Formats lists the report formats that only its runners write.
	Formats() []testreport.Format
	// PlainReaders returns readers for the plain text output of its runners.
	PlainReaders() []testreport.LineReader
}

// Completer is an ecosystem that recognizes its runner in a configured command.
type Completer interface {
	Ecosystem
	// CompleteGate sets how the gate's command reports and how a failing test is planted. It returns false if the
	// command runs more than the runner.
	CompleteGate(g *company.GateCommand) (ok bool)
}

// GateFiler is an ecosystem with files that define a repository's checks. The commands of gates are pinned, but they
// run the definitions in these files. A reviewer must therefore see changes to them.
type GateFiler interface {
	Ecosystem
	// IsGateFile reports whether the file at this path defines checks.
	IsGateFile(path string) bool
}

// Builder is an ecosystem whose runner builds the tests first.
type Builder interface {
	Ecosystem
	// IsBuildFailure reports whether a failure of this name means that the code does not build.
	IsBuildFailure(test string) bool
}

// Starter is an ecosystem whose runner starts the programs of a check and fails in a recognizable way if a program is
// missing.
type Starter interface {
	Ecosystem
	CannotStart(command string, exitCode int, output string) bool
}

// PackageFinder is an ecosystem that knows the Debian packages for files that a build did not find.
type PackageFinder interface {
	Ecosystem
	// MissingPackages returns the Debian packages that would fix a failed build, according to its output. It returns an
	// empty list if they are unknown. Names in own belong to the tree and are never looked up in Debian.
	MissingPackages(output string, own OwnNames) []string
}

// Explainer is an ecosystem that can explain output of its toolchain in a container.
type Explainer interface {
	Ecosystem
	// ExplainOutput returns a text to append to the output, or an empty string.
	ExplainOutput(output string) string
}

// FormChecker is an ecosystem whose client writes its lock files itself.
type FormChecker interface {
	Locker
	// CheckForm returns an error if a lock file is not in the form that the client writes. ParseLock may then miss a
	// package that the client reads. It returns nil for files that people write.
	CheckForm(file string, text []byte) error
	// IsWritten reports whether the client writes the file.
	IsWritten(file string) bool
}

// ManifestRepeater is an ecosystem whose lock files repeat the contents of manifests in the tree. If its client
// cannot read a manifest, it uses the lock file instead.
type ManifestRepeater interface {
	Locker
	// ListManifests lists the paths of the manifests that a lock file repeats. The manifests may be missing.
	ListManifests(file string, text []byte) []string
	// CheckManifests returns an error if a lock file contains more than the base's lock file and these manifests, keyed
	// by path. A missing manifest has no text.
	CheckManifests(file string, text, base []byte, manifests map[string][]byte) error
}

// OverrideLister is a ManifestRepeater whose lock files may contain overrides: the project's manifest replaces the
// dependency that a package requests.
type OverrideLister interface {
	ManifestRepeater
	// ListOverridden lists the overridden requests of a lock file, in the form of ParseAddresses. The texts are
	// untrusted.
	ListOverridden(file string, text []byte, manifests map[string][]byte) []Address
}
