package view

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// Run is the view of a run.
type Run struct {
	ID           company.RunID     `json:"id"`
	Role         company.Role      `json:"role"`
	Task         company.TaskID    `json:"task"`
	Subtask      company.SubtaskID `json:"subtask,omitempty"`
	Title        string            `json:"title,omitempty"` // of the subtask, of a run that has not ended
	Status       string            `json:"status"`          // offered, running, or how it ended
	Worker       string            `json:"worker,omitempty"`
	Claimed      *time.Time        `json:"claimed"`
	Ended        *time.Time        `json:"ended"`
	DurationMS   int64             `json:"duration_ms"`
	Turns        int               `json:"turns"`
	Doing        string            `json:"doing,omitempty"` // at this moment, where a company is at work
	From         company.OID       `json:"from,omitempty"`
	Head         company.OID       `json:"head,omitempty"`
	Summary      string            `json:"summary,omitempty"`
	Notes        []string          `json:"notes,omitempty"` // for later agents of its task
	Error        string            `json:"error,omitempty"`
	CostMicroUSD *int64            `json:"cost_micro_usd"`
	Tokens       int64             `json:"tokens"`
	Cache        *Cache            `json:"cache,omitempty"`  // absent: no server counted, or the run has not ended
	Models       []ModelUse        `json:"models,omitempty"` // that answered it, of a run that has ended
	Files        []string          `json:"files"`            // result, transcript, git log: those that are there
	Refused      []Refused         `json:"refused"`
	Words        []Word            `json:"words,omitempty"` // of the president
	// Briefing is what it was begun with; absent: it is not known.
	Briefing *company.Briefing `json:"briefing,omitempty"`

	Unwritten []company.UnwrittenFile `json:"unwritten"` // files that are not there, or old
}

// Refused is what a run reached for in one way, and did not get.
type Refused struct {
	Kind    string `json:"kind"`
	Times   int    `json:"times"`
	AtLeast bool   `json:"at_least,omitempty"` // more were not counted
	What    string `json:"what"`               // the first time
}

func (v Refused) RenderText() string {
	often := company.Count(v.Times, "time")
	if v.AtLeast {
		often = "at least " + often
	}
	return fmt.Sprintf("%s, %s: %s", v.Kind, often, safetext.EscapeLine(v.What, 200))
}

func viewRefused(r *company.Run) []Refused {
	out := []Refused{}
	for _, x := range r.RefusedAccesses {
		out = append(out, Refused{Kind: x.Kind, Times: x.Times, AtLeast: x.Full(), What: x.What})
	}
	return out
}

// Run makes the view of a run of a task.
func (src Source) Run(t *company.Task, r *company.Run) Run {
	now := src.Now
	v := Run{
		ID: r.ID, Role: r.Role, Task: t.ID, Subtask: r.Subtask, Status: "offered", Worker: r.Worker, Turns: r.Turns,
		From: r.From, Head: r.Head, Summary: r.Summary, Notes: r.Notes, Error: r.Error, CostMicroUSD: costOrNil(r.Spent), Tokens: r.Spent.Tokens, Files: []string{}, Refused: viewRefused(r), Words: viewWords(r), Briefing: r.Briefing, Unwritten: []company.UnwrittenFile{},
	}
	for _, u := range t.Unwritten {
		if strings.HasPrefix(u.File, r.ID.FilePath("")) {
			v.Unwritten = append(v.Unwritten, u)
		}
	}
	if !r.Claimed.IsZero() {
		at := r.Claimed.UTC()
		v.Claimed = &at
	}
	if sub := t.Subtask(r.Subtask); sub != nil && !r.Ended {
		v.Title = sub.Planned.Title
	}
	switch {
	case r.Ended:
		at := r.EndedAt.UTC()
		v.Status, v.Ended, v.DurationMS = string(r.Status), &at, r.Lasted(now).Milliseconds()
	case r.Held:
		v.Status, v.DurationMS = "running", r.Lasted(now).Milliseconds()
		if r.Waiting {
			v.Status = "waits for budget"
		}
	}
	for _, name := range []string{"result.json", "transcript.ndjson", "git.log"} {
		if src.Folders.hasFile(src.Folders.Runs, string(r.ID)+"/"+name) {
			v.Files = append(v.Files, filepath.Join(src.Folders.Runs, string(r.ID), name))
		}
	}
	v.Cache, v.Models = viewCache(r.CacheUse()), viewModels(r.Models)
	v.applyActivity(src.Activities)
	return v
}

// applyActivity adds what an agent is at to the run that it holds. The ledger learns of
// turns and costs when the run ends.
func (v *Run) applyActivity(activities []Activity) {
	for _, d := range activities {
		if d.Run == v.ID && v.Ended == nil {
			v.Turns, v.Doing = max(v.Turns, d.Turn), d.Text
			v.CostMicroUSD, v.Tokens = costOrNil(d.Spent), d.Spent.Tokens
		}
	}
}

// runsOf lists the runs of a task, or of one subtask, as they began.
func (src Source) runsOf(t *company.Task, sub company.SubtaskID) []Run {
	out := []Run{}
	for _, r := range t.Runs {
		if sub == "" || r.Subtask == sub {
			out = append(out, src.Run(t, r))
		}
	}
	sortRuns(out)
	return out
}

// sortRuns orders runs as they began; unclaimed ones come last.
func sortRuns(runs []Run) {
	slices.SortFunc(runs, func(a, b Run) int {
		switch {
		case a.Claimed == nil && b.Claimed == nil:
		case a.Claimed == nil:
			return 1
		case b.Claimed == nil:
			return -1
		default:
			if c := a.Claimed.Compare(*b.Claimed); c != 0 {
				return c
			}
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
}

// Render is a run with its end and its files.
func (v Run) Render(s Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s, %s, %s, %s\n", v.ID, v.Role, v.StateText(), ageOf(v.DurationMS), company.Count(v.Turns, "turn"), FormatCost(v.CostMicroUSD, v.Tokens))
	if v.Doing != "" {
		writeWrapped(&b, s, "  now:    ", safetext.EscapeLine(v.Doing, 120))
	}
	if v.Error != "" {
		writeWrapped(&b, s, "  error:  ", safetext.EscapeLine(v.Error, 600))
	}
	if d := v.Briefing; d != nil {
		fmt.Fprintf(&b, "  model:  %s\n", safetext.EscapeLine(briefModelText(d.Model), 300))
		fmt.Fprintf(&b, "  prompt: %.12s%s%s\n", d.Prompt, rulesText(d.Rules), personaText(d.Persona))
	}
	for _, m := range v.Models {
		if len(m.Served) > 0 {
			writeWrapped(&b, s, "  served: ", m.RenderText())
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
		writeText(&b, s, v.Summary, 20)
	}
	for _, n := range v.Notes {
		writeWrapped(&b, s, "  note:   ", safetext.Escape(n))
	}
	for _, w := range v.Words {
		writeWrapped(&b, s, "  told:   ", w.RenderText())
	}
	for _, x := range v.Refused {
		writeWrapped(&b, s, "  refused: ", x.RenderText())
	}
	for _, f := range v.Files {
		fmt.Fprintf(&b, "  file:   %s\n", f)
	}
	writeUnwritten(&b, v.Unwritten)
	return b.String()
}

// briefModelText is a model with the profile that names it.
func briefModelText(m company.BriefModel) string {
	return strings.TrimSpace(fmt.Sprintf("%s (%s, profile %s)", cmp.Or(m.Model, "the adapter's default"), m.Adapter, m.Profile))
}

// rulesText names the system prompt of a run's role, where it is known.
func rulesText(h company.Hash) string {
	if h == "" {
		return ""
	}
	return fmt.Sprintf(", rules %.12s", h)
}

func personaText(h company.Hash) string {
	if h == "" {
		return ""
	}
	return fmt.Sprintf(", persona %.12s", h)
}

// writeRuns lists runs, each with what it is at, how it failed, or what it says of
// itself.
func writeRuns(b *strings.Builder, s Style, runs []Run) {
	b.WriteString("\n")
	if len(runs) == 0 {
		b.WriteString("  none yet\n")
	}
	table := screen.Table{Indent: "  ", Columns: []screen.Column{{}, {Rank: 3}, {}, {}, {Rank: 2}, {Rank: 1}, {}}}
	for _, r := range runs {
		end := r.Summary
		if r.Doing != "" {
			end = r.Doing
		}
		if r.Error != "" {
			end = r.Error
		}
		color := ""
		if r.Error != "" {
			color = screen.Red
		}
		table.ColorRow(color, string(r.ID), string(r.Role), r.StateText(), ageOf(r.DurationMS), company.Count(r.Turns, "turn"), ShortCost(r.CostMicroUSD, r.Tokens), safetext.EscapeLine(end, 80))
	}
	b.WriteString(table.Render(s))
}

// writeRefused tells what agents reached for and did not get.
func writeRefused(b *strings.Builder, s Style, runs []Run) {
	most := 24
	if s.Verbose {
		most = 1000
	}
	n := 0
	for _, r := range runs {
		for _, x := range r.Refused {
			if n++; n == 1 {
				b.WriteString("\n" + s.Heading("REFUSED") + "  what agents reached for and did not get\n")
			}
			if n <= most {
				head := fmt.Sprintf("  %-16s ", r.ID)
				b.WriteString(head + s.Fit(x.RenderText(), len(head)) + "\n")
			}
		}
	}
	if n > most {
		fmt.Fprintf(b, "  … and %d more (-v shows all)\n", n-most)
	}
}
