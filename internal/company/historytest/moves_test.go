package historytest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
)

// The pictures in the documentation are the tables, arrow by arrow (STA-1).
func TestStateMachineIsDrawn(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../docs/state_machine.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn := [][]string{}
	for _, block := range regexp.MustCompile("(?s)```mermaid\n(.*?)```").FindAllStringSubmatch(string(raw), -1) {
		arrows := []string{}
		for _, m := range regexp.MustCompile(`(?m)^\s*(\S+) --> (\S+)$`).FindAllStringSubmatch(block[1], -1) {
			arrows = append(arrows, m[1]+" --> "+m[2])
		}
		slices.Sort(arrows)
		drawn = append(drawn, arrows)
	}
	if len(drawn) != 2 {
		t.Fatalf("%d pictures, want one of a task and one of a subtask", len(drawn))
	}
	for i, table := range [][]string{arrowsOf(company.TaskMoves), arrowsOf(company.SubtaskMoves)} {
		if !slices.Equal(drawn[i], table) {
			t.Errorf("picture %d:\n%s\nits table:\n%s", i+1, strings.Join(drawn[i], "\n"), strings.Join(table, "\n"))
		}
	}
}

func arrowsOf[S ~string](moves map[S][]S) []string {
	out := []string{"[*] --> pending"}
	for from, tos := range moves {
		for _, to := range tos {
			out = append(out, string(from)+" --> "+string(to))
		}
	}
	slices.Sort(out)
	return out
}

// A last status leads to no other one, and the others have a way to failed and to cancelled.
func TestLastStatusesAreLast(t *testing.T) {
	t.Parallel()
	for from, tos := range company.TaskMoves {
		if from.Ended() && slices.ContainsFunc(tos, company.TaskStatus.Ended) ||
			!from.Ended() && (!slices.Contains(tos, company.StatusCancelled) || !slices.Contains(tos, company.StatusFailed)) {
			t.Errorf("%s: %v", from, tos)
		}
	}
	for from, tos := range company.SubtaskMoves {
		if from.Ended() && slices.ContainsFunc(tos, company.SubtaskStatus.Ended) ||
			!from.Ended() && (!slices.Contains(tos, company.SubtaskCancelled) || !slices.Contains(tos, company.SubtaskFailed)) {
			t.Errorf("%s: %v", from, tos)
		}
	}
}
