package generate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/surface/cli"
	"company/tools/handbook/generate"
)

// TestManual: each command has its page, twice the same, and each shell its file.
func TestManual(t *testing.T) {
	dir, again := t.TempDir(), t.TempDir()
	date := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, d := range []string{dir, again} {
		if err := generate.WriteManual(cli.Tree(), d, date); err != nil {
			t.Fatal(err)
		}
		if err := generate.WriteCompletions(cli.Tree(), d); err != nil {
			t.Fatal(err)
		}
	}
	for file, words := range map[string]string{
		"company.1": "SEE ALSO", "company-submit.1": "Jan 2026", "company-pr-sync.1": "company pr sync",
		"bash/company": "__complete", "zsh/_company": "#compdef company", "fish/company.fish": "complete",
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(again, file))
		if err != nil || string(text) != string(second) {
			t.Errorf("%s is not the same twice, %v", file, err)
		}
		if !strings.Contains(string(text), words) {
			t.Errorf("%s has no %q", file, words)
		}
	}
}
