package report

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// RenderMarkdown renders the report for people.
func (r Report) RenderMarkdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n", r.RunID, escapeCell(company.TitleOf(r.Inputs.Instruction)))
	fmt.Fprintf(&b, "**%s** (%s). Log: %s.\n", r.Result, r.Status.Text(), r.LogID)
	if r.EndedAt != nil {
		fmt.Fprintf(&b, "From %s to %s.\n", r.StartedAt.Format(time.RFC3339), r.EndedAt.Format(time.RFC3339))
	}
	fmt.Fprintf(&b, "Cost: %s.\n", company.Amount{MicroUSD: r.costMicroUSD(), Tokens: r.Task.Tokens})
	writeList(&b, "Why", r.Reasons)
	writeList(&b, "Next", []string{r.NextAction})
	writeList(&b, "Unresolved", r.Unresolved)
	r.Manager.writeTo(&b)
	b.WriteString("\n## Instruction\n\n" + quoteText(r.Inputs.Instruction))
	if base := r.Inputs.Base; base != nil {
		fmt.Fprintf(&b, "\nBase: %s at %s, for a pull request into %s.\n", escapeCell(base.Branch), base.OID.Short(),
			escapeCell(base.PRBranch))
	}
	var rows [][]string
	for _, sub := range r.Task.Plan {
		rows = append(rows, []string{string(sub.ID), sub.Title, string(sub.Status), fmt.Sprint(sub.Attempts),
			sub.Merged.Short()})
	}
	writeTable(&b, "Tickets", []string{"Ticket", "What", "Status", "Runs", "Merged as"}, rows)
	rows = nil
	runs := r.Task.Runs
	for _, sub := range r.Task.Plan {
		runs = append(runs[:len(runs):len(runs)], sub.Runs...)
	}
	for _, run := range runs {
		var models []string
		for _, use := range run.Models {
			models = append(models, use.Model)
		}
		rows = append(rows, []string{string(run.ID), string(run.Role), run.Status, fmt.Sprint(run.Turns),
			strings.Join(models, ", "), company.Amount{MicroUSD: valueOf(run.CostMicroUSD), Tokens: run.Tokens}.String()})
	}
	writeTable(&b, "Runs", []string{"Run", "Role", "Status", "Turns", "Models", "Cost"}, rows)
	rows = nil
	for _, command := range r.Commands {
		rows = append(rows, []string{command.Check, command.Command, fmt.Sprint(command.ExitCode), command.Tree.Short(),
			fmt.Sprintf("%.12s", command.Output)})
	}
	writeTable(&b, "Checks", []string{"Check", "Command", "Exit code", "Tree", "Output"}, rows)
	var findings []string
	for _, finding := range r.listFindings() {
		findings = append(findings, fmt.Sprintf("%s %s %s (%s)", finding.Severity, finding.Where(), finding.What,
			finding.Status))
	}
	writeList(&b, "Findings", findings)
	var answers []string
	for _, question := range r.Task.Questions {
		answers = append(answers, fmt.Sprintf("%s: %s — %s", question.ID, question.Question,
			strings.TrimSpace(question.Option+" "+question.Text)))
	}
	writeList(&b, "Approvals", answers)
	rows = nil
	for _, file := range r.Artifacts {
		rows = append(rows, []string{file.Path, file.Action, fmt.Sprint(file.Exists), file.Method,
			file.DetectedAt.Format(time.RFC3339)})
	}
	writeTable(&b, fmt.Sprintf("Files (%d changed)", r.Modified),
		[]string{"Path", "Action", "Exists", "Detected by", "At"}, rows)
	rows = nil
	for _, claim := range r.Evidence {
		rows = append(rows, []string{string(claim.Operation), claim.Of, claim.Says, fmt.Sprintf("%.12s", claim.Evidence)})
	}
	writeTable(&b, "Evidence", []string{"Operation", "Of", "Claim", "Evidence"}, rows)
	fmt.Fprintf(&b, "\n`company evidence verify %s` compares each claim with its evidence.\n", r.RunID)
	return b.String()
}

func (r Report) costMicroUSD() int64 { return valueOf(r.Task.CostMicroUSD) }

func valueOf(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// listFindings lists the findings of all reviews: those of the tickets, then those of the whole.
func (r Report) listFindings() []company.JudgedFinding {
	var all []company.JudgedFinding
	for _, sub := range r.Task.Plan {
		all = append(all, sub.Findings...)
	}
	return append(all, r.Task.Findings...)
}

func writeList(b *strings.Builder, heading string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", heading)
	for _, item := range items {
		b.WriteString("- " + escapeCell(item) + "\n")
	}
}

func writeTable(b *strings.Builder, heading string, columns []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| %s |\n|%s\n", heading, strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, row := range rows {
		for i := range row {
			row[i] = escapeCell(row[i])
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
}

// escapeCell makes agents' text safe for one line of a table (T18).
func escapeCell(text string) string {
	line := strings.Join(strings.Fields(safetext.Escape(text)), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'").Replace(line)
}

// quoteText makes a text of several lines a quotation.
func quoteText(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(safetext.Escape(text))) {
		b.WriteString("> " + strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "<", "&lt;") + "\n")
	}
	return b.String()
}
