package reviewer

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/patch"
	"company/internal/lib/lazyregexp"
)

// maxFlags limits the flagged lines of a diff that are shown.
const maxFlags = 30

// flagged lists patterns of added lines that can keep tests from running or from counting, each for a set of
// files. The gates look for such effects with their own tests. Code that behaves differently only under these
// tests can be found only by reading.
var flagged = []struct {
	why  string
	file func(p string) bool
	line *lazyregexp.Regexp
}{
	{"excludes or replaces packages", hasBaseName("go.mod", "go.work"),
		lazyregexp.New(`^\s*(ignore|replace|exclude|toolchain|tool)\b|=>`)},
	{"takes over the run of a package's tests", hasExtension(".go"), lazyregexp.New(`\bfunc TestMain\(`)},
	{"ends the process", hasExtension(".go"), lazyregexp.New(`\b(os|syscall|unix)\.Exit\(|\bruntime\.Goexit\(`)},
	{"ends the process", hasExtension(".py"), lazyregexp.New(`\b(os\._exit|sys\.exit|pytest\.exit|exit)\(`)},
	{"ends the process", hasExtension(".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"),
		lazyregexp.New(`\bprocess\.(exit|reallyExit|abort|kill)\b`)},
	{"ends the process", hasExtension(".rs"), lazyregexp.New(`\bprocess::(exit|abort)\(`)},
	{"is built conditionally", hasExtension(".go"), lazyregexp.New(`^//(go:build|\s*\+build)\b|^//go:linkname\b`)},
	{"checks how it is run", hasExtension(".go"),
		lazyregexp.New(`\bflag\.Lookup\("test\.|\bos\.Args\b|\btesting\.Testing\(\)|/proc/(self|1)/`)},
	{"checks how it is run", hasExtension(".py"),
		lazyregexp.New(`\bsys\.argv\b|PYTEST_CURRENT_TEST|['"](pytest|unittest)['"]\s+in\s+sys\.modules|/proc/(self|1)/`)},
	{"checks how it is run", hasExtension(".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"),
		lazyregexp.New(`NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST|/proc/(self|1)/`)},
	{"decides which tests exist", hasExtension(".py"),
		lazyregexp.New(`\bdef (load_tests|pytest_\w+)\(|\bcollect_ignore`)},
	{"reads the files around it", company.IsTest,
		lazyregexp.New(
			`\b(os\.ReadDir|filepath\.(Walk|WalkDir|Glob)|os\.listdir|os\.scandir|os\.walk|glob\.i?glob|readdirSync|fs\.readdir|read_dir)\b`)},
	{"replaces assertions", hasExtension(".py", ".js", ".ts", ".go"),
		lazyregexp.New(
			`\bexpect\s*=\s|\bassert\s*=\s|\bunittest\.TestCase\.\w+\s*=|global(This)?\.(expect|test|it|describe)\s*=`)},
}

func hasBaseName(names ...string) func(string) bool {
	return func(p string) bool {
		for _, n := range names {
			if path.Base(p) == n {
				return true
			}
		}
		return false
	}
}

func hasExtension(endings ...string) func(string) bool {
	return func(p string) bool {
		for _, e := range endings {
			if path.Ext(p) == e {
				return true
			}
		}
		return false
	}
}

// flagLines returns the lines of a diff that a reviewer must read closely: file, reason, and line. Beyond
// maxFlags, each reason gets one line with the number and the files. This way many lines of one kind do not hide
// another kind.
func flagLines(diff gitops.Diff) []string {
	var out []string
	var more moreFlags
	for l := range patch.Lines(string(diff.Patch)) {
		if l.Kind != patch.Added {
			continue
		}
		file := l.File.Path()
		for _, f := range flagged {
			if !f.file(file) || !f.line.MatchString(l.Text) {
				continue
			}
			if len(out) == maxFlags {
				more.add(f.why, file)
				break
			}
			const most = 160
			added := strings.TrimSpace(l.Text)
			if len(added) > most {
				added = strings.ToValidUTF8(added[:most], "") + "…"
			}
			out = append(out, file+": "+f.why+": "+added)
			break
		}
	}
	out = append(out, more.describe()...)
	if diff.Truncated {
		out = append(out, "only the beginning of the diff was searched for such lines: look for them in the rest, too")
	}
	return out
}

// moreFlags counts flagged lines that are not shown, by reason.
type moreFlags []*moreOfReason

type moreOfReason struct {
	why   string
	lines int
	files []string
}

func (m *moreFlags) add(reason, file string) {
	i := slices.IndexFunc(*m, func(r *moreOfReason) bool { return r.why == reason })
	if i < 0 {
		i = len(*m)
		*m = append(*m, &moreOfReason{why: reason})
	}
	r := (*m)[i]
	if r.lines++; len(r.files) == 0 || r.files[len(r.files)-1] != file {
		r.files = append(r.files, file)
	}
}

// mostMoreFiles limits the files in a reason's line.
const mostMoreFiles = 10

func (m moreFlags) describe() (out []string) {
	for _, moreOfReason := range m {
		files := strings.Join(moreOfReason.files[:min(len(moreOfReason.files), mostMoreFiles)], ", ")
		if n := len(moreOfReason.files) - mostMoreFiles; n > 0 {
			files += fmt.Sprintf(" and %d more", n)
		}
		out = append(out, "and "+company.Count(moreOfReason.lines, "more line")+": "+moreOfReason.why+": "+files)
	}
	return out
}
