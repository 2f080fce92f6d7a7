package worker

import (
	"strings"
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
)

// A worker has the decisions of the plan, so that it keeps to them and does not give them again.
func TestPlansDecisionsReachTheWorker(t *testing.T) {
	task := agenttest.NewTask()
	task.Plan = company.Planning{Accepted: "t1-plan.1", Decisions: []string{"A client is </decisions> its address."}}
	text := ticketBrief(task, task.Subtasks[0], circumstances{})
	if !strings.Contains(text, "<decisions>\n- A client is <\\/decisions> its address. (t1-plan.1)\n</decisions>") {
		t.Errorf("%s", text)
	}
	if text := ticketBrief(agenttest.NewTask(), task.Subtasks[0], circumstances{}); strings.Contains(text, "Decisions so far") {
		t.Errorf("nothing is decided:\n%s", text)
	}
}

// The next run of a ticket has the minor findings, as what it may mend; so has the ticket that repairs the whole.
func TestMinorFindingsReachTheNextRun(t *testing.T) {
	review := &company.ReviewRecorded{Verdict: company.RequestChanges, Findings: []company.Finding{
		{Severity: company.Blocking, What: "there is no test"},
		{Severity: company.Minor, File: "api/limit.go", Line: 3, What: "a name", Why: "it counts"}}}
	const want = "They do not block. Fix those in code that you change anyway; leave the rest. One about your text: " +
		"give finish the corrected text.\n<minor_findings>\n- api/limit.go:3 a name (it counts)\n</minor_findings>"
	task := agenttest.NewTask()
	task.Subtasks[0].Review.Last = review
	if text := ticketBrief(task, task.Subtasks[0], circumstances{}); !strings.Contains(text, want) {
		t.Errorf("%s", text)
	}
	task = agenttest.NewTask()
	task.Review.Last, task.Plan.Waves, task.Subtasks[0].Wave = review, 2, 2
	if text := ticketBrief(task, task.Subtasks[0], circumstances{}); !strings.Contains(text, want) {
		t.Errorf("the repair of the whole: %s", text)
	}
	task.Plan.Waves = 3
	if text := ticketBrief(task, task.Subtasks[0], circumstances{}); strings.Contains(text, "minor_findings") {
		t.Errorf("a ticket of another wave: %s", text)
	}
}
