package terminalio

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"company/internal/lib/safetext"
	"company/internal/surface/terminalio/terminaltest"
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

// JSON holds nothing that steers a terminal or hides in it, and each value stays what it is.
func TestJSONSteersNoTerminal(t *testing.T) {
	var all strings.Builder
	for r := range rune(0x110000) {
		all.WriteRune(r)
	}
	var out bytes.Buffer
	con := Console{Out: &out}
	if err := con.PrintJSON(&out, map[string]string{all.String(): all.String()}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); safetext.Escape(text) != text || strings.Count(text, "\n") != 1 {
		t.Error("a character steers the terminal")
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back[all.String()] != all.String() {
		t.Errorf("the value has changed: %v", err)
	}
}
