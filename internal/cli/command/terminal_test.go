package command

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"company/internal/cli/terminaltest"
)

// A question is cut between words.
func TestWrapText(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"", ""},
		{"one", "one"},
		{"one two", "one two"},
		{"one two three", "one two\n  three"},
		{"  one\ttwo \n\nthree four five\n", "one two\n  \n  three\n  four five"},
		{"a-word-that-is-too-long b", "a-word-that-is-too-long\n  b"},
		{"ééééééé é", "ééééééé é"},
	} {
		if got := WrapText(x.text, 9, "  "); got != x.want {
			t.Errorf("%q: %q, want %q", x.text, got, x.want)
		}
	}
}

// Only a terminal is asked: /dev/null is a character device, too.
func TestCanPrompt(t *testing.T) {
	_, tty := terminaltest.OpenPTY(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, tc := range map[string]struct {
		env  Environment
		want bool
	}{
		"a terminal":    {Environment{In: tty, Err: tty, Output: "text"}, true},
		"--no-input":    {Environment{In: tty, Err: tty, Output: "text", NoInput: true}, false},
		"json":          {Environment{In: tty, Err: tty, Output: "json"}, false},
		"null in":       {Environment{In: null, Err: tty, Output: "text"}, false},
		"piped in":      {Environment{In: strings.NewReader("y\n"), Err: tty, Output: "text"}, false},
		"err to a pipe": {Environment{In: tty, Err: &bytes.Buffer{}, Output: "text"}, false},
	} {
		if got := tc.env.CanPrompt(); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
