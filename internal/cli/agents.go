package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"company/internal/api"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/safetext"
)

func newAgents(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "agents", Short: "Who does what now",
		Example: "  company agents\n  company agents -o json",
		Long: `Shows everybody who works for the company at this moment: role, model profile,
run, turn, for how long, and what the run may cost; and the workers who wait.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.runAgents(c.Context()) },
	}
}

type agentView struct {
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

type agentsView struct {
	SchemaVersion int         `json:"schema_version"`
	Open          bool        `json:"open"` // a company is at work
	Stopped       bool        `json:"stopped"`
	Workers       int         `json:"workers"` // there are, at work or not
	Hired         int         `json:"hired"`   // of them, against the config; negative: let go
	Waiting       int         `json:"waiting"` // runs that wait for a worker
	Agents        []agentView `json:"agents"`
}

func (a *app) runAgents(ctx context.Context) error {
	acc, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer acc.Close()
	s, err := acc.State(ctx)
	if err != nil {
		return err
	}
	loaded, err := a.loadConfig(ctx, paths)
	if err != nil {
		return err
	}
	d, open := acc.(*remoteClient)
	var doings []api.Activity
	if open {
		if doings, err = d.fetchActivities(ctx); err != nil {
			return err
		}
	}
	v := viewAgents(s, loaded.Config, doings, open, acc.Now())
	if a.output == "json" {
		return a.printJSON(a.out, v)
	}
	_, err = fmt.Fprint(a.out, v.renderText())
	return err
}

func viewAgents(s *company.State, cfg config.Config, doings []api.Activity, open bool, now time.Time) agentsView {
	v := agentsView{SchemaVersion: 1, Open: open, Stopped: s.Office.Stopped, Workers: s.Office.WorkerCount(), Hired: s.Office.AddedWorkers, Waiting: s.Waiting(now), Agents: []agentView{}}
	busy := map[string]bool{}
	if !open {
		return v // what is still marked as held is in nobody's hands
	}
	for _, ag := range s.ActiveAgents() {
		t := s.Tasks[ag.Run.Task()]
		r := t.Runs[ag.Run]
		at := r.Claimed.UTC()
		av := agentView{
			Agent: ag.ID, Role: ag.Role, ReportsTo: ag.ReportsTo, Model: cfg.Agent(ag.Role).Model, Run: r.ID, Task: t.ID, Subtask: r.Subtask,
			Since: &at, DurationMS: r.Lasted(now).Milliseconds(), ReservedMicroUSD: costOrNil(r.Reserved), ReservedTokens: r.Reserved.Tokens, Doing: "begins",
		}
		if sub := t.Subtask(r.Subtask); sub != nil {
			av.Title = sub.Planned.Title
		}
		if i := slices.IndexFunc(doings, func(d api.Activity) bool { return d.Run == r.ID }); i >= 0 {
			av.Turn, av.Doing = doings[i].Turn, doings[i].Text
		}
		if r.Waiting {
			av.Doing = "waits for budget"
		}
		busy[ag.ID] = ag.Role == company.Worker
		v.Agents = append(v.Agents, av)
	}
	for n := 1; n <= v.Workers; n++ {
		if name := "w" + strconv.Itoa(n); !busy[name] {
			v.Agents = append(v.Agents, agentView{Agent: name, Role: company.Worker, ReportsTo: string(company.Manager), Model: cfg.Agent(company.Worker).Model, Doing: "idle"})
		}
	}
	return v
}

func (v agentsView) renderText() string {
	var b strings.Builder
	switch {
	case v.Stopped:
		b.WriteString("STOPPED: company resume lifts it\n")
	case !v.Open:
		b.WriteString("no company at work: company serve, company submit or company resume opens one\n")
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
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "AGENT\tROLE\tMODEL\tRUN\tTURN\tFOR\tMAY COST\tDOING")
	for _, ag := range v.Agents {
		run, turn, age, may := "-", "-", "-", "-"
		if ag.Run != "" {
			run, age = string(ag.Run), formatAge(time.Duration(ag.DurationMS)*time.Millisecond)
			may = formatCost(ag.ReservedMicroUSD, ag.ReservedTokens)
			if ag.Turn > 0 {
				turn = strconv.Itoa(ag.Turn)
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", ag.Agent, ag.Role, safetext.EscapeLine(ag.Model, 30), run, turn, age, may, safetext.EscapeLine(ag.Doing, 60))
	}
	_ = table.Flush() // into memory
	return b.String()
}

func newHire(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "hire [number]", Short: "Have more workers at a time, from now on",
		Example: "  company hire\n  company hire 2",
		Long: `Adds workers to those of workers.max in the config. A company at work takes them
at once; they stay until company fire lets them go, over restarts too.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			n := 1
			if len(args) == 1 {
				var err error
				if n, err = strconv.Atoi(args[0]); err != nil || n < 1 {
					return company.E(company.EUsage, fmt.Sprintf("%q is no number of workers", safetext.EscapeLine(args[0], 40))).Fix("company hire 2")
				}
			}
			return a.scaleWorkers(c.Context(), company.ScaleWorkers{By: n})
		},
	}
}

func newFire(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "fire [number|worker]", Short: "Have fewer workers at a time, from now on",
		Example: "  company fire\n  company fire 2\n  company fire w2",
		Long: `With a number, workers end the run in hand and take no other. With a name, that
worker hands its run back at once: the run goes on in another's hands, from its
last turn, and no attempt is counted. At least one worker stays; to keep
everybody from working there is company pause.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.completeIDs(workerNames),
		RunE: func(c *cobra.Command, args []string) error {
			cmd := company.ScaleWorkers{By: -1}
			if len(args) == 1 {
				n, err := strconv.Atoi(args[0])
				switch {
				case err == nil && n > 0:
					cmd.By = -n
				case strings.HasPrefix(args[0], "w"):
					cmd.Worker = args[0]
				default:
					return company.E(company.EUsage, fmt.Sprintf("%q is neither a number nor a worker", safetext.EscapeLine(args[0], 40))).Fix("company fire 1, or company fire w2; company agents shows them")
				}
			}
			return a.scaleWorkers(c.Context(), cmd)
		},
	}
}

func workerNames(s *company.State) []string {
	var out []string
	for n := 1; n <= s.Office.WorkerCount(); n++ {
		out = append(out, "w"+strconv.Itoa(n))
	}
	return out
}

func (a *app) scaleWorkers(ctx context.Context, cmd company.ScaleWorkers) error {
	acc, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer acc.Close()
	done, err := acc.Do(ctx, "", cmd)
	if err != nil {
		return err
	}
	s, err := acc.State(ctx)
	if err != nil {
		return err
	}
	handed := []company.RunID{}
	for _, e := range done.Events {
		if e.Run != "" {
			handed = append(handed, e.Run)
		}
	}
	if loaded, err := a.loadConfig(ctx, paths); err == nil && cmd.By > 0 {
		if need, have := int64(loaded.Config.Workers.Memory)*int64(s.Office.WorkerCount()), int64(officeapp.HostMemory()); have > 0 && need > have {
			a.printNote("%s may use %d GiB of memory, and this machine has %d", company.Count(s.Office.WorkerCount(), "worker"), need>>30, have>>30)
		}
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "workers": s.Office.WorkerCount(), "hired": s.Office.AddedWorkers, "handed_back": handed})
	}
	text := company.Count(s.Office.WorkerCount(), "worker") + " from now on"
	if len(handed) > 0 {
		text += fmt.Sprintf("; %s goes on in another's hands", handed[0])
	}
	_, err = fmt.Fprintln(a.out, text)
	return err
}
