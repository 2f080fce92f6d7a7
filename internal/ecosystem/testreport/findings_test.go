package testreport

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readFindings reads the output of a linter.
func readFindings(text string) (names []string, res *Results) {
	f := &lintFindings{}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		f.ReadLine(line)
	}
	res = f.Finish()
	for _, one := range res.Failed {
		names = append(names, one.Name)
	}
	return names, res
}

// What linters print for people names their findings, each by its file and its rule.
func TestFindingsOfLinters(t *testing.T) {
	for file, want := range map[string][]string{
		"eslint.txt": {
			"src/a.js: 'a' is assigned a value but never used (no-unused-vars)", "src/a.js: 'foo' is not defined (no-undef)",
			"src/a.js: File has too many lines (N). Maximum allowed is 3 (max-lines)",
			"src/a.js: 'bar' is not defined (no-undef)", "src/b.js: 'baz' is not defined (no-undef)",
		},
		"eslint-warnings.txt": {
			"src/a.js: 'a' is assigned a value but never used (no-unused-vars)",
			"src/a.js: 'a' is never reassigned. Use 'const' instead (prefer-const)", "src/a.js: 'foo' is not defined (no-undef)",
			"src/a.js: 'b' is never reassigned. Use 'const' instead (prefer-const)", "src/a.js: 'bar' is not defined (no-undef)",
			"src/b.js: 'baz' is not defined (no-undef)",
		},
		"stylelint.txt": {
			"src/s.css: Too many declarations, maximum 1 (declaration-block-single-line-max-declarations)",
			"src/s.css: Expected \"RED\" to be \"red\" (value-keyword-case)",
			"src/s.css: Unknown property \"colr\" (property-no-unknown)",
		},
		"mypy.txt": {"a.py: error: Incompatible types in assignment (expression has type \"str\", variable has " +
			"type \"int\") [assignment]", "b.py: error: Name \"x\" is not defined [name-defined]"},
		"pylint.txt": {"a.py: C0114: Missing module docstring (missing-module-docstring)",
			"a.py: C0302: Too many lines in module (N/N) (too-many-lines)"},
		"golangci.txt": {"a.go: Error return value of `f.Close` is not checked (errcheck)",
			"b/b.go: cyclomatic complexity N of func `x` is high (> 30) (gocyclo)"},
		"rubocop.txt": {"lib/a.rb: C: [Correctable] Style/FrozenStringLiteralComment: Missing frozen string literal " +
			"comment."},
		"phpstan.txt":      {"src/A.php: Undefined variable: $x", "src/A.php: Method A::f() has no return type."},
		"svelte-check.txt": {"src/App.svelte: Type 'string' is not assignable to type 'number'. (ts)"},
		"next-lint.txt":    {"src/app/page.tsx: 'x' is assigned a value but never used. (@typescript-eslint/no-unused-vars)"},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		names, res := readFindings(string(text))
		if res.ParseError != "" || !slices.Equal(names, want) {
			t.Errorf("%s: %q, %q, want %q", file, res.ParseError, names, want)
		}
		// A finding that moved is the same one.
		moved := strings.NewReplacer("  1:", "  11:", "  2:", "  12:", ".py:3:", ".py:33:", ".go:5:", ".go:55:", "\n  12 ",
			"\n  99 ", "\n12:", "\n14:", "lines (5)", "lines (6)").Replace(string(text))
		if again, _ := readFindings(moved); !slices.Equal(again, want) {
			t.Errorf("%s, moved: %q, want %q", file, again, want)
		}
		if broken, res := readFindings(string(text) + "Segmentation fault\n"); res.ParseError == "" {
			t.Errorf("%s and what no linter says: %q", file, broken)
		}
	}
}

// Output in which a failure may be that has no name is not understood.
func TestFindingsThatHideOthers(t *testing.T) {
	for name, text := range map[string]string{
		"a summary of more":         "a.py:3: error: x\nsomething else\nFound 2 errors in 1 file (checked 1 source file)\n",
		"another tool behind":       "✖ 0 problems (0 errors, 0 warnings)\nlicense header missing\n",
		"no summary":                "a.py:1:1: X1 y\nlicense header missing\n",
		"a quoted source and more":  "a.go:1:1: x (errcheck)\nfunc f() {\n^\nlicense header missing\n",
		"a summary of another tool": "a.py:1:1: X1 y\nlicense header missing\n✖ 3 problems (3 errors, 0 warnings)\n",
	} {
		if names, res := readFindings(text); res.ParseError == "" {
			t.Errorf("%s: understood as %q", name, names)
		}
	}
	for text, want := range map[string][]string{
		"a.go\nb/b.go\n": {"a.go: is listed", "b/b.go: is listed"}, // gofmt -l
		"Checking formatting...\n[warn] src/a.js\n[warn] Code style issues found in the above file. Run Prettier with " +
			"--write to fix.\n": {"src/a.js: is not formatted"},
		// make -s lint
		"a.go:1:1: x\nmake: *** [Makefile:2: lint] Error 1\n":                                           {"a.go: x"},
		"src/a.vue(3,5): error TS2322: no\nsrc/b.ts:1:2 - error TS1: y\n\nFound 2 errors in 2 files.\n": {"src/a.vue: TS2322: no", "src/b.ts: TS1: y"},
	} {
		if names, res := readFindings(text); res.ParseError != "" || !slices.Equal(names, want) {
			t.Errorf("%q: %q, %q", text, res.ParseError, names)
		}
	}
}
