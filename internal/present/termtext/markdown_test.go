package termtext

import (
	"strings"
	"testing"
)

// Prose is broken between words below its sign; code and tables keep their lines.
func TestWrapMarkdown(t *testing.T) {
	const row, code = "| a cell that is long | another one that is long |", "git fetch origin a-branch-with-a-long-name"
	text := strings.Join([]string{
		"# A title that is longer than the terminal", "", "- an item with some more words than fit",
		"> a quote with some more words than fit",
		row, "```sh", code, "```", "    " + code, "10. a numbered item with more words",
	}, "\n")
	want := strings.Join([]string{
		"# A title that is longer than", "the terminal", "", "- an item with some more words", "  than fit",
		"> a quote with some more words", "> than fit",
		row, "```sh", code, "```", "    " + code, "10. a numbered item with more", "    words",
	}, "\n")
	if got := WrapMarkdown(text, Style{Width: 31}); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	if got := WrapMarkdown(text, Style{}); got != text {
		t.Errorf("without a terminal: %s", got)
	}
	nested := "````\n```\n" + code + code + "\n````\n"
	if got := WrapMarkdown(nested, Style{Width: 31}); got != nested {
		t.Errorf("a fence in a fence:\n%s", got)
	}
}
