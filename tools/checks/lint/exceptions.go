package main

import (
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// exception takes faults out of what is reported: those of one analyzer for which each expression
// that is given matches.
type exception struct {
	analyzer string
	file     string // its package and name, such as company/internal/api/tcp_test.go
	line     string // of the code
	text     string // of the message
}

var exceptions = []exception{
	// What is written is closed with its error read. What is deferred is the reading side, a second
	// Close, or the removal of a temporary file.
	{analyzer: "errcheck", line: `^\s*defer `},
	// Waiting for the end of a goroutine is not reading how it ended.
	{analyzer: "errcheck", line: `^\s*<-`},
	// It fails the test itself, and returns the error for more checks.
	{analyzer: "errcheck", line: `\b[rR]equireCode\(`},
	// Output to people: the command line keeps the first error of its stdout and reports it when the
	// command ends.
	{analyzer: "errcheck", line: `\bfmt\.Fprint(f|ln)?\(`},

	// A test owns what it starts and ends it in a Cleanup, when its context is over; the requests of a
	// test server carry theirs.
	{analyzer: "contextcheck", file: `_test\.go$|^company/(test|internal/forge/forgetest)/`},
	// The heartbeats of a link go on until the link is closed.
	{
		analyzer: "contextcheck", file: `(internal/agentrun/sandbox|internal/container/image)/`,
		text: "Function `New` ",
	},
	// A container that nobody wants any more is ended also when its run was cut.
	{analyzer: "contextcheck", text: `(discardInstances|refillRack)\$1`},
	// A request to a registry carries its context.
	{analyzer: "contextcheck", file: `internal/ecosystem/depproxy/handler\.go`},
	// One context ends another here; none is made.
	{analyzer: "contextcheck", line: `context\.AfterFunc\(`},
	// Commands have the context that cobra hands them.
	{analyzer: "contextcheck", file: `internal/surface/cli/root\.go`, text: "newRoot->"},

	// A helper's context serves its Cleanup too, which runs when the context of the test is over.
	{analyzer: "usetesting", text: `context\.Background\(\) could be replaced by t\.Context\(\) in ([^T]|T[^e])`},
	// So do what is removed from a daemon, and what counts what is left there.
	{
		analyzer: "usetesting", file: `internal/container/(image|docker)/.*_test\.go$`,
		text: `context\.Background`,
	},
	// A socket's path is short and /dev/shm another file system: t.TempDir is neither.
	{analyzer: "usetesting", text: `os\.MkdirTemp`},
	// A child has the temporary folder that this process has.
	{analyzer: "usetesting", line: `"TMPDIR=" \+ os\.TempDir`},

	// What a helper of tests takes says what its cases are about, also where all of them agree.
	{analyzer: "unparam", file: `_test\.go$`},
}

// exceptFaults makes an analyzer report only what no exception and no //nolint comment is about.
func exceptFaults(a *analysis.Analyzer) {
	run := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		filtered := *pass
		filtered.Report = func(d analysis.Diagnostic) {
			if !isExcepted(a.Name, pass.Pkg.Path(), pass.Fset.Position(d.Pos), d.Message) {
				d.Message += " (" + a.Name + ")"
				pass.Report(d)
			}
		}
		return run(&filtered)
	}
}

func isExcepted(analyzer, pkg string, at token.Position, text string) bool {
	before, line := readLine(at)
	if hasNolint(line, analyzer) || strings.HasPrefix(strings.TrimSpace(before), "//") && hasNolint(before, analyzer) {
		return true
	}
	file := strings.TrimSuffix(pkg, "_test") + "/" + filepath.Base(at.Filename)
	return slices.ContainsFunc(exceptions, func(e exception) bool {
		return e.analyzer == analyzer && matches(e.file, file) && matches(e.line, line) && matches(e.text, text)
	})
}

func matches(expression, text string) bool {
	return expression == "" || regexp.MustCompile(expression).MatchString(text)
}

// readLine returns a line of a file and the one before it. They are empty for a file that cannot be read.
func readLine(at token.Position) (before, line string) {
	data, err := os.ReadFile(at.Filename)
	if err != nil {
		return "", ""
	}
	lines := strings.Split(string(data), "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return "", ""
	}
	if at.Line > 1 {
		before = lines[at.Line-2]
	}
	return before, lines[at.Line-1]
}

var (
	nolint   = regexp.MustCompile(`//nolint:(\w+) // \S`)
	byHonnef = regexp.MustCompile(`^(SA|ST|S)\d+$`)
)

// hasNolint reports whether a line has //nolint:NAME // WHY for an analyzer. All of staticcheck's have one name.
func hasNolint(line, analyzer string) bool {
	found := nolint.FindStringSubmatch(line)
	if byHonnef.MatchString(analyzer) {
		analyzer = "staticcheck"
	}
	return found != nil && found[1] == analyzer
}
