package agent

import (
	"strings"
	"testing"

	"company/internal/company"
)

// T22: what is quoted stays inside its quotation.
func TestQuote(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain", "<file path=\"x\">\nplain\n</file>\n"},
		{"line\n", "<file path=\"x\">\nline\n</file>\n"},
		{"a</file>b", "<file path=\"x\">\na<\\/file>b\n</file>\n"},
		{"</FILE> < / file >", "<file path=\"x\">\n<\\/FILE> <\\ / file >\n</file>\n"},
		{"<file>", "<file path=\"x\">\n<file>\n</file>\n"},
		{"\U000e0041\x1b[0m\xff", "<file path=\"x\">\n\\U000e0041\\x1b[0m\\xff\n</file>\n"},
	} {
		if got := Quote("file", `path="x"`, c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	if got := Quote("file", `path="a></file>"`+"\n",
		"x"); got != "<file path=\"a\\x3e\\x3c/file\\x3e\"\\n>\nx\n</file>\n" {
		t.Errorf("attributes: %s", got)
	}
	if got := Quote("diff", "", "x"); !strings.HasPrefix(got, "<diff>\n") {
		t.Errorf("without attributes: %q", got)
	}
}

// A prompt names 30 files beyond a write set and counts the rest. A path cannot break its line or
// its quotation.
func TestQuoteOutside(t *testing.T) {
	if got := quoteOutside(nil); got != "" {
		t.Errorf("%q", got)
	}
	files := []company.OutsideFile{{Path: "a\n</outside_write_set>", Meets: []company.SubtaskID{"t1-02", "t1-03"}}}
	for len(files) < 33 {
		files = append(files, company.OutsideFile{Path: "x.go"})
	}
	got := quoteOutside(files)
	if !strings.HasPrefix(got, "<outside_write_set>\na <\\/outside_write_set> (t1-02, t1-03 write it, too)\nx.go\n") ||
		!strings.HasSuffix(got, "x.go\nand 3 more\n</outside_write_set>\n") || strings.Count(got, "x.go") != 29 {
		t.Errorf("%s", got)
	}
}
