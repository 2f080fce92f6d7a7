package view

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// TaskDetail is a task with all its details.
type TaskDetail struct {
	Task
	NeedsYou  []Approval `json:"needs_you"`
	Questions []Approval `json:"questions"` // answered questions
	Why       string     `json:"plan_why,omitempty"`
	Plan      []Subtask  `json:"plan"`
	// Decisions are decisions and assumptions of agents where the instruction is open.
	Decisions []Decision            `json:"decisions"`
	Runs      []Run                 `json:"runs"` // runs that belong to no subtask
	Gates     []company.GateCommand `json:"gates"`
	Baseline  []Check               `json:"baseline"`  // results of the gates on the base
	KnownRed  []string              `json:"known_red"` // failed checks of the base
	// Unrun are checks of the repository that no gate runs, and gates that cannot run here.
	Unrun []company.UnrunCheck `json:"unrun,omitempty"`
	company.Needs
	Gate   *Gate                   `json:"gate"`
	Review *company.ReviewRecorded `json:"review"`
	// findings of all reviews of the whole task, each with its status; newest last
	Findings []company.JudgedFinding `json:"findings"`
	// ReviewOf is the only ticket of the task, if its review counts for the whole.
	ReviewOf  company.SubtaskID          `json:"review_of,omitempty"`
	Failures  map[string]company.Failure `json:"failures"`
	Added     []company.Dependency       `json:"dependencies"` // beyond the base's lock files
	LookedUp  []company.Dependency       `json:"looked_up"`    // names that were sent to registries
	Unwritten []company.UnwrittenFile    `json:"unwritten"`    // files that are missing or out of date
	// Cache covers the runs that have ended. It is absent if no server counted cached tokens.
	Cache  *Cache `json:"cache,omitempty"`
	Report string `json:"report,omitempty"` // path of the report, once it is written
	// RunsFolder is the folder with the files of runs, for display.
	RunsFolder string `json:"-"`
}

// TaskDetail returns a task with all its details.
func (src Source) TaskDetail(task *company.Task) TaskDetail {
	src = src.WithSchedule()
	state := src.State
	taskDetail := TaskDetail{
		Task: src.Task(task), NeedsYou: src.approvals(state.OpenApprovals(task.ID)), Questions: []Approval{},
		Why:  task.Plan.Why,
		Plan: []Subtask{}, Decisions: viewDecisions(task), Runs: []Run{}, Gates: []company.GateCommand{},
		Baseline: viewBaseline(task.Baseline),
		KnownRed: append([]string{}, task.KnownRed()...), Gate: viewGate(task.Gate), Review: task.Review.Last,
		Findings: append([]company.JudgedFinding{}, task.Review.Findings()...),
		Failures: map[string]company.Failure{}, RunsFolder: src.Folders.Runs,
	}
	if name := string(task.ID) + ".report.md"; src.Folders.hasFile(src.Folders.Reports, name) {
		taskDetail.Report = filepath.Join(src.Folders.Reports, name)
	}
	maps.Copy(taskDetail.Failures, task.Failures)
	taskDetail.Cache = viewCache(task.CacheUse())
	taskDetail.Holds = newCap(task.Held())
	if sub := task.CarriedFrom(); sub != nil {
		taskDetail.ReviewOf = sub.ID
	}
	taskDetail.Added = append([]company.Dependency{}, task.Dependencies...)
	taskDetail.LookedUp = append([]company.Dependency{}, task.LookedUp...)
	taskDetail.Unwritten = append([]company.UnwrittenFile{}, task.Unwritten...)
	if task.Prepared != nil {
		taskDetail.Gates = append(taskDetail.Gates, task.Prepared.Gates...)
		taskDetail.Unrun = slices.Concat(task.Prepared.Unrun, task.ListCannotRun())
		taskDetail.Needs = task.Prepared.Needs
	}
	budget := company.NewMatchBudget()
	for _, sub := range task.Subtasks {
		taskDetail.Plan = append(taskDetail.Plan, src.viewSubtask(task, sub, budget))
	}
	for _, run := range task.Runs {
		if run.Subtask == "" { // the plan has those of subtasks
			taskDetail.Runs = append(taskDetail.Runs, src.Run(task, run))
		}
	}
	sortRuns(taskDetail.Runs)
	for _, q := range state.AnsweredApprovals(task.ID) {
		taskDetail.Questions = append(taskDetail.Questions, newApproval(state, q))
	}
	return taskDetail
}

const (
	// mostText limits the lines of an instruction or a description that are shown without -v.
	mostText = 5
	// mostRuns limits the runs of a task that are shown without -v: the newest.
	mostRuns = 10
)

// Render renders a task, most important first: the open questions, the result, its subtasks.
func (v TaskDetail) Render(style Style) string {
	var b strings.Builder
	head := fmt.Sprintf("  %s  ", ageOf(v.DurationMS))
	fmt.Fprintf(&b, "%s  %s%s%s\n", v.ID, style.Paint(v.StateColor(), v.StateText()), head,
		style.Fit(v.Title(), len(string(v.ID)+v.StateText()+head)+2))
	v.writeResult(&b, style)
	if len(v.NeedsYou) > 0 {
		b.WriteString("\n" + style.Heading("NEEDS YOU") + "\n")
	}
	for _, approval := range v.NeedsYou {
		writeWrapped(&b, style, fmt.Sprintf("  ! %-4s ", approval.ID), safetext.Escape(approval.Question))
		approval.writeDetails(&b, style, "         ")
		approval.writeAnswers(&b, style, "         ")
	}
	for _, key := range slices.Sorted(maps.Keys(v.Failures)) {
		failure := v.Failures[key]
		b.WriteString("\n")
		writeWrapped(
			&b, style, "x ",
			failure.Describe(key, v.Status == company.StatusExecuting)+": "+safetext.EscapeLine(failure.Error, 300))
	}
	v.writePlan(&b, style)
	v.writeDecisions(&b, style)
	if v.Gate != nil {
		fmt.Fprintf(&b, "\n%s  of the whole, on %s\n%s", style.Heading("GATES"), v.Gate.Head.Short(), v.Gate.Render(style))
	}
	if v.Review != nil {
		of := "of the whole"
		if v.ReviewOf != "" {
			of = "of " + string(v.ReviewOf) + ", which covers the whole: it is the only ticket and merged the same tree"
		}
		writeWrapped(&b, style, "\n"+style.Heading("REVIEW")+"  ", of)
		writeReview(&b, style, v.Review)
	}
	writeJudged(&b, style, v.Findings)
	v.writeRuns(&b, style)
	b.WriteString("\n" + style.Heading("INSTRUCTION") + "\n")
	writeText(&b, style, v.Instruction, mostText)
	for _, attachment := range v.Attachments {
		writeWrapped(&b, style, "  with ",
			safetext.EscapeLine(fmt.Sprintf("%s: %s, sha256 %s", attachment.Name, attachment.Describe(), attachment.Blob), 400))
	}
	v.writeBase(&b, style)
	fmt.Fprintf(&b, "\n%s  %s\n", style.Heading("FILES"), v.RunsFolder)
	fmt.Fprintf(&b, "  log:    %s\n", v.LogID)
	if v.Report != "" {
		fmt.Fprintf(&b, "  report: %s\n", v.Report)
	}
	writeUnwritten(&b, v.Unwritten)
	return b.String()
}

// writeResult writes the state of a task, its cost and related links.
func (v TaskDetail) writeResult(b *strings.Builder, style Style) {
	if v.Reason != "" {
		writeWrapped(b, style, "  why:    ", safetext.EscapeLine(v.Reason, 300))
	}
	if len(v.WaitsFor) > 0 {
		writeWrapped(b, style, "  waits for: ", v.AwaitedText()+"; it starts when all are merged")
	} else if len(v.After) > 0 {
		writeWrapped(b, style, "  after:  ", JoinIDs(v.After))
	}
	for _, text := range v.HoldTexts() {
		writeWrapped(b, style, "  next:   ", text)
	}
	if v.Issue != nil {
		writeWrapped(b, style, "  issue:  ", safetext.EscapeLine(v.Issue.String()+", "+v.Issue.URL, 700))
	}
	if v.PR != nil {
		fmt.Fprintf(b, "  pull request #%d, %s: company pr show %d\n", v.PR.Number, v.PR.State, v.PR.Number)
		if v.PR.BranchChange != nil {
			writeWrapped(b, style, "  its branch ", BranchText(v.PR.BranchChange))
		}
	}
	if v.Evidence != noEvidence {
		writeWrapped(b, style, "  shown:  ", v.Evidence)
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
		writeWrapped(b, style, "  order:  ", text)
	}
}

// writePlan lists the subtasks, each with the reason why it is not merged.
func (v TaskDetail) writePlan(b *strings.Builder, style Style) {
	fmt.Fprintf(b, "\n%s  %s in %s, %d merged\n", style.Heading("PLAN"), company.Count(v.Subtasks, "subtask"),
		v.stepsText(), v.Merged)
	if v.Why != "" {
		writeWrapped(b, style, "  ", safetext.EscapeLine(v.Why, 300))
	}
	table := termtext.Table{Indent: "  ",
		Columns: []termtext.Column{{Title: "SUBTASK"}, {Title: "STATE"}, {Title: "WAVE", Rank: 3},
			{Title: "ATTEMPTS", Rank: 4}, {Title: "GATES", Rank: 1}, {Title: "REVIEW", Rank: 2}, {Title: "WHAT"}}}
	if v.isOrdered() {
		table.Columns[2].Title = "AFTER"
	}
	for _, sub := range v.Plan {
		place := fmt.Sprint(sub.Wave)
		if v.isOrdered() {
			place = sub.numbersAfter()
		}
		table.ColorRow(sub.StateColor(), string(sub.ID), sub.StateText(), place, fmt.Sprint(sub.Attempts),
			sub.Gate.statusLabel(), reviewLabel(sub.Review), safetext.EscapeLine(sub.Title, 80))
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
	b.WriteString(table.Render(style))
}

// isOrdered reports whether any subtask of the plan depends on another by after.
func (v TaskDetail) isOrdered() bool {
	return slices.ContainsFunc(v.Plan, func(sub Subtask) bool { return len(sub.After) > 0 })
}

// stepsText counts the sequential steps of the plan.
func (v TaskDetail) stepsText() string {
	if v.isOrdered() {
		return company.Count(v.Waves, "step")
	}
	return company.Count(v.Waves, "wave")
}

// numbersAfter returns the last parts of the ids that a subtask depends on, for a narrow column.
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

// writeRuns lists the runs of all agents, in order of their start.
func (v TaskDetail) writeRuns(b *strings.Builder, style Style) {
	runs := slices.Clone(v.Runs)
	for _, sub := range v.Plan {
		runs = append(runs, sub.Runs...)
	}
	sortRuns(runs)
	b.WriteString("\n" + style.Heading("RUNS"))
	if n := len(runs) - mostRuns; n > 0 && !style.Verbose {
		fmt.Fprintf(b, "  the newest; %s before: -v", company.Count(n, "more run"))
		writeRuns(b, style, runs[n:])
	} else {
		writeRuns(b, style, runs)
	}
	writeWords(b, style, runs)
	writeRefused(b, style, runs)
}

// writeBase writes the base of the work, and the dependencies that were added to it.
func (v TaskDetail) writeBase(b *strings.Builder, style Style) {
	if v.Base != nil {
		fmt.Fprintf(b, "\n%s\n", style.Heading("BASE"))
		writeWrapped(b, style, "  base:   ",
			fmt.Sprintf("%s@%s -> %s@%s, pull request into %s", v.Base.Branch, v.Base.OID.Short(), v.Branch, v.Head.Short(),
				v.Base.PRBranch))
	}
	for _, gateCommand := range v.Gates {
		at := ""
		if gateCommand.Dir != "" {
			at = ", in " + safetext.EscapeLine(gateCommand.Dir, 100)
		}
		writeWrapped(b, style, "  gate:   ",
			safetext.EscapeLine(gateCommand.Name, 240)+": "+safetext.EscapeLine(gateCommand.Command, 160)+at)
	}
	for _, u := range v.Unrun {
		writeWrapped(b, style, "  unrun:  ", safetext.EscapeLine(u.String(), 300))
	}
	if len(v.Services) > 0 {
		writeWrapped(b, style, "  beside: ", safetext.EscapeLine(strings.Join(v.Services, ", "), 200))
	}
	if len(v.Packages) > 0 {
		writeWrapped(b, style, "  image:  ",
			"has Debian's "+safetext.EscapeLine(strings.Join(v.Packages, ", "), 300)+
				", which checks of the base looked for and no file requires")
	}
	if len(v.KnownRed) == 0 && slices.ContainsFunc(v.Baseline, func(c Check) bool { return c.Verdict == "passed" }) {
		b.WriteString("  before: green\n")
	}
	for _, red := range v.KnownRed {
		first, rest, _ := strings.Cut(red, "\n")
		writeWrapped(b, style, "  before: ", safetext.EscapeLine(first, 300))
		if rest != "" {
			b.WriteString(lastLines(rest, 20))
		}
	}
	for _, check := range v.Baseline {
		if check.Slow != "" {
			writeWrapped(b, style, "  slow:   ", safetext.EscapeLine(check.Slow, 300))
		}
	}
	for _, d := range v.Added {
		writeWrapped(b, style, "  added:  ", safetext.EscapeLine(d.String(), 200))
	}
	for _, dependency := range v.LookedUp {
		if !slices.ContainsFunc(v.Added,
			func(a company.Dependency) bool {
				return a.Ecosystem == dependency.Ecosystem && a.Name == dependency.Name
			}) {
			writeWrapped(b, style, "  asked:  ",
				"a registry for "+safetext.EscapeLine(dependency.String(), 200)+", which was not added")
		}
	}
}

func reviewLabel(recorded *company.ReviewRecorded) string {
	if recorded == nil {
		return "-"
	}
	return "review: " + strings.ReplaceAll(recorded.Verdict, "_", " ")
}

// writeReview writes a verdict with its findings and evidence.
func writeReview(b *strings.Builder, style Style, recorded *company.ReviewRecorded) {
	fmt.Fprintf(b, "  %s of %s\n", strings.ReplaceAll(recorded.Verdict, "_", " "), recorded.Head.Short())
	for _, finding := range recorded.Findings {
		writeWrapped(b, style, "  "+string(finding.Severity)+" ",
			strings.TrimSpace(safetext.EscapeLine(finding.Where(), 130)+" "+safetext.EscapeLine(finding.What, 300)))
		if finding.Why != "" {
			writeWrapped(b, style, "      why: ", safetext.EscapeLine(finding.Why, 300))
		}
		if finding.Suggestion != "" {
			writeWrapped(b, style, "      suggestion: ", safetext.EscapeLine(finding.Suggestion, 300))
		}
	}
	for i, e := range recorded.Evidence {
		if e == "" || slices.Contains(recorded.Evidence[:i], e) { // one for several criteria
			continue
		}
		writeWrapped(b, style, "  evidence: ", safetext.EscapeLine(e, 300))
		if i < len(recorded.Checked) && recorded.Checked[i] != "" {
			writeWrapped(b, style, "    confirmed: ", safetext.EscapeLine(recorded.Checked[i], 600))
		}
	}
}

// writeJudged lists the findings of earlier reviews with the status that a later review gave them.
func writeJudged(b *strings.Builder, style Style, findings []company.JudgedFinding) {
	for _, finding := range findings {
		if finding.Status == company.FindingUnverified {
			continue
		}
		writeWrapped(b, style, "  "+finding.Status+": ",
			string(finding.Severity)+" "+strings.TrimSpace(
				safetext.EscapeLine(finding.Where(), 130)+" "+safetext.EscapeLine(finding.What, 300)))
		if finding.Mended != "" {
			writeWrapped(b, style, "      in: ", finding.Mended.Short())
		}
		if finding.Basis != "" {
			writeWrapped(b, style, "      by the next review: ", safetext.EscapeLine(finding.Basis, 300))
		}
	}
}

// writeUnwritten lists files that are missing or out of date.
func writeUnwritten(b *strings.Builder, files []company.UnwrittenFile) {
	for _, u := range files {
		fmt.Fprintf(b, "  not written: %s: %s\n", safetext.EscapeLine(u.File, 200), safetext.EscapeLine(u.Why, 300))
	}
}
