package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// Agent is one that works, or an idle worker.
type Agent struct {
	Agent            string            `json:"agent"` // w1, manager, reviewer, merger
	Role             company.Role      `json:"role"`
	ReportsTo        string            `json:"reports_to,omitempty"`
	Model            string            `json:"model"` // profile
	Run              company.RunID     `json:"run,omitempty"`
	Task             company.TaskID    `json:"task,omitempty"`
	Subtask          company.SubtaskID `json:"subtask,omitempty"`
	Title            string            `json:"title,omitempty"`
	Turn             int               `json:"turn"`  // 0: not known here
	Doing            string            `json:"doing"` // idle, or what it did at last
	Since            *time.Time        `json:"since"` // of the claim
	DurationMS       int64             `json:"duration_ms"`
	ReservedMicroUSD *int64            `json:"reserved_micro_usd"` // what the run may cost; null: no price is known
	ReservedTokens   int64             `json:"reserved_tokens"`
}

// Agents are the agents of an office (WRK-8).
type Agents struct {
	SchemaVersion int     `json:"schema_version"`
	Open          bool    `json:"open"` // a company is at work
	Stopped       bool    `json:"stopped"`
	Workers       int     `json:"workers"`                     // there are, at work or not
	Hired         int     `json:"hired"`                       // of them, against the config; negative: let go
	Active        int     `json:"active"`                      // workers at work
	Idle          int     `json:"idle"`                        // workers without a run
	Waiting       int     `json:"waiting"`                     // runs that wait for a worker
	Runtime       string  `json:"container_runtime,omitempty"` // what containers are made with; absent: no company is at work
	Agents        []Agent `json:"agents"`
}

// Agents are those at work, and the workers that are idle.
func (src Source) Agents() Agents {
	s := src.State
	v := Agents{SchemaVersion: 1, Open: src.AtWork, Stopped: s.Office.Stopped, Workers: s.Office.WorkerCount(), Hired: s.Office.AddedWorkers, Waiting: s.Waiting(src.Now), Runtime: src.Runtime, Agents: []Agent{}}
	busy := map[string]bool{}
	if !src.AtWork {
		return v // runs still marked as held have no holder
	}
	for _, ag := range s.ActiveAgents() {
		t := s.Tasks[ag.Run.Task()]
		r := t.Runs[ag.Run]
		at := r.Claimed.UTC()
		av := Agent{
			Agent: ag.ID, Role: ag.Role, ReportsTo: ag.ReportsTo, Model: cmp.Or(t.AgentOf(r).Profile, src.modelOf(ag.Role)), Run: r.ID, Task: t.ID, Subtask: r.Subtask,
			Since: &at, DurationMS: r.Lasted(src.Now).Milliseconds(), ReservedMicroUSD: costOrNil(r.Reserved), ReservedTokens: r.Reserved.Tokens, Doing: "begins",
		}
		if sub := t.Subtask(r.Subtask); sub != nil {
			av.Title = sub.Planned.Title
		}
		if i := slices.IndexFunc(src.Activities, func(d Activity) bool { return d.Run == r.ID }); i >= 0 {
			av.Turn, av.Doing = src.Activities[i].Turn, src.Activities[i].Text
		}
		if r.Waiting {
			av.Doing = "waits for budget"
		}
		if ag.Role == company.Worker {
			busy[ag.ID] = true
		}
		v.Agents = append(v.Agents, av)
	}
	v.Active = len(busy)
	for n := 1; n <= v.Workers; n++ {
		if name := "w" + strconv.Itoa(n); !busy[name] {
			v.Idle++
			v.Agents = append(v.Agents, Agent{Agent: name, Role: company.Worker, ReportsTo: string(company.Manager), Model: src.modelOf(company.Worker), Doing: "idle"})
		}
	}
	return v
}

// Render is the agents, a line each.
func (v Agents) Render(s Style) string {
	var b strings.Builder
	switch {
	case v.Stopped:
		b.WriteString("STOPPED: company resume lifts it\n")
	case !v.Open:
		b.WriteString("nobody works here now: company serve, company submit or company resume opens the office\n")
		return b.String()
	}
	hired := ""
	if v.Hired > 0 {
		hired = fmt.Sprintf(" (%d hired)", v.Hired)
	} else if v.Hired < 0 {
		hired = fmt.Sprintf(" (%d let go)", -v.Hired)
	}
	waiting := company.Count(v.Waiting, "run") + " wait for one"
	if v.Waiting == 1 {
		waiting = "1 run waits for one"
	}
	fmt.Fprintf(&b, "%s%s, %s\n\n", company.Count(v.Workers, "worker"), hired, waiting)
	table := screen.Table{Columns: []screen.Column{{Title: "AGENT"}, {Title: "ROLE", Rank: 4}, {Title: "MODEL", Rank: 3}, {Title: "RUN"}, {Title: "TURN", Rank: 1}, {Title: "FOR"}, {Title: "MAY COST", Rank: 2}, {Title: "DOING"}}}
	for _, ag := range v.Agents {
		run, turn, age, may := "-", "-", "-", "-"
		if ag.Run != "" {
			run, age = string(ag.Run), FormatAge(time.Duration(ag.DurationMS)*time.Millisecond)
			may = FormatCost(ag.ReservedMicroUSD, ag.ReservedTokens)
			if ag.Turn > 0 {
				turn = strconv.Itoa(ag.Turn)
			}
		}
		table.Row(ag.Agent, string(ag.Role), safetext.EscapeLine(ag.Model, 30), run, turn, age, may, safetext.EscapeLine(ag.Doing, 60))
	}
	b.WriteString(table.Render(s))
	return b.String()
}
