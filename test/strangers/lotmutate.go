package strangers

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A mutation is a small change of one line of a source file that is no test.
type mutation struct {
	File string
	Line int // from 1
	Old  string
	New  string

	constant bool // it changes a constant or a type, and is tried after those that change a decision
}

// mutableFiles are the ends of source files, by the language of the stratum.
var mutableFiles = map[Stratum][]string{
	DebianNode: {".js", ".mjs", ".cjs", ".ts"}, Npm: {".js", ".mjs", ".cjs", ".ts"},
	Generator: {".js", ".mjs", ".cjs", ".ts", ".tsx", ".vue", ".svelte"},
	GoProxy:   {".go"}, DebianGo: {".go"}, Python: {".py"}, Native: {".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"},
	Rust: {".rs"}, PHP: {".php"},
}

// notSourceRE are paths that hold tests, or that no test of the repository looks at.
var notSourceRE = regexp.MustCompile(
	`(?i)(^|/)(tests?|__tests__|spec|testing|testdata|fixtures?|examples?|docs?|bench(marks?)?|vendor|third_party|node_modules|dist|debian|\.[^/]+|scripts|tools|types)/|[._-](test|spec)s?\.|_test\.|(^|/)test[^/]*\.[a-z]+$|\.d\.ts$|\.min\.|\.pb\.go$|(^|/)(setup|conftest|conf|gulpfile|gruntfile|karma\.conf|rollup\.config|webpack\.config|eslint\.config|vite\.config|vitest\.config)\.|\.config\.[a-z]+$|(^|/)doc\.go$|^company[-_]`)

const (
	mostSourceFile = 200 << 10
	mostMutations  = 20000
)

// listMutations returns the mutations of a tree in a seeded order.
func listMutations(dir string, stratum Stratum, random *rand.Rand) (out []mutation, err error) {
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if e.IsDir() {
			if rel != "." && notSourceRE.MatchString(rel+"/") {
				return filepath.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() || !slices.Contains(mutableFiles[stratum], path.Ext(rel)) || notSourceRE.MatchString(rel) ||
			len(out) > mostMutations {
			return nil
		}
		info, err := e.Info()
		if err != nil || info.Size() > mostSourceFile {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		out = append(out, mutateText(rel, string(text))...)
		return nil
	})
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	slices.SortStableFunc(out, func(a, b mutation) int {
		switch {
		case a.constant == b.constant:
			return 0
		case a.constant:
			return 1
		}
		return -1
	})
	return out, err
}

type swap struct {
	find *regexp.Regexp
	put  string
}

// swaps are the small changes: a condition is turned round, a bound is off by one, a
// constant is another. The first that a line has is taken of each.
var swaps = []swap{
	{regexp.MustCompile(` === `), ` !== `},
	{regexp.MustCompile(` !== `), ` === `},
	{regexp.MustCompile(` == `), ` != `},
	{regexp.MustCompile(` != `), ` == `},
	{regexp.MustCompile(` >= `), ` > `},
	{regexp.MustCompile(` <= `), ` < `},
	{regexp.MustCompile(` && `), ` || `},
	{regexp.MustCompile(` \|\| `), ` && `},
	{regexp.MustCompile(`\btrue\b`), `false`},
	{regexp.MustCompile(`\bfalse\b`), `true`},
	{regexp.MustCompile(`\bTrue\b`), `False`},
	{regexp.MustCompile(`\bFalse\b`), `True`},
	{regexp.MustCompile(` \+ 1\b`), ` + 2`},
	{regexp.MustCompile(` - 1\b`), ` - 2`},
	{regexp.MustCompile(` and `), ` or `},
	{regexp.MustCompile(`\bif not `), `if `},
	{regexp.MustCompile(`\breturn 0\b`), `return 1`},
	{regexp.MustCompile(`\breturn 1\b`), `return 0`},
	{regexp.MustCompile(`^(\s*)if err != nil \{$`), `${1}if err == nil {`},
	{regexp.MustCompile(`^(\s*)return (?:[a-z][A-Za-z0-9_.]*)\(.*\);$`), `${1}return null;`},
}

// constantSwaps are for code that decides nothing, as new projects have: a number, a word
// or a type is another one.
var constantSwaps = []swap{
	{regexp.MustCompile(`=\{\d+\}`), `={true}`},
	{regexp.MustCompile(`\)!`), `)`},
	{regexp.MustCompile(`\{\{ (\w+) \}\}`), `{{ !$1 }}`},
	{regexp.MustCompile(`\b[1-9]\d{0,3}\b`), `0`},
	{regexp.MustCompile(`(['"` + "`" + `])([A-Za-z][A-Za-z ,]+)`), `${1}x$2`},
}

// commentRE are lines without code that runs.
var commentRE = regexp.MustCompile(`^\s*(//|/?\*|#|--|"""|'''|import |from |use |package |require\()`)

// mutateText returns the mutations of a text, line by line. Where a line stands more
// than once, none is made of it: an edit names a line by its text.
func mutateText(file, text string) (out []mutation) {
	count := map[string]int{}
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		count[line]++
	}
	for i, line := range lines {
		if commentRE.MatchString(line) || len(line) > 300 || count[line] > 1 || strings.Count(text, line) > 1 {
			continue
		}
		for n, s := range slices.Concat(swaps, constantSwaps) {
			at := s.find.FindStringSubmatchIndex(line)
			if at == nil || inQuotes(line, at[0]) {
				continue
			}
			changed := line[:at[0]] + string(s.find.ExpandString(nil, s.put, line, at)) + line[at[1]:]
			out = append(out, mutation{File: file, Line: i + 1, Old: line, New: changed, constant: n >= len(swaps)})
		}
	}
	return out
}

// inQuotes reports whether a place of a line is in a string.
func inQuotes(line string, at int) bool {
	quote := byte(0)
	for i := 0; i < at; i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case quote == 0 && (c == '"' || c == '\'' || c == '`'):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote != 0
}
