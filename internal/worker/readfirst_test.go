package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/agent"
	"company/internal/toolbox/toolproto"
)

// shelf is files that a toolbox would read.
type shelf map[string]string

func (s shelf) readLines(_ context.Context, r toolproto.ReadFileRequest) (toolproto.ReadFileResult, error) {
	text, ok := s[r.Path]
	switch {
	case r.Path == "broken":
		return toolproto.ReadFileResult{}, errors.New("the link is gone")
	case r.Path == "lib":
		return toolproto.ReadFileResult{}, toolproto.Refuse(toolproto.KindArgument, "lib is a folder")
	case !ok:
		return toolproto.ReadFileResult{}, toolproto.Refuse(toolproto.KindNotFound, "%s does not exist", r.Path)
	}
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	res := toolproto.ReadFileResult{Path: r.Path, FirstLine: max(1, r.Offset), TotalLines: len(lines),
		Size: int64(len(text)), Digest: "of " + r.Path}
	lines = lines[res.FirstLine-1:]
	if r.Limit > 0 && r.Limit < len(lines) {
		lines, res.Truncated = lines[:r.Limit], true
	}
	res.Content, res.Lines = []byte(strings.Join(lines, "")), len(lines)
	return res, nil
}

// Files of the context are handed over, whole or by lines, with the notes and with one line for
// each missing file; the toolbox counts the shown files as read, and no other.
func TestFilesComeWithTheTicket(t *testing.T) {
	files := shelf{"a.go": "package a\n", "lib/b.go": "one\ntwo\nthree\nfour\n"}
	b, err := bringFiles(t.Context(),
		[]string{"be quick", "a.go: where it begins", "lib/b.go:2-3", "lib/gone.go", "lib/lost.go has it", "fmt.Errorf wraps",
			"lib"}, files.readLines)
	if err != nil {
		t.Fatal(err)
	}
	const want = `## Read first
- be quick
- a.go: where it begins
- lib/gone.go (not shown: lib/gone.go does not exist)
- lib/lost.go has it (not shown: lib/lost.go does not exist)
- fmt.Errorf wraps
- lib (not shown: lib is a folder)
These files of your branch count as read:
<shown_file path="a.go">
package a
</shown_file>
<shown_file path="lib/b.go">
two
three
(lines 2-3 of 4; use offset=4 to continue)
</shown_file>
`
	if got := prompts.Render("read-first", b); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := fmt.Sprint(b.seen); got != "[{a.go of a.go} {lib/b.go of lib/b.go}]" {
		t.Errorf("counts as read: %s", got)
	}
	answers := []agent.Shown{
		{Tool: "read_file", Arguments: `{"path":"a.go"}`, Text: "package a\n"},
		{Tool: "read_file", Arguments: `{"path":"lib/b.go","offset":2,"limit":2}`,
			Text: "two\nthree\n(lines 2-3 of 4; use offset=4 to continue)\n"},
	}
	if !slices.Equal(b.shown, answers) {
		t.Errorf("answers that are there: %q", b.shown)
	}
	if _, err := bringFiles(t.Context(), []string{"broken"}, files.readLines); err == nil {
		t.Error("a container that is gone is no missing file")
	}
	if got := prompts.Render("read-first", broughtFiles{}); got != "" {
		t.Errorf("%q", got)
	}
}

// A file has 8 KiB and all have 24; a mark stands where text is left out.
func TestFilesOfATicketAreBounded(t *testing.T) {
	long := strings.Repeat(strings.Repeat("x", 99)+"\n", 200)
	files := shelf{"1": long, "2": long, "3": long, "4": long, "wide": strings.Repeat("y", 60<<10) + "\n"}
	b, err := bringFiles(t.Context(), []string{"1", "2", "3", "4"}, files.readLines)
	if err != nil {
		t.Fatal(err)
	}
	text := prompts.Render("read-first", b)
	if len(text) > maxBrought+1<<10 || len(b.seen) != 3 || len(b.shown) > 0 || strings.Count(text, "use offset=") != 3 ||
		!strings.Contains(text, "(lines 1-81 of 200; use offset=82 to continue)") {
		t.Errorf("%d bytes, %d files:\n%.300s", len(text), len(b.seen), text)
	}
	if !strings.Contains(text, "- 4 (not shown: the files below fill the room)\n") {
		t.Errorf("%.300s", text)
	}
	if b, err = bringFiles(t.Context(), []string{"wide"}, files.readLines); err != nil || len(b.Files) > 4<<10 ||
		!strings.Contains(b.Files, "bytes of this line left out") {
		t.Errorf("%v, %d bytes", err, len(b.Files))
	}
}
