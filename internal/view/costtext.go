package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/screen"
)

// CostQuery is a question for costs, as it stands on a command line.
type CostQuery struct {
	ID   string // of a task, a ticket or a run; empty: the office's costs
	By   string // role, ticket or turn; empty: role
	Why  bool   // the dearest requests
	Days int    // of the office's costs; 0: all
}

// CostsBy are the values of CostQuery.By.
var CostsBy = []string{"role", "ticket", "turn"}

// Check refuses a question that cannot be answered.
func (q CostQuery) Check() error {
	switch {
	case q.By != "" && q.By != "role" && q.By != "ticket" && q.By != "turn":
		return company.E(company.EUsage, fmt.Sprintf("unknown value for --by: %.40q", q.By)).Fix("--by role, --by ticket or --by turn")
	case q.Days < 0:
		return company.E(company.EUsage, fmt.Sprintf("--days %d", q.Days)).Fix("--days 7, or 0 for all")
	case q.By != "" && q.Why:
		return company.E(company.EUsage, "--by and --why cannot be used together").Fix("run company costs once with each")
	case q.ID == "" && q.By != "":
		return company.E(company.EUsage, "--by needs a task").Fix("company costs t12 --by " + q.By + "; company list has the ids")
	case q.ID == "" && q.Why:
		return company.E(company.EUsage, "--why needs a task").Fix("company costs t12 --why; company list has the ids")
	case q.ID != "" && q.Days != 0:
		return company.E(company.EUsage, "--days and a task cannot be used together").Fix("company costs " + q.ID + ", or company costs --days 7")
	}
	return nil
}

// Since is the beginning of the first day that counts, in this machine's time zone. It is zero
// where all days do.
func (q CostQuery) Since(now time.Time) time.Time {
	if q.Days == 0 {
		return time.Time{}
	}
	y, m, d := now.Local().Date()
	return time.Date(y, m, d-q.Days+1, 0, 0, 0, 0, time.Local)
}

// Detail is what the answer needs beside its sums.
func (q CostQuery) Detail() CostDetail {
	return CostDetail{Requests: q.By == "turn", Dearest: q.Why}
}

// Render is what people read, as the question asks.
func (v TaskCosts) Render(q CostQuery, s Style) string {
	var b strings.Builder
	switch {
	case q.Why:
		v.writeDearest(&b, s)
		return b.String()
	case q.By == "turn":
		v.writeRequests(&b, s)
	case q.By == "ticket":
		b.WriteString(renderLines("TICKET", append(v.ByTicket, v.Total), s))
	default:
		b.WriteString(renderLines("ROLE", append(v.ByRole, v.Total), s))
	}
	v.writeNotes(&b)
	return b.String()
}

// titles of the columns of numbers, which stand at their right ends.
const (
	inputTitle  = "    IN"
	cachedTitle = "CACHED"
	outputTitle = "   OUT"
	costTitle   = "    COST"
)

// renderLines is a table of sums.
func renderLines(title string, lines []CostLine, s Style) string {
	table := screen.Table{Columns: []screen.Column{
		{Title: title}, {Title: "RUNS", Rank: 2}, {Title: "REQUESTS", Rank: 1}, {Title: inputTitle}, {Title: cachedTitle}, {Title: outputTitle}, {Title: costTitle, Least: 8},
	}}
	for _, l := range lines {
		table.Row(l.Of, fmt.Sprintf("%4d", l.Runs), fmt.Sprintf("%8d", l.Requests),
			formatCount(l.InputTokens), formatCount(l.CachedTokens), formatCount(l.OutputTokens), formatMoney(l.CostMicroUSD, l.Tokens))
	}
	return table.Render(s)
}

// writeRequests lists the requests, each on a line.
func (v TaskCosts) writeRequests(b *strings.Builder, s Style) {
	if v.LeftOut != nil {
		fmt.Fprintf(b, "%s left out: %s (--by turn of a ticket or a run shows fewer)\n\n", company.Count(v.LeftOut.Requests, "older request"), formatSigned(v.LeftOut.CostMicroUSD, v.LeftOut.Tokens))
	}
	table := screen.Table{Columns: []screen.Column{
		{Title: "RUN"}, {Title: "TURN"}, {Title: "ROLE"}, {Title: inputTitle}, {Title: cachedTitle, Rank: 2}, {Title: outputTitle, Rank: 1}, {Title: costTitle}, {Title: "ASKED FOR", Least: 12},
	}}
	for _, r := range v.Requests {
		table.Row(string(r.Run), fmt.Sprintf("%4d", r.N), string(r.Role), formatCount(r.InputTokens), formatCount(r.CachedTokens), formatCount(r.OutputTokens),
			formatMoney(r.CostMicroUSD, r.Tokens), r.AskedFor())
	}
	b.WriteString(table.Render(s))
	if table.Len() > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "total %s in %s\n", formatSigned(v.Total.CostMicroUSD, v.Total.Tokens), company.Count(v.Total.Requests, "request"))
}

// AskedFor is a short phrase for what the answer to a request asked for.
func (r Request) AskedFor() string {
	switch {
	case r.Answered == nil:
		return "(no answer)"
	case r.Error != "":
		return "(" + r.Error + ")"
	case len(r.Calls) == 0:
		return "(text)"
	case len(r.Calls) == 1:
		return strings.TrimSpace(r.Calls[0].Tool + " " + r.Calls[0].What)
	}
	var tools []string
	count := map[string]int{}
	for _, call := range r.Calls {
		if count[call.Tool]++; count[call.Tool] == 1 {
			tools = append(tools, call.Tool)
		}
	}
	for i, tool := range tools {
		if n := count[tool]; n > 1 {
			tools[i] = fmt.Sprintf("%d× %s", n, tool)
		}
	}
	return strings.Join(tools, ", ")
}

// writeDearest shows the dearest requests with the parts of their input.
func (v TaskCosts) writeDearest(b *strings.Builder, s Style) {
	if len(v.Dearest) == 0 {
		b.WriteString("no requests yet\n")
		return
	}
	sum := CostLine{}
	for _, r := range v.Dearest {
		sum.addRequest(r)
	}
	fmt.Fprintf(b, "the %s of %d: %s of %s\n", company.Count(len(v.Dearest), "dearest request"), v.Total.Requests,
		formatSigned(sum.CostMicroUSD, sum.Tokens), formatSigned(v.Total.CostMicroUSD, v.Total.Tokens))
	for _, r := range v.Dearest {
		head := fmt.Sprintf("%s turn %d  %s  %s  in %s (%s cached)  out %s", r.Run, r.N, r.Role, formatSigned(r.CostMicroUSD, r.Tokens),
			shortCount(r.InputTokens), shortCount(r.CachedTokens), shortCount(r.OutputTokens))
		b.WriteString("\n" + s.Heading(s.Fit(head, 0)) + "\n")
		fmt.Fprintf(b, "  asked for  %s\n", s.Fit(r.AskedFor(), 13))
		for _, p := range r.Input {
			fmt.Fprintf(b, "  %s  %s\n", formatCount(p.Tokens), s.Fit(p.describePart(), 10))
		}
	}
}

// describe names a part of a request for people.
func (p RequestPart) describePart() string {
	text := strings.TrimSpace(p.Tool + " " + p.What)
	switch p.Kind {
	case "shown":
		text = "in the brief: " + text
	case "call":
		text = "call of " + text
	case "reply":
		text = "text of replies"
	case "note":
		text = "notes"
	case "digest":
		text = "digest of earlier turns"
	case "cleared":
		text = "cleared results"
	case "rest":
		text = "smaller parts"
	}
	text = cmp.Or(text, p.Kind)
	if p.N > 1 {
		text = fmt.Sprintf("%s (%d)", text, p.N)
	}
	return text
}

// writeNotes names what a total has beside answered requests.
func (v TaskCosts) writeNotes(b *strings.Builder) {
	var notes []string
	if u := v.Unanswered; u.Requests > 0 {
		notes = append(notes, fmt.Sprintf("%s gave no answer: %s, counted at the worst case", company.Count(u.Requests, "request"), formatSigned(u.CostMicroUSD, u.Tokens)))
	}
	for _, d := range v.Differences {
		note := fmt.Sprintf("%s was booked with %s more than its requests", d.Run, formatSigned(d.CostMicroUSD, d.Tokens))
		if d.Why != "" {
			note += ": " + screen.Cut(d.Why, 60)
		}
		notes = append(notes, note)
	}
	if n := len(v.UnderWay); n > 0 {
		notes = append(notes, company.Count(n, "run")+" not booked yet: what its requests cost so far counts")
	}
	if len(notes) > 0 {
		b.WriteString("\n" + strings.Join(notes, "\n") + "\n")
	}
}

// formatMoney is a cost for a column: money, or tokens where no price is known.
func formatMoney(usd, tokens int64) string { return fmt.Sprintf("%8s", formatSigned(usd, tokens)) }

// formatSigned is a cost with four digits behind the point, and six where it is tiny. It may be below 0.
func formatSigned(usd, tokens int64) string {
	switch {
	case usd < 0:
		return "-" + formatSigned(-usd, tokens)
	case usd > 0 && usd < 100:
		return fmt.Sprintf("$%.6f", float64(usd)/1e6)
	case usd > 0:
		return fmt.Sprintf("$%.4f", float64(usd)/1e6)
	}
	return shortCount(tokens) + " tok"
}

// formatCount is a number of tokens for a column.
func formatCount(n int64) string { return fmt.Sprintf("%6s", shortCount(n)) }

// shortCount is a number of tokens in as few digits as it needs.
func shortCount(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.0fM", float64(n)/1e6)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}
