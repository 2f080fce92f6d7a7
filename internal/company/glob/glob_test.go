package glob

import (
	"errors"
	"path"
	"strings"
	"testing"

	"company/internal/company/glob/globtest"

	"pgregory.net/rapid"
)

func mustParse(t rapid.TB, s string) Glob {
	t.Helper()
	g, err := Parse(s)
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return g
}

func TestGlobMatch(t *testing.T) {
	for _, c := range []struct {
		glob string
		yes  []string
		no   []string
	}{
		{"a/b.go", []string{"a/b.go"}, []string{"a/b_go", "b.go", "a/b.go/c", "a"}},
		{"*", []string{"a", ".env"}, []string{"a/b", "", ".", ".."}},
		{"**", []string{"a", "a/b", ".github/x"}, []string{"", "/a", "a/", "a//b", "a/../b", "./a"}},
		{"a/**", []string{"a", "a/b", "a/b/c", "a/.x"}, []string{"ab", "b/a"}},
		{"a/**/**", []string{"a", "a/b"}, []string{"b"}},
		{"**/x.go", []string{"x.go", "a/x.go", "a/b/x.go"}, []string{"ax.go", "x.go/a"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"ab", "a/xb"}},
		{"a**b", []string{"ab", "axxb"}, []string{"a/b"}},
		{"?[a-c][!x][^0-9]", []string{"zabc", "écùé"}, []string{"/abc", "zdbc", "zaxc", "zab1"}},
		{"app/\\[id\\]/{page,layout}.{ts,tsx}", []string{"app/[id]/page.ts", "app/[id]/layout.tsx"},
			[]string{"app/i/page.ts"}},
		{"{a,b/{c,d}}/*.go", []string{"a/x.go", "b/c/x.go", "b/d/.go"}, []string{"b/x.go"}},
		{"a{,/**}", []string{"a", "a/b"}, []string{"ab"}},
		{"[{]", []string{"{"}, nil},
	} {
		g := mustParse(t, c.glob)
		for _, p := range c.yes {
			if !g.Match(p) {
				t.Errorf("%q does not match %q", c.glob, p)
			}
		}
		for _, p := range c.no {
			if g.Match(p) {
				t.Errorf("%q matches %q", c.glob, p)
			}
		}
	}
	if (Glob{}).Match("a") || overlaps(Glob{}, mustParse(t, "**")) {
		t.Error("the zero glob matches something")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ glob, want string }{
		{"", "empty"},
		{"/etc/passwd", "absolute"},
		{"../x", "component . or .. in it"},
		{"a/../b", "component . or .. in it"},
		{"./a", "component . or .. in it"},
		{"a/{b,..}/c", "component . or .. in it"},
		{"a/\\.\\./b", "component . or .. in it"},
		{"a//b", "empty component"},
		{"a/", "ends in a /"},
		{"{,a}/b", "empty component"},
		{"a\x00b", "control character"},
		{"a\nb", "control character"},
		{"a\xff", "not valid UTF-8"},
		{strings.Repeat("a", 1025), "1025 bytes, 1024 are allowed"},
		{"{a,b", "{ without its }"},
		{"a}", "} without its {"},
		{"[a", "[ without its ]"},
		{"[]", "empty class"},
		{"[a/b]", "a class with a /"},
		{"[z-a]", "runs backwards"},
		{"a\\", "escape"},
		{strings.Repeat("{a,b}", 7), "more than 64 patterns"},
		{strings.Repeat("{a,b}", 6) + strings.Repeat("x", 20), "more than 1024 characters and wildcards"},
		{strings.Repeat("{", 300) + strings.Repeat("}", 300) + strings.Repeat("{a,b}", 60), "more than 64 patterns"},
	} {
		_, err := Parse(c.glob)
		bad := (*SyntaxError)(nil)
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q) = %v, want %q", c.glob, err, c.want)
		}
		if bad != nil && bad.Fix == "" {
			t.Errorf("Parse(%q): no hint", c.glob)
		}
	}
}

const overlapBudget = 1 << 18

func overlaps(a, b Glob) bool { _, both := commonPath(a, b); return both }

func commonPath(a, b Glob) (path string, both bool) {
	budget := overlapBudget
	return CommonPath(a, b, &budget)
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"internal/api/**", "internal/store/**", false},
		{"internal/**", "internal/store/*.go", true},
		{"**/*.go", "docs/**", true},
		{"*.go", "docs/**", false},
		{"**/*_test.go", "**/*.md", false},
		{"a/*/c", "a/b/*", true},
		{"a/*/c", "a/b/*/d", false},
		{"a/**/z", "**/y", false},
		{"[a-m]*", "[n-z]*", false},
		{"[a-n]*", "[n-z]*", true},
		{"[!a]", "a", false},
		{"{a,b}.go", "{c,b}.go", true},
		{"a", "a/**", true},
		{"a/**", "a", true},
		{"a?c", "a/c", false},
		{"*", ".env", true},
	} {
		a, b := mustParse(t, c.a), mustParse(t, c.b)
		path, got := commonPath(a, b)
		if got != c.want || overlaps(b, a) != c.want {
			t.Errorf("overlap(%q, %q) = %v (%q), want %v", c.a, c.b, got, path, c.want)
		}
	}
}

// A question that is too large counts as an overlap, and is answered in
// bounded time.
func TestOverlapUndecided(t *testing.T) {
	big := mustParse(t, strings.Repeat("*a", 500)+"b")
	other := mustParse(t, strings.Repeat("*a", 500)+"c")
	budget := 1000
	if path, both := CommonPath(big, other, &budget); !both || path != "" {
		t.Fatalf("an undecided question gave %q, %v", path, both)
	}
	if !overlaps(big, big) {
		t.Fatal("a glob does not overlap itself")
	}
}

// matchByComponents is the meaning of a pattern without braces, spelled out: path.Match
// for each component, and ** for any number of them. Plain patterns have no **, and
// below a/** of an ignore file is not a itself.
func matchByComponents(syntax Syntax, pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == "**" && syntax != Plain:
		least := 0
		if len(pattern) == 1 && syntax == Ignore {
			least = 1
		}
		for n := least; n <= len(name); n++ {
			if matchByComponents(syntax, pattern[1:], name[n:]) {
				return true
			}
		}
		return false
	case len(name) == 0:
		return false
	}
	one := pattern[0]
	if syntax != Plain {
		one = strings.ReplaceAll(one, "[!", "[^")
	}
	ok, err := path.Match(one, name[0])
	return err == nil && ok && matchByComponents(syntax, pattern[1:], name[1:])
}

// Feature: globs, Property 2: Match and Overlap
//
// Match is what the components say in each syntax, and Overlap is exact: its example
// is matched by both globs, and where it says no, brute force finds none (SUB-18).
func TestGlobProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sa, sb := globtest.Generate(t, "a"), globtest.Generate(t, "b")
		a, errA := Parse(sa)
		b, errB := Parse(sb)
		if errA != nil || errB != nil {
			t.Skip("a component of dots")
		}
		common, both := commonPath(a, b)
		if both && (!a.Match(common) || !b.Match(common)) {
			t.Fatalf("commonPath(%q, %q) = %q, which is not matched by both", sa, sb, common)
		}
		if overlaps(b, a) != both {
			t.Fatalf("overlap(%q, %q) is not symmetric", sa, sb)
		}
		branches, err := expandBraces(sa)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range globtest.SmallPaths {
			want := false
			for _, one := range branches {
				want = want || matchByComponents(Full, strings.Split(one, "/"), strings.Split(p, "/"))
			}
			m := a.Match(p)
			if m != want {
				t.Fatalf("%q matches %q: %v, by its components %v", sa, p, m, want)
			}
			if m && b.Match(p) && !both {
				t.Fatalf("overlap(%q, %q) = false, but both match %q", sa, sb, p)
			}
		}
		for _, e := range a.examples {
			if !a.Match(e) && !strings.Contains("/"+e+"/", "/./") && !strings.Contains("/"+e+"/", "/../") {
				t.Fatalf("%q does not match its own example %q", sa, e)
			}
		}
		for _, syntax := range []Syntax{Ignore, Plain} {
			for _, one := range branches {
				g, err := ParsePattern(one, syntax)
				for _, p := range globtest.SmallPaths {
					want := matchByComponents(syntax, strings.Split(one, "/"), strings.Split(p, "/"))
					if got := err == nil && g.Match(p); got != want {
						t.Fatalf("syntax %d: %q matches %q: %v, by its components %v (%v)", syntax, one, p, got, want, err)
					}
				}
			}
		}
	})
}

// Patterns of other programs may hold alternatives that no path of a repository matches,
// and have the meaning of their program.
func TestParsePattern(t *testing.T) {
	for _, c := range []struct {
		syntax  Syntax
		pattern string
		yes, no []string
	}{
		{Full, "{../x,/y,z/,./w,a}", []string{"a"}, []string{"x", "y", "z", "w", "../x"}},
		{Full, "../x", nil, []string{"x", "../x"}},
		{Full, "a/**", []string{"a", "a/b"}, []string{"b"}},
		{Full, "*/**", []string{"a", "a/b"}, nil},
		{Ignore, "a/**", []string{"a/b", "a/b/c"}, []string{"a"}},
		{Ignore, "*/**", []string{"a/b"}, []string{"a"}},
		{Ignore, "{a,b}", []string{"{a,b}"}, []string{"a", "b"}},
		{Plain, "**/b", []string{"a/b"}, []string{"b", "a/a/b"}},
		{Plain, "[!a]", []string{"!", "a"}, []string{"b"}},
		{Plain, "{a,b}", []string{"{a,b}"}, []string{"a"}},
		{Full, "é[à-ü]?", []string{"éàx", "éù漢"}, []string{"éxx", "eàx"}},
		{Full, "a\tb\x00", nil, []string{"a\tb", "a\tb\x00"}},
	} {
		g, err := ParsePattern(c.pattern, c.syntax)
		if err != nil {
			t.Errorf("ParsePattern(%q, %d): %v", c.pattern, c.syntax, err)
		}
		for _, p := range c.yes {
			if !g.Match(p) {
				t.Errorf("syntax %d: %q does not match %q", c.syntax, c.pattern, p)
			}
		}
		for _, p := range c.no {
			if g.Match(p) {
				t.Errorf("syntax %d: %q matches %q", c.syntax, c.pattern, p)
			}
		}
	}
	for _, bad := range []string{"[a", "{a", "a\\", strings.Repeat("{a,?}", 40) + "x", strings.Repeat("a", 1025)} {
		if _, err := ParsePattern(bad, Full); err == nil {
			t.Errorf("ParsePattern(%.40q) is read", bad)
		}
	}
}

// What a match takes from a budget is bounded by the size of the path and of the glob,
// whatever both are, and is the same as a budget that is used up shows.
func TestMatchSpendsItsBudget(t *testing.T) {
	for _, text := range []string{
		"{" + strings.Repeat("**/*/", 25) + "b,**/" + strings.Repeat("*a", 200) + "b,**/" + strings.Repeat("*a", 100) + "c}z",
		strings.Repeat("{a,?}", 6) + "x", "**/" + strings.Repeat("*é", 300), "**/*", "a/b",
	} {
		g := mustParse(t, text)
		most := (len(g.nfa.positions)+63)/64 + len(g.nfa.bits.wide)
		for _, path := range []string{strings.Repeat("a/", 20) + strings.Repeat("a", 900), strings.Repeat("é", 500),
			"a/b", ""} {
			const full = 1 << 30
			budget := full
			want := g.MatchWithin(path, &budget)
			spent := full - budget
			if spent < 1 || spent > 1+most*len([]rune(path)) {
				t.Errorf("%.30q on %.30q: %d steps", text, path, spent)
			}
			if want != g.Match(path) {
				t.Errorf("%.30q on %.30q: a budget changes the answer", text, path)
			}
			none := 0
			if g.MatchWithin(path, &none) || none >= 0 {
				t.Errorf("%.30q on %.30q: matched without a budget", text, path)
			}
		}
	}
	all, none := mustParse(t, "**"), 0
	if !all.Mentions(all, &none) {
		t.Error("a question that cannot be decided is not a mention")
	}
	if none = 0; all.IsWithin([]Glob{all}, &none) {
		t.Error("a question that cannot be decided is within")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a/**", "{a,b}/[!c]*", "\\[x\\]", "**/{a,{b,c}}/?"} {
		f.Add(s)
	}
	all, _ := Parse("**")
	f.Fuzz(func(t *testing.T, s string) {
		if g, err := Parse(s); err == nil {
			if path, both := commonPath(g, all); both && path != "" && !g.Match(path) {
				t.Fatalf("%q does not match %q", s, path)
			}
		}
	})
}
