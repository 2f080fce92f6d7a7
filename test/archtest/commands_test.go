package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// notForCommands are packages that commands leave to app, client and diagnose.
var notForCommands = []string{"adapters", "bus", "container", "depproxy", "forge", "gates", "gitops", "image", "intake", "ledger", "orchestrator", "prbody", "session"}

func TestCommandsReachNoDriver(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath != "company/internal/cli" && !strings.HasPrefix(p.ImportPath, "company/internal/cli/") {
			continue
		}
		for _, imp := range p.Imports {
			name, _, _ := strings.Cut(strings.TrimPrefix(imp, "company/internal/"), "/")
			if slices.Contains(notForCommands, name) {
				t.Errorf("%s imports %s: a function of app, client or diagnose may serve", p.ImportPath, imp)
			}
		}
	}
}

// maxCommandLines bounds the command line without its tests. It is lowered when
// code that is no command leaves. It was raised for what commands alone can do: to
// measure the terminal, to draw in place, to start a pager, to complete branches, and
// for the flags of feed and reject.
// Later by 940 lines for wait, tell, retry, list, costs, pr checkout and pr merge, and for
// logs -f, status --watch, submit --plan, --template and an instruction from an editor.
// Later by 350 lines for config set, config unset and --jq, and by 100 for the priority,
// the tags and the deadline of tasks, in submit and list.
// Later by 60 for pauses of subtasks.
// Later by 120 for submit --issue, and by 60 for submit --repo URL.
// Later by 80 for bus cat and bus convert, and for the caps of a day and of the office.
const maxCommandLines = 7220

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
