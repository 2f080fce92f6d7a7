package company_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	. "company/internal/company"
)

// The names of repositories and the ids of objects are those of these expressions, which
// are too large to be made at each start.
func TestNamesWithoutExpressions(t *testing.T) {
	repository := regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}(/[A-Za-z0-9._-]{1,100}){1,8}$`)
	object := regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	s, now := NewState(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.Office.Epoch = 1
	long := strings.Repeat("a", 100)
	for _, text := range []string{
		"", "a", "a/b", "/a", "a/", "a//b", "A.b_c-9/Z", "a/b\n", "a/b c", "a/ä", "../x", "a/b/c/d/e/f/g/h/i",
		"a/b/c/d/e/f/g/h/i/j", long + "/" + long, long + "x/a", "a/" + long + "x", "a/b:c", "a\x00/b",
	} {
		_, err := Decide(s, Meta{ID: "c", Actor: President, Now: now}, Submit{
			Instruction: "add a limit", Project: Project{ID: "p", Path: "/p"},
			Issue: &IssueRef{Number: 1, Repository: text, URL: "https://example.com/i/1"},
		})
		if (err == nil) != repository.MatchString(text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	digits := strings.Repeat("0123456789abcdef", 5)
	for _, text := range []string{"", digits[:39], digits[:40], digits[:41], digits[:63], digits[:64], digits[:65],
		digits[:39] + "g", digits[:39] + "A", digits[:39] + "\n", "z" + digits[:39], digits[:20] + "-" + digits[:19],
		digits[:40] + "\n"} {
		if OID(text).Valid() != object.MatchString(text) {
			t.Errorf("%q", text)
		}
	}
}
