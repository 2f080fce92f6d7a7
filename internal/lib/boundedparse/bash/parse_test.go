package bash

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"company/internal/lib/boundedparse/parsetest"
	"company/internal/lib/hosttest"
)

// openings are texts that, repeated, nest a script or make its tree deep.
var openings = []string{
	"(", "$(", "$((", "{ ", "<(", "if ", "while ", "until ", "for a in b; do ", "select a in b; do ", "case a in b) ", "`",
	"\"$(", "! ", "time ", "coproc ",
	"function f ", "f() ", "${a:-", "${a[", "a[", "a=(", "@(", "a=$(", "$[", "((", "[[ ! ", "[[ ( ", "[[ a && ", "$((!",
	"$((1+", "$((a?", "$((a,", "let a=1+", "$(cat <<A\n", "<<A;",
	"a|", "a&&", "a||", "a;", "a\n", "a& ", "a<a ", "elif a; then b; ", "-", "!", "1+", "a,", "a?", "\\\n", "$a", "$'a'",
	"'", "\"", "#\n",
}

// TestParseBoundsTheStack parses and walks scripts that are nested as deeply as their size
// allows, and measures the stack and the memory that this takes.
func TestParseBoundsTheStack(t *testing.T) {
	hosttest.Long(t, "it measures the largest texts")
	for before, after := range map[string]string{"": "a", "$((": "1))", "[[ a": "a ]]", "if a; then b; ": "fi"} {
		for _, opening := range openings {
			for _, after := range []string{"", after} {
				text := before + strings.Repeat(opening, (maxText-20)/len(opening)) + after
				stack, allocated := parsetest.Measure(func() {
					file, err := Parse(text)
					if err != nil {
						return
					}
					syntax.Walk(file, func(syntax.Node) bool { return true })
				})
				if stack > 8*parsetest.MiB || allocated > 64*parsetest.MiB {
					t.Errorf("%q, then %q again and again: %d MiB of stack, %d MiB allocated", before, opening, stack>>20,
						allocated>>20)
				}
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"large":              strings.Repeat("a\n", maxText/2+1),
		"deep":               strings.Repeat("(", 1000) + "a" + strings.Repeat(")", 1000),
		"deep behind quotes": "echo ')))))' " + strings.Repeat("$(", 1000) + "a" + strings.Repeat(")", 1000),
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s: it was parsed", name)
		}
	}
}

// TestParseReadsLongScripts shows that signs in quotes and here-documents are no nesting.
func TestParseReadsLongScripts(t *testing.T) {
	for name, text := range map[string]string{
		"a file":   "cat > a.go <<'EOF'\n" + strings.Repeat("if (a[i]) { f(`x`, \"$(\") \n", 4000) + "EOF\ngit commit -m a\n",
		"quotes":   "echo '" + strings.Repeat("((([[[{{{", 5000) + "'; git commit -m a",
		"lines":    strings.Repeat("(cd a && { make \"$(nproc)\"; })\n", 4000) + "git commit -m a",
		"20 deep":  strings.Repeat("( ", 20) + "git commit -m a" + strings.Repeat(")", 20),
		"commands": strings.Repeat("if a; then b; fi; ", 5000) + "git commit -m a",
	} {
		file, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		commits := 0
		syntax.Walk(file, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 1 && c.Args[1].Lit() == "commit" {
				commits++
			}
			return true
		})
		if commits != 1 {
			t.Errorf("%s: %d commits were found", name, commits)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, opening := range openings {
		f.Add(opening, uint16(1000), "a")
	}
	f.Fuzz(func(t *testing.T, opening string, times uint16, after string) {
		text := strings.Repeat(opening, min(int(times), maxText/max(1, len(opening)))) + after
		if stack, allocated := parsetest.Measure(func() { _, _ = Parse(text) }); stack > 8*parsetest.MiB ||
			allocated > parsetest.MiB+2000*uint64(len(text)) {
			t.Errorf("%d bytes of %q: %d MiB of stack, %d MiB allocated", len(text), opening, stack>>20, allocated>>20)
		}
	})
}
