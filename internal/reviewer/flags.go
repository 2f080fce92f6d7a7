package reviewer

import (
	"bytes"
	"path"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lazyregexp"
)

// maxFlags is how many lines of a diff are flagged.
const maxFlags = 30

// flagged are lines that a change adds, in files of these, which can keep tests
// from running or from counting. The gates look for that with tests of their
// own; what behaves only for those can be seen by reading alone.
var flagged = []struct {
	why  string
	file func(p string) bool
	line *lazyregexp.Regexp
}{
	{"leaves packages out, or takes others for them", hasBaseName("go.mod", "go.work"), lazyregexp.New(`^\s*(ignore|replace|exclude|toolchain|tool)\b|=>`)},
	{"takes the run of a package's tests over", hasExtension(".go"), lazyregexp.New(`\bfunc TestMain\(`)},
	{"ends the process", hasExtension(".go"), lazyregexp.New(`\b(os|syscall|unix)\.Exit\(|\bruntime\.Goexit\(`)},
	{"ends the process", hasExtension(".py"), lazyregexp.New(`\b(os\._exit|sys\.exit|pytest\.exit|exit)\(`)},
	{"ends the process", hasExtension(".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"), lazyregexp.New(`\bprocess\.(exit|reallyExit|abort|kill)\b`)},
	{"ends the process", hasExtension(".rs"), lazyregexp.New(`\bprocess::(exit|abort)\(`)},
	{"builds only sometimes", hasExtension(".go"), lazyregexp.New(`^//(go:build|\s*\+build)\b|^//go:linkname\b`)},
	{"asks how it is run", hasExtension(".go"), lazyregexp.New(`\bflag\.Lookup\("test\.|\bos\.Args\b|\btesting\.Testing\(\)|/proc/(self|1)/`)},
	{"asks how it is run", hasExtension(".py"), lazyregexp.New(`\bsys\.argv\b|PYTEST_CURRENT_TEST|['"](pytest|unittest)['"]\s+in\s+sys\.modules|/proc/(self|1)/`)},
	{"asks how it is run", hasExtension(".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), lazyregexp.New(`NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST|/proc/(self|1)/`)},
	{"decides which tests there are", hasExtension(".py"), lazyregexp.New(`\bdef (load_tests|pytest_\w+)\(|\bcollect_ignore`)},
	{"looks at what lies around it", company.IsTest, lazyregexp.New(`\b(os\.ReadDir|filepath\.(Walk|WalkDir|Glob)|os\.listdir|os\.scandir|os\.walk|glob\.i?glob|readdirSync|fs\.readdir|read_dir)\b`)},
	{"answers for assertions", hasExtension(".py", ".js", ".ts", ".go"), lazyregexp.New(`\bexpect\s*=\s|\bassert\s*=\s|\bunittest\.TestCase\.\w+\s*=|global(This)?\.(expect|test|it|describe)\s*=`)},
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

// flagLines are the lines of a diff that a reviewer has to look at closely: file,
// why, and the line.
func flagLines(d gitops.Diff) []string {
	var out []string
	file, more := "", 0
	for line := range bytes.Lines(d.Patch) {
		text := strings.TrimRight(string(line), "\r\n")
		if p, ok := strings.CutPrefix(text, "+++ b/"); ok {
			file = p
			continue
		}
		added, ok := strings.CutPrefix(text, "+")
		if !ok || file == "" {
			continue
		}
		for _, f := range flagged {
			if !f.file(file) || !f.line.MatchString(added) {
				continue
			}
			if len(out) == maxFlags {
				more++
				break
			}
			const most = 160
			if added = strings.TrimSpace(added); len(added) > most {
				added = strings.ToValidUTF8(added[:most], "") + "…"
			}
			out = append(out, file+": "+f.why+": "+added)
			break
		}
	}
	if more > 0 {
		out = append(out, "and "+company.Count(more, "more line"))
	}
	return out
}
