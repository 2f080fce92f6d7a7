package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// TaskDetail is a task with everything in it.
type TaskDetail struct {
	Task
	NeedsYou  []Approval `json:"needs_you"`
	Questions []Approval `json:"questions"` // answered
	Why       string     `json:"plan_why,omitempty"`
	Plan      []Subtask  `json:"plan"`
	// Decisions are what agents decided or assumed where the instruction is open.
	Decisions []Decision `json:"decisions"`
	// WriteSetFit is how well the write sets of all subtasks were planned; null: nothing
	// is changed yet.
	WriteSetFit *company.Fit          `json:"write_set_fit"`
	Runs        []Run                 `json:"runs"` // that belong to no subtask
	Gates       []company.GateCommand `json:"gates"`
	Baseline    []Check               `json:"baseline"`  // what the gates say of the base
	KnownRed    []string              `json:"known_red"` // its red checks
	// Unrun are checks of the repository's people that no gate runs, Services the servers beside the gates.
	Unrun    []company.UnrunCheck    `json:"unrun,omitempty"`
	Services []string                `json:"services,omitempty"`
	Gate     *Gate                   `json:"gate"`
	Review   *company.ReviewRecorded `json:"review"`
	Findings []company.JudgedFinding `json:"findings"` // of all reviews of the whole, each with its status; the newest last
	// ReviewOf is the only ticket of the task, where its review holds for the
	// whole.
	ReviewOf company.SubtaskID `json:"review_of,omitempty"`
	// InParts says that the reviews of the tickets are that of the whole: they have all parts of
	// the instruction, and do not touch.
	InParts   bool                       `json:"reviewed_in_parts,omitempty"`
	Failures  map[string]company.Failure `json:"failures"`
	Added     []company.Dependency       `json:"dependencies"` // beyond the base's lock files
	LookedUp  []company.Dependency       `json:"looked_up"`    // names that went out to registries
	Unwritten []company.UnwrittenFile    `json:"unwritten"`    // files that are not there, or old
	// Cache is of the runs that have ended; absent: no server counted.
	Cache *Cache `json:"cache,omitempty"`
	// RunsFolder is where the files of runs are, for people.
	RunsFolder string `json:"-"`
}

// TaskDetail is a task with everything in it.
func (src Source) TaskDetail(t *company.Task) TaskDetail {
	s := src.State
	v := TaskDetail{
		Task: src.Task(t), NeedsYou: src.approvals(s.OpenApprovals(t.ID)), Questions: []Approval{}, Why: t.Plan.Why,
		Plan: []Subtask{}, Decisions: viewDecisions(t), Runs: []Run{}, Gates: []company.GateCommand{}, Baseline: viewBaseline(t.Baseline),
		KnownRed: append([]string{}, t.KnownRed()...), Gate: viewGate(t.Gate), Review: t.Review.Last, Findings: append([]company.JudgedFinding{}, t.Review.Findings()...),
		Failures: map[string]company.Failure{}, RunsFolder: src.Folders.Runs,
	}
	maps.Copy(v.Failures, t.Failures)
	v.Cache = viewCache(t.CacheUse())
	v.Holds = newCap(t.Held())
	v.InParts = v.Review == nil && t.IsReviewedInParts()
	if sub := t.CarriedFrom(); sub != nil {
		v.ReviewOf = sub.ID
	}
	v.Added = append([]company.Dependency{}, t.Dependencies...)
	v.LookedUp = append([]company.Dependency{}, t.LookedUp...)
	v.Unwritten = append([]company.UnwrittenFile{}, t.Unwritten...)
	if t.Prepared != nil {
		v.Gates = append(v.Gates, t.Prepared.Gates...)
		v.Unrun, v.Services = t.Prepared.Unrun, t.Prepared.Services
	}
	budget := company.NewMatchBudget()
	for _, sub := range t.Subtasks {
		v.Plan = append(v.Plan, src.viewSubtask(t, sub, budget))
	}
	v.WriteSetFit = sumFits(v.Plan)
	for _, r := range t.Runs {
		if r.Subtask == "" { // those of subtasks are in the plan
			v.Runs = append(v.Runs, src.Run(t, r))
		}
	}
	sortRuns(v.Runs)
	for _, q := range s.AnsweredApprovals(t.ID) {
		v.Questions = append(v.Questions, newApproval(s, q))
	}
	return v
}

const (
	// mostText is how many lines of an instruction or a description are shown
	// without -v.
	mostText = 5
	// mostRuns is how many runs of a task are shown without -v: the newest.
	mostRuns = 10
)

// Render is a task, what matters first: the question that waits, what came of it, its
// subtasks.
func (v TaskDetail) Render(s Style) string {
	var b strings.Builder
	head := fmt.Sprintf("  %s  ", ageOf(v.DurationMS))
	fmt.Fprintf(&b, "%s  %s%s%s\n", v.ID, s.Paint(v.StateColor(), v.StateText()), head, s.Fit(v.Title(), len(string(v.ID)+v.StateText()+head)+2))
	v.writeResult(&b, s)
	if len(v.NeedsYou) > 0 {
		b.WriteString("\n" + s.Heading("NEEDS YOU") + "\n")
	}
	for _, q := range v.NeedsYou {
		writeWrapped(&b, s, fmt.Sprintf("  ! %-4s ", q.ID), safetext.Escape(q.Question))
		q.writeDetails(&b, s, "         ")
		q.writeAnswers(&b, s, "         ")
	}
	for _, key := range slices.Sorted(maps.Keys(v.Failures)) {
		f := v.Failures[key]
		b.WriteString("\n")
		writeWrapped(&b, s, "x ", fmt.Sprintf("%s failed %s: %s", key, company.Count(f.Attempt, "time"), safetext.EscapeLine(f.Error, 300)))
	}
	v.writePlan(&b, s)
	v.writeDecisions(&b, s)
	if v.Gate != nil {
		fmt.Fprintf(&b, "\n%s  of the whole, on %s\n%s", s.Heading("GATES"), v.Gate.Head.Short(), v.Gate.Render(s))
	}
	if v.Review != nil {
		of := "of the whole"
		if v.ReviewOf != "" {
			of = "of " + string(v.ReviewOf) + ", which holds for the whole: it is the only ticket, and merged the same tree"
		}
		writeWrapped(&b, s, "\n"+s.Heading("REVIEW")+"  ", of)
		writeReview(&b, s, v.Review)
	}
	if v.InParts {
		writeWrapped(&b, s, "\n"+s.Heading("REVIEW")+"  ", "of the whole: by its tickets, which have all parts of the instruction and do not touch each other")
	}
	writeJudged(&b, s, v.Findings)
	v.writeRuns(&b, s)
	b.WriteString("\n" + s.Heading("INSTRUCTION") + "\n")
	writeText(&b, s, v.Instruction, mostText)
	for _, a := range v.Attachments {
		writeWrapped(&b, s, "  with ", safetext.EscapeLine(fmt.Sprintf("%s: %s, sha256 %s", a.Name, a.Describe(), a.Blob), 400))
	}
	v.writeBase(&b, s)
	fmt.Fprintf(&b, "\n%s  %s\n", s.Heading("FILES"), v.RunsFolder)
	writeUnwritten(&b, v.Unwritten)
	return b.String()
}

// writeResult tells what came of a task so far, what it cost, and where it is.
func (v TaskDetail) writeResult(b *strings.Builder, s Style) {
	if v.Reason != "" {
		writeWrapped(b, s, "  why:    ", safetext.EscapeLine(v.Reason, 300))
	}
	if len(v.WaitsFor) > 0 {
		writeWrapped(b, s, "  waits for: ", v.AwaitedText()+"; it begins when all are merged")
	} else if len(v.After) > 0 {
		writeWrapped(b, s, "  after:  ", JoinIDs(v.After))
	}
	if v.Issue != nil {
		writeWrapped(b, s, "  issue:  ", safetext.EscapeLine(v.Issue.String()+", "+v.Issue.URL, 700))
	}
	if v.PR != nil {
		fmt.Fprintf(b, "  pull request #%d, %s: company pr show %d\n", v.PR.Number, v.PR.State, v.PR.Number)
		if v.PR.BranchChange != nil {
			writeWrapped(b, s, "  its branch ", BranchText(v.PR.BranchChange))
		}
	}
	if v.Evidence != noEvidence {
		writeWrapped(b, s, "  shown:  ", v.Evidence)
	}
	of := ", without a limit"
	if holds := v.Holds.amount(); holds != NoLimit {
		of = " of at most " + holds.String()
	}
	fmt.Fprintf(b, "  cost:   %s%s\n", FormatCost(v.CostMicroUSD, v.Tokens), of)
	if v.Cache != nil {
		fmt.Fprintf(b, "  cache:  %s\n", v.Cache.RenderText())
	}
	if text := v.urgencyText(); text != "" {
		writeWrapped(b, s, "  order:  ", text)
	}
}

// writePlan lists the subtasks, each with why it is not merged.
func (v TaskDetail) writePlan(b *strings.Builder, s Style) {
	fmt.Fprintf(b, "\n%s  %s in %s, %d merged\n", s.Heading("PLAN"), company.Count(v.Subtasks, "subtask"), v.stepsText(), v.Merged)
	if v.Why != "" {
		writeWrapped(b, s, "  ", safetext.EscapeLine(v.Why, 300))
	}
	table := screen.Table{Indent: "  ", Columns: []screen.Column{{Title: "SUBTASK"}, {Title: "STATE"}, {Title: "WAVE", Rank: 3}, {Title: "ATTEMPTS", Rank: 4}, {Title: "GATES", Rank: 1}, {Title: "REVIEW", Rank: 2}, {Title: "WHAT"}}}
	if v.isOrdered() {
		table.Columns[2].Title = "AFTER"
	}
	for _, sub := range v.Plan {
		place := fmt.Sprint(sub.Wave)
		if v.isOrdered() {
			place = sub.numbersAfter()
		}
		table.ColorRow(sub.StateColor(), string(sub.ID), sub.StateText(), place, fmt.Sprint(sub.Attempts), sub.Gate.statusLabel(), reviewLabel(sub.Review), safetext.EscapeLine(sub.Title, 80))
		if sub.Paused {
			table.Note("paused: company resume " + string(sub.ID))
		}
		for _, note := range sub.originNotes() {
			table.Note(note)
		}
		if sub.MoreTurns > 0 {
			table.Note(fmt.Sprintf("the manager gave each run %s more", company.Count(sub.MoreTurns, "turn")))
		}
		if sub.Model != "" {
			table.Note("the manager gave it the model " + safetext.EscapeLine(sub.Model, 60))
		}
		if len(sub.OutsideWriteSet) > 0 {
			table.Note("beyond its write set: " + sub.outsideText())
		}
		if note := sub.keptNote(); note != "" {
			table.Note(note)
		}
		if sub.Reason != "" && sub.Status != company.SubtaskCompleted {
			table.Note("why: " + safetext.EscapeLine(sub.Reason, 300))
		}
	}
	b.WriteString(table.Render(s))
	if v.WriteSetFit != nil {
		writeWrapped(b, s, "  write sets: ", fitText(*v.WriteSetFit))
	}
}

// isOrdered reports whether a subtask of the plan names another in after.
func (v TaskDetail) isOrdered() bool {
	return slices.ContainsFunc(v.Plan, func(sub Subtask) bool { return len(sub.After) > 0 })
}

// stepsText counts what the plan takes one after the other.
func (v TaskDetail) stepsText() string {
	if v.isOrdered() {
		return company.Count(v.Waves, "step")
	}
	return company.Count(v.Waves, "wave")
}

// numbersAfter are the ends of the ids of what a subtask comes after, for a narrow column.
func (v Subtask) numbersAfter() string {
	if len(v.After) == 0 {
		return "-"
	}
	var numbers []string
	for _, id := range v.After {
		_, number, _ := strings.Cut(string(id), "-")
		numbers = append(numbers, number)
	}
	return strings.Join(numbers, " ")
}

// writeRuns lists the runs of all agents, as they began.
func (v TaskDetail) writeRuns(b *strings.Builder, s Style) {
	runs := slices.Clone(v.Runs)
	for _, sub := range v.Plan {
		runs = append(runs, sub.Runs...)
	}
	sortRuns(runs)
	b.WriteString("\n" + s.Heading("RUNS"))
	if n := len(runs) - mostRuns; n > 0 && !s.Verbose {
		fmt.Fprintf(b, "  the newest; %s before: -v", company.Count(n, "more run"))
		writeRuns(b, s, runs[n:])
	} else {
		writeRuns(b, s, runs)
	}
	writeWords(b, s, runs)
	writeRefused(b, s, runs)
}

// writeBase shows the base of the work, and the dependencies that were added to it.
func (v TaskDetail) writeBase(b *strings.Builder, s Style) {
	if v.Base != nil {
		fmt.Fprintf(b, "\n%s\n", s.Heading("BASE"))
		writeWrapped(b, s, "  base:   ", fmt.Sprintf("%s@%s -> %s@%s, pull request into %s", v.Base.Branch, v.Base.OID.Short(), v.Branch, v.Head.Short(), v.Base.PRBranch))
	}
	for _, g := range v.Gates {
		at := ""
		if g.Dir != "" {
			at = ", in " + safetext.EscapeLine(g.Dir, 100)
		}
		writeWrapped(b, s, "  gate:   ", safetext.EscapeLine(g.Name, 240)+": "+safetext.EscapeLine(g.Command, 160)+at)
	}
	for _, u := range v.Unrun {
		writeWrapped(b, s, "  unrun:  ", safetext.EscapeLine(u.String(), 300))
	}
	if len(v.Services) > 0 {
		writeWrapped(b, s, "  beside: ", safetext.EscapeLine(strings.Join(v.Services, ", "), 200))
	}
	if len(v.Baseline) > 0 && len(v.KnownRed) == 0 {
		b.WriteString("  before: green\n")
	}
	for _, red := range v.KnownRed {
		first, rest, _ := strings.Cut(red, "\n")
		writeWrapped(b, s, "  before: ", safetext.EscapeLine(first, 300))
		if rest != "" {
			b.WriteString(lastLines(rest, 20))
		}
	}
	for _, c := range v.Baseline {
		if c.Slow != "" {
			writeWrapped(b, s, "  slow:   ", safetext.EscapeLine(c.Slow, 300))
		}
	}
	for _, d := range v.Added {
		writeWrapped(b, s, "  added:  ", safetext.EscapeLine(d.String(), 200))
	}
	for _, d := range v.LookedUp {
		if !slices.ContainsFunc(v.Added, func(a company.Dependency) bool { return a.Ecosystem == d.Ecosystem && a.Name == d.Name }) {
			writeWrapped(b, s, "  asked:  ", "a registry for "+safetext.EscapeLine(d.String(), 200)+", which was not added")
		}
	}
}

func reviewLabel(r *company.ReviewRecorded) string {
	if r == nil {
		return "-"
	}
	return "review: " + strings.ReplaceAll(r.Verdict, "_", " ")
}

// writeReview tells a verdict with its findings and what shows them.
func writeReview(b *strings.Builder, s Style, r *company.ReviewRecorded) {
	fmt.Fprintf(b, "  %s of %s\n", strings.ReplaceAll(r.Verdict, "_", " "), r.Head.Short())
	for _, f := range r.Findings {
		writeWrapped(b, s, "  "+string(f.Severity)+" ", strings.TrimSpace(safetext.EscapeLine(f.Where(), 130)+" "+safetext.EscapeLine(f.What, 300)))
		if f.Why != "" {
			writeWrapped(b, s, "      why: ", safetext.EscapeLine(f.Why, 300))
		}
		if f.Suggestion != "" {
			writeWrapped(b, s, "      suggestion: ", safetext.EscapeLine(f.Suggestion, 300))
		}
	}
	for i, e := range r.Evidence {
		writeWrapped(b, s, "  shown: ", safetext.EscapeLine(e, 300))
		if i < len(r.Checked) && r.Checked[i] != "" {
			writeWrapped(b, s, "    seen: ", safetext.EscapeLine(r.Checked[i], 600))
		}
	}
}

// writeJudged lists the findings of earlier reviews with the status that a later one lent them.
func writeJudged(b *strings.Builder, s Style, findings []company.JudgedFinding) {
	for _, f := range findings {
		if f.Status == company.FindingUnverified {
			continue
		}
		writeWrapped(b, s, "  "+f.Status+": ", string(f.Severity)+" "+strings.TrimSpace(safetext.EscapeLine(f.Where(), 130)+" "+safetext.EscapeLine(f.What, 300)))
		if f.Basis != "" {
			writeWrapped(b, s, "      by the next review: ", safetext.EscapeLine(f.Basis, 300))
		}
	}
}

// writeUnwritten tells which files are not there, or old.
func writeUnwritten(b *strings.Builder, files []company.UnwrittenFile) {
	for _, u := range files {
		fmt.Fprintf(b, "  not written: %s: %s\n", safetext.EscapeLine(u.File, 200), safetext.EscapeLine(u.Why, 300))
	}
}
