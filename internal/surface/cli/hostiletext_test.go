package cli

import (
	"regexp"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
	"company/test/heldoffice"
)

// steering holds sequences that steer a terminal or hide text in it, as text of others may.
const steering = "\x1b]52;c;eA==\a\x1b[2J\x1bPq\x1b\\\u009b2J\u009d0;x\u009c\x1b[200~\rover\x0e\u202e\u2066\u200b\x7f"

// colour is a colour of this program.
var colour = regexp.MustCompile("\x1b\\[(?:0|[1-7]|3[0-9])(?:;1)?m")

// Text of models, of repositories and of the tools in them steers no terminal, in whatever field of
// the ledger it stands: titles, plans, commands and names of checks, their tests and output, findings, errors, reasons.
func TestHostileTextOnATerminal(t *testing.T) {
	o := heldoffice.Open(t)
	hidden := strings.Map(func(r rune) rune { // plans are refused with control characters
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, steering)
	head := company.OID(strings.Repeat("a", 40))
	id := o.Submit("title "+steering, o.Repo)
	o.Prepare(id, company.OID(strings.TrimSpace(configtest.Git(t, o.Repo, "rev-parse", "HEAD"))),
		company.GateCommand{Name: "test (" + steering + ")", Command: "make " + steering, Dir: steering})
	o.Plan(id, company.Plan{Why: "why " + hidden, Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{
		{Title: "one " + hidden, Description: "Do it " + hidden + " so that it works for everybody who needs it.",
			AcceptanceCriteria: []string{"it is " + hidden}, WriteSet: []string{"one/**"}, Effort: company.EffortMedium},
		{Title: "two " + hidden, Description: "Do it " + hidden + " so that it works for everybody who needs it.",
			AcceptanceCriteria: []string{"it is " + hidden}, WriteSet: []string{"two/**"}, Effort: company.EffortMedium},
	}}}})
	o.Work("t1-01", head, company.Change{Path: "one/" + steering, Action: "created"})
	o.Must(company.RecordGateResult{Task: id, Subtask: "t1-01",
		GateFinished: company.GateFinished{Head: head, Onto: o.Task(id).Head, Result: company.GateResult{
			Tree: head, GateHash: o.Task(id).Prepared.GateHash, Image: o.Task(id).Prepared.Image,
			Checks: []company.GateCheck{{Name: "test (" + steering + ")", Command: "make " + steering, ExitCode: 1,
				Output: "out " + steering,
				Counts: &company.TestCounts{Failed: 1},
				Tests:  []company.TestResult{{Name: "Test" + steering, Status: "failed", Message: steering}},
				Flaky:  []string{steering}, Gone: []string{steering},
				Canary: &company.Canary{Hollow: []string{steering}, Reason: steering}, Beside: steering}}}}})
	run := company.RunID("t1-02.1")
	o.Must(company.Offer{Run: run})
	o.Must(company.EndRun{Run: run, Fence: o.Claim(run, ""),
		Outcome: company.RunEnded{Status: company.RunError, Error: "body " + steering, Hint: steering, Summary: steering,
			Models: []company.ModelSpent{{Model: steering, Served: []string{steering}}}}})
	o.Must(company.ReportEffectFailure{Task: id, Key: "prepare",
		EffectFailed: company.EffectFailed{Code: company.EModel, Error: "effect " + steering, Hint: steering}})
	o.Must(company.Cancel{Task: o.Asked("second "+steering, 1), Why: steering})
	o.Serve()
	terminal := stream{terminal: true, vars: map[string]string{"TERM": "xterm-256color", "PAGER": "cat"}}
	for _, line := range []string{
		"status", "status -v", "status t1", "list", "show t1", "show t1 -v", "show t1-01", "show t1-02", "show t1-02.1",
		"show t2", "feed", "feed -v", "feed t1", "plan show t1", "agents", "costs", "budget t1",
		"project list", "tell t1-02 " + steering, "show " + steering, steering, "show t1 -o json", "feed -o json",
	} {
		args := strings.Split(line, " ")
		if at := strings.Index(line, "\x1b"); at > 0 {
			args = append(strings.Fields(line[:at]), line[at:])
		}
		text := strings.ReplaceAll(runOn(t, o, terminal, args...), "\r\n", "\n")
		if rest := colour.ReplaceAllString(text, ""); strings.ContainsAny(
			rest, "\x1b\a\r\x0e\x7f\u009b\u009d\u202e\u2066\u200b") || text == "" {
			t.Errorf("company %q steers the terminal: %q", line, rest)
		}
	}
}
