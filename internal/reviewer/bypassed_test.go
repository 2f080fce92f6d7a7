package reviewer

import (
	"strings"
	"testing"
)

// The brief names the files of the diff that bypass a git filter.
func TestBypassedFilesInBrief(t *testing.T) {
	b := setup(t, map[string]string{"a.go": "package a\n\nvar x = 1\n"})
	if text := reviewBrief(b.task, b.sub, b.x); strings.Contains(text, "filter") {
		t.Errorf("nothing bypasses a filter, and yet\n%s", text)
	}
	b = setup(t, map[string]string{".gitattributes": "*.bin filter=lfs\n", "big.bin": "big\n"})
	if text := reviewBrief(b.task, b.sub, b.x); !strings.Contains(text, "## Files that bypass a git filter") ||
		!strings.Contains(text, "big.bin (filter=lfs): this filter keeps large files outside of git") {
		t.Errorf("a file is missing\n%s", text)
	}
}
