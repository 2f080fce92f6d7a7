package console

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"company/internal/console/terminaltest"
	"company/internal/reshape"
)

// Only a terminal is asked: /dev/null is a character device, too.
func TestCanPrompt(t *testing.T) {
	_, tty := terminaltest.OpenPTY(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, tc := range map[string]struct {
		con  Console
		want bool
	}{
		"a terminal":    {Console{In: tty, Err: tty, Output: "text"}, true},
		"--no-input":    {Console{In: tty, Err: tty, Output: "text", NoInput: true}, false},
		"json":          {Console{In: tty, Err: tty, Output: "json"}, false},
		"null in":       {Console{In: null, Err: tty, Output: "text"}, false},
		"piped in":      {Console{In: strings.NewReader("y\n"), Err: tty, Output: "text"}, false},
		"err to a pipe": {Console{In: tty, Err: &bytes.Buffer{}, Output: "text"}, false},
	} {
		if got := tc.con.CanPrompt(); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A result for a person's eyes is safe and indented, in the shape that was asked for.
func TestShapedResultOnATerminal(t *testing.T) {
	person, tty := terminaltest.OpenPTY(t)
	shape, err := reshape.ParseQuery(`.title, {a: [.title]}, "end"`)
	if err != nil {
		t.Fatal(err)
	}
	con := &Console{Out: &Stdout{W: tty}, Output: "json", Shape: shape, Lifetime: t.Context()}
	if err := con.PrintJSON(con.Out, map[string]any{"title": "red \x1b[31m"}); err != nil {
		t.Fatal(err)
	}
	want := "red \\x1b[31m\n{\n  \"a\": [\n    \"red \\\\x1b[31m\"\n  ]\n}\nend\n"
	if shown := terminaltest.ReadToPrompt(t, person, "end\r\n"); shown != want {
		t.Errorf("%q, want %q", shown, want)
	}
}
