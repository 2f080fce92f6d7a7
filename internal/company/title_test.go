package company_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	. "company/internal/company"
)

// Feature: texts, Property 2: Titles of Instructions
//
// A title is one short line of the instruction, whatever that holds (SUB-10).
func TestTitleOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"add a farewell":                       "add a farewell",
		"\n\n  # Add a farewell\n\nas follows": "Add a farewell",
		"###### six\nmore":                     "six",
		"####### seven are not a heading":      "####### seven are not a heading",
		"#12 is broken":                        "#12 is broken",
		"#\n\n## \nthe rest":                   "the rest",
		"a\tb \u202e c\u200b\x1b[2Jd":          "a b c [2Jd",
		"  \n\t\n":                             "",
		"":                                     "",
		"not \xff valid":                       "not \uFFFD valid",
	} {
		if got := TitleOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("twelve bytes ", 30)
	if got := TitleOf(long); !strings.HasSuffix(got, "bytes …") && !strings.HasSuffix(got, "twelve …") ||
		len(got) > MaxTitle {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	rapid.Check(t, func(t *rapid.T) {
		got := TitleOf(rapid.String().Draw(t, "text"))
		if len(got) > MaxTitle || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b") ||
			TitleOf(got) != got && !strings.HasPrefix(got, "#") {
			t.Fatalf("%q", got)
		}
	})
}

// A pull request is called like its instruction, and not by its Markdown.
func TestTitleOfADelivery(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.must(President,
		Submit{Instruction: "# Add a limit\n\nTo all routes.", Project: Project{ID: "p", Path: "/p"},
			Settings: Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}}})
	s.id = NewTaskID(s.s.LastTask)
	s.must(Company, s.preparation())
	s.must(Company, RecordBaseline{Task: s.id, Result: s.verdict(s.oid(), true)})
	s.plan(1).queued(1)
	s.merged(1)
	s.checked()
	intended := EventsOf[DeliveryIntended](s.must(Company, IntendDelivery{s.id}))
	if len(intended) != 1 || intended[0].Title != "Add a limit" {
		t.Errorf("%+v", intended)
	}
}
