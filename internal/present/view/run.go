package view

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// Run is the view of a run.
type Run struct {
	ID           company.RunID     `json:"id"`
	Role         company.Role      `json:"role"`
	Task         company.TaskID    `json:"task"`
	Subtask      company.SubtaskID `json:"subtask,omitempty"`
	Title        string            `json:"title,omitempty"` // title of the subtask, until the run ends
	Status       string            `json:"status"`          // offered, running, interrupted, or the result
	Worker       string            `json:"worker,omitempty"`
	Claimed      *time.Time        `json:"claimed"`
	Ended        *time.Time        `json:"ended"`
	DurationMS   int64             `json:"duration_ms"`          // all holders together
	EarlierMS    int64             `json:"earlier_ms,omitempty"` // the part of holders before the newest one
	Turns        int               `json:"turns"`
	Doing        string            `json:"doing,omitempty"` // current activity, if a company is at work
	From         company.OID       `json:"from,omitempty"`
	Head         company.OID       `json:"head,omitempty"`
	Summary      string            `json:"summary,omitempty"`
	Notes        []string          `json:"notes,omitempty"` // for later agents of its task
	Error        string            `json:"error,omitempty"`
	CostMicroUSD *int64            `json:"cost_micro_usd"`
	Tokens       int64             `json:"tokens"`
	Cache        *Cache            `json:"cache,omitempty"`  // absent if no server counted, or the run has not ended
	Models       []ModelUse        `json:"models,omitempty"` // models that answered, once the run has ended
	Files        []string          `json:"files"`            // existing files: result, transcript, git log
	Refused      []Refused         `json:"refused"`
	Words        []Word            `json:"words,omitempty"` // from the president
	// Briefing describes the run's initial model and prompt. It is absent if not known.
	Briefing *company.Briefing `json:"briefing,omitempty"`

	Unwritten []company.UnwrittenFile `json:"unwritten"` // files that are missing or out of date
}

// Refused is a kind of access that was refused to a run.
type Refused struct {
	Kind    string `json:"kind"`
	Times   int    `json:"times"`
	AtLeast bool   `json:"at_least,omitempty"` // further ones were not counted
	What    string `json:"what"`               // the first refused access
}

func (v Refused) RenderText() string {
	often := company.Count(v.Times, "time")
	if v.AtLeast {
		often = "at least " + often
	}
	return fmt.Sprintf("%s, %s: %s", v.Kind, often, safetext.EscapeLine(v.What, 200))
}

func viewRefused(run *company.Run) []Refused {
	out := []Refused{}
	for _, x := range run.RefusedAccesses {
		out = append(out, Refused{Kind: x.Kind, Times: x.Times, AtLeast: x.Full(), What: x.What})
	}
	return out
}

// Run returns the view of a run of a task.
func (src Source) Run(task *company.Task, run *company.Run) Run {
	now := src.Now
	v := Run{
		ID: run.ID, Role: run.Role, Task: task.ID, Subtask: run.Subtask, Status: "offered", Worker: run.Worker,
		Turns: run.Turns,
		From:  run.From, Head: run.Head, Summary: run.Summary, Notes: run.Notes, Error: run.Error,
		CostMicroUSD: costOrNil(run.Spent),
		Tokens:       run.Spent.Tokens, Files: []string{}, Refused: viewRefused(run), Words: viewWords(run),
		Briefing:  run.Briefing,
		Unwritten: []company.UnwrittenFile{},
	}
	for _, file := range task.Unwritten {
		if strings.HasPrefix(file.File, run.ID.FilePath("")) {
			v.Unwritten = append(v.Unwritten, file)
		}
	}
	if !run.Claimed.IsZero() {
		at := run.Claimed.UTC()
		v.Claimed = &at
	}
	if sub := task.Subtask(run.Subtask); sub != nil && !run.Ended {
		v.Title = sub.Planned.Title
	}
	v.DurationMS, v.EarlierMS = run.Lasted(now).Milliseconds(), run.Earlier.Milliseconds()
	switch {
	case run.Ended:
		at := run.EndedAt.UTC()
		v.Status, v.Ended = string(run.Status), &at
	case run.Fence > 0 && (src.State.Office.Stopped || !run.Held && run.Offered != src.State.Office.Epoch):
		v.Status = "interrupted" // by a stop, a pause or a crash; it continues from its journal
	case run.Held:
		v.Status = "running"
		if run.Waiting {
			v.Status = "waits for budget"
		}
	}
	for _, name := range []string{"result.json", "transcript.ndjson", "git.log"} {
		if src.Folders.hasFile(src.Folders.Runs, string(run.ID)+"/"+name) {
			v.Files = append(v.Files, filepath.Join(src.Folders.Runs, string(run.ID), name))
		}
	}
	v.Cache, v.Models = viewCache(run.CacheUse()), viewModels(run.Models)
	v.applyActivity(src.Begun)
	v.applyActivity(src.Activities)
	return v
}

// applyActivity adds the current activity of the run's agent. The ledger learns the turns and costs only when the run
// ends.
func (v *Run) applyActivity(activities []Activity) {
	for _, activity := range activities {
		if activity.Run == v.ID && v.Ended == nil {
			v.Turns, v.Doing = max(v.Turns, activity.Turn), activity.Text
			v.CostMicroUSD, v.Tokens = costOrNil(activity.Spent), activity.Spent.Tokens
		}
	}
}

// runsOf lists the runs of a task, or of one subtask, in order of their start.
func (src Source) runsOf(task *company.Task, sub company.SubtaskID) []Run {
	out := []Run{}
	for _, run := range task.Runs {
		if sub == "" || run.Subtask == sub {
			out = append(out, src.Run(task, run))
		}
	}
	sortRuns(out)
	return out
}

// sortRuns sorts runs by their start, unclaimed ones last.
func sortRuns(runs []Run) {
	slices.SortFunc(runs, func(run, b Run) int {
		switch {
		case run.Claimed == nil && b.Claimed == nil:
		case run.Claimed == nil:
			return 1
		case b.Claimed == nil:
			return -1
		default:
			if c := run.Claimed.Compare(*b.Claimed); c != 0 {
				return c
			}
		}
		return strings.Compare(string(run.ID), string(b.ID))
	})
}

// Render renders a run with its result and its files.
func (v Run) Render(style Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s, %s, %s, %s\n", v.ID, v.Role, v.StateText(), ageOf(v.DurationMS),
		company.Count(v.Turns, "turn"), FormatCost(v.CostMicroUSD, v.Tokens))
	if v.Doing != "" {
		writeWrapped(&b, style, "  now:    ", safetext.EscapeLine(v.Doing, 120))
	}
	if v.Error != "" {
		writeWrapped(&b, style, "  error:  ", safetext.EscapeLine(v.Error, 600))
	}
	if briefing := v.Briefing; briefing != nil {
		fmt.Fprintf(&b, "  model:  %s\n", safetext.EscapeLine(briefModelText(briefing.Model), 300))
		fmt.Fprintf(&b, "  prompt: %.12s%s%s\n", briefing.Prompt, rulesText(briefing.Rules), personaText(briefing.Persona))
	}
	for _, modelUse := range v.Models {
		if len(modelUse.Served) > 0 {
			writeWrapped(&b, style, "  served: ", modelUse.RenderText())
		}
	}
	if v.Cache != nil {
		fmt.Fprintf(&b, "  cache:  %s\n", v.Cache.RenderText())
	}
	if v.From != "" {
		fmt.Fprintf(&b, "  from:   %s\n", v.From.Short())
	}
	if v.Head != "" {
		fmt.Fprintf(&b, "  head:   %s (company diff %s)\n", v.Head.Short(), v.ID)
	}
	if v.Summary != "" {
		writeText(&b, style, v.Summary, 20)
	}
	for _, n := range v.Notes {
		writeWrapped(&b, style, "  note:   ", safetext.Escape(n))
	}
	for _, w := range v.Words {
		writeWrapped(&b, style, "  told:   ", w.RenderText())
	}
	for _, x := range v.Refused {
		writeWrapped(&b, style, "  refused: ", x.RenderText())
	}
	for _, f := range v.Files {
		fmt.Fprintf(&b, "  file:   %s\n", f)
	}
	writeUnwritten(&b, v.Unwritten)
	return b.String()
}

// briefModelText formats a model with its profile.
func briefModelText(briefModel company.BriefModel) string {
	return strings.TrimSpace(
		fmt.Sprintf("%s (%s, profile %s)", cmp.Or(briefModel.Model, "the adapter's default"), briefModel.Adapter,
			briefModel.Profile))
}

// rulesText formats the hash of the role's system prompt. It returns "" if the hash is not known.
func rulesText(hash company.Hash) string {
	if hash == "" {
		return ""
	}
	return fmt.Sprintf(", rules %.12s", hash)
}

func personaText(hash company.Hash) string {
	if hash == "" {
		return ""
	}
	return fmt.Sprintf(", persona %.12s", hash)
}

// writeRuns lists runs, each with its error, its current activity or its summary.
func writeRuns(b *strings.Builder, style Style, runs []Run) {
	b.WriteString("\n")
	if len(runs) == 0 {
		b.WriteString("  none yet\n")
	}
	table := termtext.Table{Indent: "  ", Columns: []termtext.Column{{}, {Rank: 3}, {}, {}, {Rank: 2}, {Rank: 1}, {}}}
	for _, run := range runs {
		end := run.Summary
		if run.Doing != "" {
			end = run.Doing
		}
		if run.Error != "" {
			end = run.Error
		}
		color := ""
		if run.Error != "" {
			color = termtext.Red
		}
		table.ColorRow(color, string(run.ID), string(run.Role), run.StateText(), ageOf(run.DurationMS),
			company.Count(run.Turns, "turn"), ShortCost(run.CostMicroUSD, run.Tokens), safetext.EscapeLine(end, 80))
	}
	b.WriteString(table.Render(style))
}

// writeRefused lists accesses that were refused to agents.
func writeRefused(b *strings.Builder, style Style, runs []Run) {
	limit := 24
	if style.Verbose {
		limit = 1000
	}
	n := 0
	for _, run := range runs {
		for _, refused := range run.Refused {
			if n++; n == 1 {
				b.WriteString("\n" + style.Heading("REFUSED") + "  access that agents were refused\n")
			}
			if n <= limit {
				head := fmt.Sprintf("  %-16s ", run.ID)
				b.WriteString(head + style.Fit(refused.RenderText(), len(head)) + "\n")
			}
		}
	}
	if n > limit {
		fmt.Fprintf(b, "  … and %d more (-v shows all)\n", n-limit)
	}
}
