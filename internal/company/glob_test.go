package company

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"
)

func mustGlob(t rapid.TB, s string) Glob {
	t.Helper()
	g, err := ParseGlob(s)
	if err != nil {
		t.Fatalf("ParseGlob(%q): %v", s, err)
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
		g := mustGlob(t, c.glob)
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
	if (Glob{}).Match("a") || Overlap(Glob{}, mustGlob(t, "**")) {
		t.Error("the zero glob matches something")
	}
}

func TestParseGlobRefuses(t *testing.T) {
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
		_, err := ParseGlob(c.glob)
		if CodeOf(err) != EInvalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseGlob(%q) = %v, want %q", c.glob, err, c.want)
		}
		if e := (*Error)(nil); errors.As(err, &e) && e.Hint == "" {
			t.Errorf("ParseGlob(%q): no hint", c.glob)
		}
	}
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
		a, b := mustGlob(t, c.a), mustGlob(t, c.b)
		path, got := Common(a, b)
		if got != c.want || Overlap(b, a) != c.want {
			t.Errorf("Overlap(%q, %q) = %v (%q), want %v", c.a, c.b, got, path, c.want)
		}
	}
}

// A question that is too large counts as an overlap, and is answered in
// bounded time.
func TestOverlapUndecided(t *testing.T) {
	big := mustGlob(t, strings.Repeat("*a", 500)+"b")
	other := mustGlob(t, strings.Repeat("*a", 500)+"c")
	budget := 1000
	if path, both := commonPath(big, other, &budget); !both || path != "" {
		t.Fatalf("an undecided question gave %q, %v", path, both)
	}
	if !Overlap(big, big) {
		t.Fatal("a glob does not overlap itself")
	}
}

// genGlob makes patterns over a small alphabet, so that overlaps are common.
func genGlob(t *rapid.T, label string) string {
	var gen func(depth int) string
	gen = func(depth int) string {
		var b strings.Builder
		for i, n := 0, rapid.IntRange(1, 3).Draw(t, label); i < n; i++ {
			piece := rapid.SampledFrom([]string{"a", "b", ".", "*", "?", "[ab]", "[!a]", "[^b.]", "{", "\\a", "a", "b"}).Draw(t, label)
			if piece == "{" {
				if depth > 1 {
					continue
				}
				piece = "{" + gen(depth+1) + "," + gen(depth+1) + "}"
			}
			b.WriteString(piece)
		}
		return b.String()
	}
	var parts []string
	for i, n := 0, rapid.IntRange(1, 3).Draw(t, label); i < n; i++ {
		if rapid.IntRange(0, 3).Draw(t, label) == 0 {
			parts = append(parts, "**")
		} else {
			parts = append(parts, gen(0))
		}
	}
	return strings.Join(parts, "/")
}

// smallPaths are all paths of up to 3 components of up to 2 of the characters
// that the generated patterns tell apart, "c" standing for all others.
var smallPaths = func() []string {
	var names []string
	for _, x := range []string{"", "a", "b", ".", "c"} {
		for _, y := range []string{"a", "b", ".", "c"} {
			if n := x + y; n != "." && n != ".." {
				names = append(names, n)
			}
		}
	}
	paths := append([]string(nil), names...)
	for _, x := range names {
		for _, y := range names {
			paths = append(paths, x+"/"+y)
		}
	}
	for _, x := range names {
		for _, y := range names {
			for _, z := range []string{"a", "b", ".a", "cb"} {
				paths = append(paths, x+"/"+y+"/"+z)
			}
		}
	}
	return paths
}()

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
		sa, sb := genGlob(t, "a"), genGlob(t, "b")
		a, errA := ParseGlob(sa)
		b, errB := ParseGlob(sb)
		if errA != nil || errB != nil {
			t.Skip("a component of dots")
		}
		path, both := Common(a, b)
		if both && (!a.Match(path) || !b.Match(path)) {
			t.Fatalf("Common(%q, %q) = %q, which is not matched by both", sa, sb, path)
		}
		if Overlap(b, a) != both {
			t.Fatalf("Overlap(%q, %q) is not symmetric", sa, sb)
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
		for _, p := range smallPaths {
			m := a.Match(p)
			want := doublestarMatch(theirs, p)
			if m != want {
				t.Fatalf("%q matches %q: %v, doublestar says %v", sa, p, m, want)
			}
			if m && b.Match(p) && !both {
				t.Fatalf("Overlap(%q, %q) = false, but both match %q", sa, sb, p)
			}
		}
		for _, e := range a.examples {
			if !a.Match(e) && !strings.Contains("/"+e+"/", "/./") && !strings.Contains("/"+e+"/", "/../") {
				t.Fatalf("%q does not match its own example %q", sa, e)
			}
		}
	})
}

func FuzzParseGlob(f *testing.F) {
	for _, s := range []string{"a/**", "{a,b}/[!c]*", "\\[x\\]", "**/{a,{b,c}}/?"} {
		f.Add(s)
	}
	all, _ := ParseGlob("**")
	f.Fuzz(func(t *testing.T, s string) {
		if g, err := ParseGlob(s); err == nil {
			if path, both := Common(g, all); both && path != "" && !g.Match(path) {
				t.Fatalf("%q does not match %q", s, path)
			}
		}
	})
}
