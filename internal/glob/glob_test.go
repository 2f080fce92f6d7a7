package glob

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"company/internal/glob/globtest"

	"github.com/bmatcuk/doublestar/v4"
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
		{"app/\\[id\\]/{page,layout}.{ts,tsx}", []string{"app/[id]/page.ts", "app/[id]/layout.tsx"}, []string{"app/i/page.ts"}},
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

// doublestarMatch asks doublestar about each pattern. There "a/**" matches "a"
// but "*/**" does not match "a", nor "a/**/**"; here all three do.
func doublestarMatch(patterns []string, path string) bool {
	for _, p := range patterns {
		for ok := true; ok; p, ok = strings.CutSuffix(p, "/**") {
			if doublestar.MatchUnvalidated(p, path) {
				return true
			}
		}
	}
	return false
}

var manyStars = regexp.MustCompile(`\*{3,}`)

// Match is what doublestar says, and Overlap is exact: its example is matched
// by both globs, and where it says no, brute force finds none (SUB-18).
func TestGlobProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sa, sb := globtest.Generate(t, "a"), globtest.Generate(t, "b")
		a, errA := Parse(sa)
		b, errB := Parse(sb)
		if errA != nil || errB != nil {
			t.Skip("a component of dots")
		}
		path, both := commonPath(a, b)
		if both && (!a.Match(path) || !b.Match(path)) {
			t.Fatalf("commonPath(%q, %q) = %q, which is not matched by both", sa, sb, path)
		}
		if overlaps(b, a) != both {
			t.Fatalf("overlap(%q, %q) is not symmetric", sa, sb)
		}
		theirs, err := expandBraces(sa)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range theirs {
			// There a negated class matches the separator, here never.
			p = strings.ReplaceAll(p, "[!a]", "[!/a]")
			p = strings.ReplaceAll(p, "[^b.]", "[^/b.]")
			// There a final *** does not match nothing, though * and ** do.
			theirs[i] = manyStars.ReplaceAllString(p, "*")
		}
		for _, p := range globtest.SmallPaths {
			m := a.Match(p)
			want := doublestarMatch(theirs, p)
			if m != want {
				t.Fatalf("%q matches %q: %v, doublestar says %v", sa, p, m, want)
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
	})
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
