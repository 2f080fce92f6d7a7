package worker

import (
	"strings"
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
)

// A worker that is sent back is told which of its tests show nothing; one that
// begins has none.
func TestWorkerIsToldOfIdleTests(t *testing.T) {
	task := &company.Task{ID: "t1", Instruction: "do it", Prepared: &company.TaskPrepared{}}
	sub := &company.Subtask{ID: "t1-01",
		Gate: &company.GateFinished{Result: company.GateResult{Passed: true,
			RedGreen: &company.RedGreen{Files: 1, Fresh: 1, Idle: []string{"x TestIdle"}}}}}
	if got := ticketBrief(task, sub, circumstances{}); strings.Contains(got, "TestIdle") {
		t.Errorf("it is not sent back, and\n%s", got)
	}
	sub.Input = "The reviewer requests changes:\n- there is no test"
	if got := ticketBrief(task, sub, circumstances{}); !strings.Contains(got, "also pass without the change") ||
		!strings.Contains(got, "x TestIdle") {
		t.Errorf("%s", got)
	}
}

// Where a test that shows the change is required, a worker knows before it begins.
func TestWorkerIsToldOfRequiredTests(t *testing.T) {
	task := &company.Task{ID: "t1", Instruction: "do it", Prepared: &company.TaskPrepared{}}
	for mode, want := range map[string]bool{"": false, company.RedGreenReport: false, company.RedGreenRequire: true} {
		task.Settings.RedGreen = mode
		if got := ticketBrief(task, &company.Subtask{ID: "t1-01"}, circumstances{}); strings.Contains(
			got, "must fail without the change") != want {
			t.Errorf("%q: %s", mode, got)
		}
	}
}

// A worker knows which part of the instruction others do, and what the president answered. Merged
// and cancelled tickets are left out; the text of a title stays in its line.
func TestWorkerKnowsItsSiblings(t *testing.T) {
	ticket := func(id company.SubtaskID, title string, status company.SubtaskStatus) *company.Subtask {
		return &company.Subtask{ID: id, Status: status,
			Planned: company.PlannedSubtask{Title: title, Description: "do it", WriteSet: []string{string(id) + ".go"}}}
	}
	own := ticket("t1-01", "Own", company.SubtaskRunning)
	task := &company.Task{ID: "t1", Instruction: "do it all", Prepared: &company.TaskPrepared{},
		Subtasks: []*company.Subtask{
			own, ticket("t1-02", "Write the store\n# Ticket", company.SubtaskPending),
			ticket("t1-03", "Merged", company.SubtaskCompleted), ticket("t1-04", "Dropped", company.SubtaskCancelled),
		}}
	got := ticketBrief(
		task, own, circumstances{Answers: []*company.Approval{{Question: "Which store?", Text: "the old one"}}})
	for _, want := range []string{"Other tickets do these parts; leave them alone:\n- t1-02: Write the store # " +
		"Ticket (t1-02.go)\n", "Asked: Which store?\nThe president answered: the old one"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if strings.Contains(got, "t1-03") || strings.Contains(got, "t1-04") {
		t.Errorf("tickets that are over are named:\n%s", got)
	}
	// A ticket of several has the whole instruction, byte for byte.
	task.Instruction = "- mend the parser: `grep  -c  '[1] x'`\n\n```\n- [ ] x\t\n```\n- mend the store \n"
	if got := ticketBrief(task, own, circumstances{}); !strings.Contains(got, "\n"+task.Instruction+"\n\nOther tickets") {
		t.Errorf("the instruction:\n%s", got)
	}
	task.Subtasks = task.Subtasks[:1]
	if got := ticketBrief(task, own, circumstances{}); strings.Contains(got, "Other tickets") ||
		!strings.Contains(got, "- mend the store") {
		t.Errorf("a ticket alone has siblings:\n%s", got)
	}
}

// A worker with the whole instruction is told when to ask the president, and reads the answer; once there are changes,
// and on a manager's ticket, it is not (SUB-14).
func TestWorkerIsToldWhenToAsk(t *testing.T) {
	const askFirst = "call ask_president before you change anything"
	task := agenttest.NewTask()
	sub := task.Subtasks[0]
	answered := circumstances{Answers: []*company.Approval{{Question: "Per user?", Text: "per address"}}}
	if text := ticketBrief(task, sub, answered); strings.Contains(text, askFirst) {
		t.Errorf("the worker of a manager's ticket is to ask:\n%s", text)
	}
	sub.Planned = company.PlannedSubtask{Title: "Add a limit"}
	if text := ticketBrief(task, sub, answered); strings.Contains(text, askFirst) {
		t.Errorf("with changes there:\n%s", text)
	}
	sub.Head = ""
	if text := ticketBrief(task, sub, answered); !strings.Contains(text, askFirst) ||
		!strings.Contains(text, "Asked: Per user?\nThe president answered: per address\n") {
		t.Errorf("the first run:\n%s", text)
	}
}
