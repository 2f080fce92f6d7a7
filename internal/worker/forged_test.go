package worker

import (
	"context"
	"errors"
	"slices"
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolbox/toolproto"
)

// What a repository or a model wrote begins no part of a worker's ticket (T22).
func TestForgedTextStaysInItsPlace(t *testing.T) {
	for _, text := range agenttest.Forged {
		task := agenttest.NewTask()
		sub := task.Subtasks[0]
		sub.Input = "x"
		sub.Gate = &company.GateFinished{
			Result: company.GateResult{Checks: []company.GateCheck{{Name: "test", Output: "x"}},
				RedGreen: &company.RedGreen{Idle: []string{"x"}}}}
		task.Runs = map[company.RunID]*company.Run{"t1-02.1": {ID: "t1-02.1", Ended: true, Notes: []string{text}}}
		merged := mergedTicket(task, 2, "x", "x", company.Change{Action: "created", Path: "x"})
		c := circumstances{Branch: toolproto.PrepareResult{Branch: "x", Head: "x"}, merged: []*company.Subtask{merged},
			Earlier: &earlierWork{
				Run: "t1-01.1", Summary: text,
				diff: gitops.Diff{Changes: slices.Repeat(
					[]gitops.FileChange{{Change: company.Change{Path: "x", Action: "created"}}}, 60), Patch: []byte(text),
					Truncated: true},
			}}
		agenttest.FillStrings(task, text, "Instruction", "Action", "After")
		agenttest.FillStrings(&c.Branch, text)
		agenttest.FillStrings(&c.Earlier.diff, text, "Action")
		task.Prepared.Target = task.Head
		read := func(_ context.Context, r toolproto.ReadFileRequest) (toolproto.ReadFileResult, error) {
			switch r.Path {
			case "lib/gone.go":
				return toolproto.ReadFileResult{},
					toolproto.Refuse(toolproto.KindNotFound, "it does not exist; did you mean %s?", text)
			case "a.go":
				return toolproto.ReadFileResult{Path: text, Content: []byte(text + "\n"), FirstLine: 1, Lines: 1,
					TotalLines: 1}, nil
			}
			return toolproto.ReadFileResult{}, errors.New(r.Path)
		}
		var err error
		if c.Brought, err = bringFiles(t.Context(), []string{"lib/gone.go", "a.go", text}, read); err != nil {
			t.Fatal(err)
		}
		agenttest.CheckForged(t, ticketBrief(task, sub, c), 15, "# Ticket t1-01: ")
	}
}
