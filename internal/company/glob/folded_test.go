package glob

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// A folded glob matches each spelling that some disk takes for a path that it matches.
func TestFoldedMatches(t *testing.T) {
	set := MustParseFolded("**/company.yaml", ".github/**", "**/Jenkinsfile*", "[A-z]/x", "straße/**")
	for _, path := range []string{
		"company.yaml", "Company.yaml", "a/COMPANY.YAML", "company.yaml.", "company.yaml ", "company.yaml::$DATA",
		"comp\u200cany.yaml", "\u2060company.yaml\ufeff",
		".github/a.yml", ".GitHub/workflows/x.yml", ".github./a", ".git\u200dhub/a", "JENKINSFILE", "jenkin\u017ffile",
		"a/Jenkinsﬁle.old", "_/x", "a/x", "A/X", "STRASSE/a", "straße/a",
	} {
		if !set.Match(path) {
			t.Errorf("%q is not matched", path)
		}
	}
	for _, path := range []string{"", "/company.yaml", "company_yaml", "my.company.yaml", "company.yaml/x",
		"docs/.github/a", "github/x", "jenkins", "...", "a/.../b"} {
		if set.Match(path) {
			t.Errorf("%q is matched", path)
		}
	}
	if got := set[2].String(); got != "**/Jenkinsfile*" {
		t.Errorf("shown as %q", got)
	}
	write, err := ParseFolded(".GITHUB/workflows/*.yml")
	budget := 1 << 20
	if err != nil || !write.Mentions(set[1], &budget) || write.Mentions(set[0], &budget) {
		t.Errorf("a write set of another spelling: %v", err)
	}
	if _, err := ParseFolded("["); err == nil {
		t.Error("a bad glob is read")
	}
}

// Feature: globs, Property 1: Folded Globs Match More
//
// What a glob matches, its folded form matches too, in both cases (SUB-18).
func TestFoldedMatchesMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`(\*\*/)?[a-zA-Z.*?{}\[\]^-]{1,8}(/\*\*)?`).Draw(t, "pattern")
		path := rapid.StringMatching(`[a-cA-C.]{1,4}(/[a-cA-C.]{1,4}){0,2}`).Draw(t, "path")
		f, err := ParseFolded(pattern)
		if err != nil {
			return
		}
		set := FoldedSet{f}
		if f.exact.Match(path) && (!set.Match(path) || !f.hasClass && !set.Match(strings.ToUpper(path))) {
			t.Fatalf("%q matches %q, and not folded", pattern, path)
		}
	})
}

// Characters of one orbit fold to one.
func TestFoldRune(t *testing.T) {
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if next := unicode.SimpleFold(r); foldRune(next) != foldRune(r) {
			t.Fatalf("%q and %q", r, next)
		}
	}
}
