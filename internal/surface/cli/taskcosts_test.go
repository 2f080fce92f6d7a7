package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/present/termtext"
	"company/test/heldoffice"
)

// What a task cost is told by role, ticket and turn, and why, from the journal of a run that is
// under way: with an office that is served, and with one that nothing serves.
func TestCostsOfATask(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("the first", 1)
	run := offerRun(o, id, 1)
	fence := o.Claim(run, "")
	o.Must(company.Reserve{Run: run, Fence: fence, One: company.Amount{MicroUSD: 90_000, Tokens: 90_000},
		Many: company.Amount{MicroUSD: 90_000, Tokens: 90_000}})
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	text := func(s string) map[string]string { return map[string]string{"text": s} }
	o.WriteJournal(run, fence, func(j *ledger.Journal) {
		for pair := range slices.Chunk([]any{
			"prompt", map[string]any{"at": at, "system": text("you work"), "first": text("the ticket"), "tool_tokens": 40},
			"call", map[string]any{"n": 1, "at": at, "model": "m", "worst": company.Amount{MicroUSD: 40_000, Tokens: 40_000}},
			"reply", map[string]any{"n": 1, "at": at.Add(time.Second),
				"message": text(
					`{"role":"assistant","tool_calls":[{"id":"c1","name":"read_file","arguments":"{\"path\":\"api/limit.go\"}"}]}`),
				"usage": map[string]int{"input_tokens": 100, "output_tokens": 20},
				"spent": company.Amount{MicroUSD: 1500, Tokens: 120}},
			"tool", map[string]any{"n": 1, "call_id": "c1", "name": "read_file", "at": at,
				"result": text(strings.Repeat("package api\n", 1000))},
			"call", map[string]any{"n": 2, "at": at.Add(2 * time.Second), "model": "m",
				"worst": company.Amount{MicroUSD: 40_000, Tokens: 40_000}},
			"reply", map[string]any{"n": 2, "at": at.Add(3 * time.Second),
				"message": text(`{"role":"assistant","content":"done"}`),
				"usage":   map[string]int{"input_tokens": 3100, "cached_tokens": 90, "output_tokens": 5},
				"spent":   company.Amount{MicroUSD: 2500, Tokens: 3105}},
			"call", map[string]any{"n": 3, "at": at.Add(4 * time.Second), "model": "m",
				"worst": company.Amount{MicroUSD: 30_000, Tokens: 30_000}},
		}, 2) {
			if _, err := j.Append(t.Context(), pair[0].(string), pair[1]); err != nil {
				t.Fatal(err)
			}
		}
	})
	for _, serve := range []bool{true, false} {
		if serve {
			o.Serve()
		} else {
			o.Close()
		}
		for args, says := range map[string][]string{
			"t1": {"ROLE", "worker", "total", "$0.0340", "1 request got no answer: $0.0300",
				"1 run not charged yet"},
			"t1 --by ticket":  {"TICKET", "t1-01", "plan"},
			"t1-01 --by role": {"worker", "$0.0340"},
			"t1 --by turn": {"t1-01.1     1  worker     100       0      20   $0.0015  read_file api/limit.go",
				"(text)", "(no answer)", "total $0.0340 in 3 requests"},
			"t1-01.1 --why": {"the 3 dearest requests of 3",
				"t1-01.1 turn 2  worker  $0.0025  in 3.1k (90 cached)  out 5", "read_file api/limit.go", "tools", "brief"},
		} {
			r := o.Run(t.Context(), execute, append([]string{"costs"}, strings.Fields(args)...)...)
			for _, line := range says {
				if r.Code != 0 || !strings.Contains(r.Out, line) {
					t.Errorf("served %t, costs %s: no %q in\n%s%s", serve, args, line, r.Out, r.Err)
				}
			}
			for line := range strings.Lines(r.Out) {
				if termtext.Cells(strings.TrimSuffix(line, "\n")) > 80 && r.Code == 0 {
					t.Errorf("costs %s: more than 80 cells: %s", args, line)
				}
			}
		}
		for args, want := range map[string][2]string{
			"t1":           {"{{.total.cost_micro_usd}}", "34000"},
			"t1 --by turn": {"{{range .requests}}{{.cost_micro_usd}} {{end}}", "1500 2500 30000 "},
		} {
			r := o.Run(t.Context(), execute, append([]string{"costs", "-o", "json"}, strings.Fields(args)...)...)
			if got := renderJSON(t, r, want[0]); got != want[1] {
				t.Errorf("served %t, costs %s: %s", serve, args, got)
			}
		}
	}
	for args, want := range map[string]struct {
		code company.Code
		says string
	}{
		"t1 --by colour":     {company.EUsage, "--by role, --by ticket or --by turn"},
		"--why":              {company.EUsage, "company costs t12 --why"},
		"--by turn":          {company.EUsage, "company costs t12 --by turn"},
		"t1 --by role --why": {company.EUsage, "cannot be used together"},
		"t1 --days 7":        {company.EUsage, "cannot be used together"},
		"t9 --by turn":       {company.ENotFound, "there is no task t9"},
		"t1-07":              {company.ENotFound, "there is no subtask t1-07"},
		"t1-01.8":            {company.ENotFound, "there is no run t1-01.8"},
		"../t1":              {company.EUsage, "invalid id"},
	} {
		requireRefusal(t, o.Run(t.Context(), execute, append([]string{"costs"}, strings.Fields(args)...)...),
			want.code, want.says)
	}
}
