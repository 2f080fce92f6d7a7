package safedir

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestALineSaysTheSameAndRunsNothing(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{
		"$(touch fired)", "`touch fired`", "\ntouch fired\n", "\";touch fired;\"", "';touch fired;'", "\\$(touch fired)",
		"\r\x00\x1b", "\u2028touch fired\u2029", "${x:=$(touch fired)}", "a\\", "&touch fired&", "|touch fired",
	} {
		line, err := Line(map[string]string{"stderr": text, text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]string
		if err := json.Unmarshal(line, &back); err != nil || back["stderr"] != text || back[text] != "x" {
			t.Errorf("%q came back as %q, %v", text, back, err)
		}
		if bytes.Count(line, []byte("\n")) != 1 || line[len(line)-1] != '\n' {
			t.Errorf("%q is not one line", line)
		}
		for _, shell := range []string{"sh", "bash"} {
			cmd := exec.Command(shell)
			cmd.Dir, cmd.Stdin = dir, bytes.NewReader(line)
			_ = cmd.Run() // that there is no such command is as it should be
			if _, err := os.Lstat(filepath.Join(dir, "fired")); err == nil {
				t.Fatalf("%s ran a command of %q", shell, line)
			}
		}
	}
}
