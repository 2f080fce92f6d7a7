package command

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"company/internal/cli/terminaltest"
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
