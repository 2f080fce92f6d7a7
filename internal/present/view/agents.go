package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// Agent is a working agent, or an idle worker.
type Agent struct {
	Agent            string            `json:"agent"` // w1, manager, reviewer, merger
	Role             company.Role      `json:"role"`
	AgentTitle       string            `json:"agent_title,omitempty"` // agents.<role>.title of the config
	ReportsTo        string            `json:"reports_to,omitempty"`
	Model            string            `json:"model"` // model profile
	Run              company.RunID     `json:"run,omitempty"`
	Task             company.TaskID    `json:"task,omitempty"`
	Subtask          company.SubtaskID `json:"subtask,omitempty"`
	Title            string            `json:"title,omitempty"`
	Turn             int               `json:"turn"`  // 0 if not known here
	Doing            string            `json:"doing"` // idle, or its latest activity
	Since            *time.Time        `json:"since"` // time of the claim
	DurationMS       int64             `json:"duration_ms"`
	ReservedMicroUSD *int64            `json:"reserved_micro_usd"` // limit for the run; null if no price is known
	ReservedTokens   int64             `json:"reserved_tokens"`
}

// Agents lists the agents of an office (WRK-8).
type Agents struct {
	SchemaVersion int  `json:"schema_version"`
	Open          bool `json:"open"` // a company is at work
	Stopped       bool `json:"stopped"`
	Workers       int  `json:"workers"` // number of workers, busy or idle
	Hired         int  `json:"hired"`   // difference from the number in the config; negative if lowered
	Active        int  `json:"active"`  // workers at work
	Idle          int  `json:"idle"`    // workers without a run
	Waiting       int  `json:"waiting"` // runs that wait for a worker
	Queued        int  `json:"queued"`  // tasks that wait for their turn
	// container runtime; absent if no company is at work
	Runtime string  `json:"container_runtime,omitempty"`
	Agents  []Agent `json:"agents"`
}

// Agents returns the agents at work and the idle workers. Without a company at work it lists none.
func (src Source) Agents() Agents {
	state := src.State
	agents := Agents{SchemaVersion: 1, Open: src.AtWork, Stopped: state.Office.Stopped,
		Workers: state.Office.WorkerCount(),
		Hired:   state.Office.AddedWorkers, Waiting: state.Waiting(src.Now), Runtime: src.Runtime, Agents: []Agent{}}
	busy := map[string]bool{}
	src = src.WithSchedule()
	for _, id := range state.Open {
		if src.ShownStatus(state.Tasks[id]) == company.StatusQueued {
			agents.Queued++
		}
	}
	if !src.AtWork {
		return agents // without a company, runs marked as held have no holder
	}
	for _, ag := range state.ActiveAgents() {
		task := state.Tasks[ag.Run.Task()]
		run := task.Runs[ag.Run]
		at := run.Claimed.UTC()
		av := Agent{
			Agent: ag.ID, Role: ag.Role, ReportsTo: ag.ReportsTo, Model: cmp.Or(task.AgentOf(run).Profile, src.modelOf(ag.Role)),
			Run: run.ID, Task: task.ID, Subtask: run.Subtask,
			Since: &at, DurationMS: run.Lasted(src.Now).Milliseconds(), ReservedMicroUSD: costOrNil(run.Reserved),
			ReservedTokens: run.Reserved.Tokens, Doing: "begins",
		}
		if sub := task.Subtask(run.Subtask); sub != nil {
			av.Title = sub.Planned.Title
		}
		av.AgentTitle = task.AgentOf(run).Title
		if i := slices.IndexFunc(src.Activities, func(d Activity) bool { return d.Run == run.ID }); i >= 0 {
			av.Turn, av.Doing = src.Activities[i].Turn, src.Activities[i].Text
		}
		if run.Waiting {
			av.Doing = "waits for budget"
		}
		if ag.Role == company.Worker {
			busy[ag.ID] = true
		}
		agents.Agents = append(agents.Agents, av)
	}
	agents.Active = len(busy)
	for n := 1; n <= agents.Workers; n++ {
		if name := "w" + strconv.Itoa(n); !busy[name] {
			agents.Idle++
			agents.Agents = append(
				agents.Agents,
				Agent{Agent: name, Role: company.Worker, ReportsTo: string(company.Manager), Model: src.modelOf(company.Worker),
					Doing: "idle"})
		}
	}
	return agents
}

// Render renders a line for each agent.
func (v Agents) Render(style Style) string {
	var b strings.Builder
	switch {
	case v.Stopped:
		b.WriteString("STOPPED: company resume lifts it\n")
	case !v.Open:
		b.WriteString("no company is running here: start one with company serve, submit or resume\n")
		return b.String()
	}
	hired := ""
	if v.Hired > 0 {
		hired = fmt.Sprintf(" (%d hired)", v.Hired)
	} else if v.Hired < 0 {
		hired = fmt.Sprintf(" (%d fired)", -v.Hired)
	}
	waiting := company.Count(v.Waiting, "run") + " wait for one"
	if v.Waiting == 1 {
		waiting = "1 run waits for one"
	}
	if v.Queued > 0 {
		waiting += fmt.Sprintf("; %s queued", company.Count(v.Queued, "task"))
	}
	fmt.Fprintf(&b, "%s%s, %s\n\n", company.Count(v.Workers, "worker"), hired, waiting)
	table := termtext.Table{Columns: []termtext.Column{{Title: "AGENT"}, {Title: "ROLE", Rank: 4},
		{Title: "MODEL", Rank: 3}, {Title: "RUN"}, {Title: "TURN", Rank: 1}, {Title: "FOR"}, {Title: "MAY COST", Rank: 2},
		{Title: "DOING"}}}
	for _, ag := range v.Agents {
		run := "-"
		turn := "-"
		age := "-"
		may := "-"
		if ag.Run != "" {
			run, age = string(ag.Run), FormatAge(time.Duration(ag.DurationMS)*time.Millisecond)
			may = FormatCost(ag.ReservedMicroUSD, ag.ReservedTokens)
			if ag.Turn > 0 {
				turn = strconv.Itoa(ag.Turn)
			}
		}
		role := string(ag.Role)
		if ag.AgentTitle != "" {
			role = safetext.EscapeLine(ag.AgentTitle, 40) + " (" + role + ")"
		}
		table.Row(ag.Agent, role, safetext.EscapeLine(ag.Model, 30), run, turn, age, may,
			safetext.EscapeLine(ag.Doing, 60))
	}
	b.WriteString(table.Render(style))
	return b.String()
}
