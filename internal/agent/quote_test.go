package agent

import (
	"strings"
	"testing"
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
	if got := Quote("diff", "", "x"); !strings.HasPrefix(got, "<diff>\n") {
		t.Errorf("without attributes: %q", got)
	}
}
