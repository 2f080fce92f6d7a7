package prbody

import (
	"strings"
	"testing"

	"company/internal/company"
)

// A file that stayed as the branch had it, by a rule of the repository, is named: the ticket's change to it is left
// out.
func TestKeptFileIsNamed(t *testing.T) {
	t.Parallel()
	task := oneSubtask()
	task.Subtasks[0].Gate = &company.GateFinished{Remade: []company.RemadeFile{
		{Path: "go.sum", Command: "go mod tidy"}}}
	const words = "change to it is left out"
	if text := PRBody(task, PROptions{}); !strings.Contains(text, "`go.sum`") || strings.Contains(text, words) {
		t.Errorf("made again:\n%s", text)
	}
	task.Subtasks[0].Gate.Remade = append(task.Subtasks[0].Gate.Remade,
		company.RemadeFile{Path: "VERSION", Command: company.KeptByRule})
	if text := PRBody(task, PROptions{}); !strings.Contains(text, "| `VERSION` | `merge=ours` |") ||
		!strings.Contains(text, words) {
		t.Errorf("kept:\n%s", text)
	}
}
