package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxCommandLines bounds the command line without its tests. It is lowered when
// code that is no command leaves.
const maxCommandLines = 5500

func TestCommandLineHoldsCommands(t *testing.T) {
	lines := 0
	for _, p := range packages(t) {
		name, ok := strings.CutPrefix(p.ImportPath, "company/internal/")
		if top, _, _ := strings.Cut(name, "/"); !ok || top != "cli" {
			continue
		}
		for _, f := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
		}
	}
	if lines == 0 || lines > maxCommandLines {
		t.Errorf("internal/cli has %d lines, and at most %d are commands", lines, maxCommandLines)
	}
}
