package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/present/termtext"
)

// CostQuery is a query for costs from the command line.
type CostQuery struct {
	ID   string // of a task, a ticket or a run; empty means the office
	By   string // role, ticket or turn; empty means role
	Why  bool   // show the most expensive requests
	Days int    // limits the office's costs to so many days; 0 means all
}

// CostsBy are the allowed values of CostQuery.By.
var CostsBy = []string{"role", "ticket", "turn"}

// Check returns an error for an invalid query.
func (q CostQuery) Check() error {
	switch {
	case q.By != "" && q.By != "role" && q.By != "ticket" && q.By != "turn":
		return company.E(company.EUsage, fmt.Sprintf("unknown value for --by: %.40q", q.By)).
			Fix("--by role, --by ticket or --by turn")
	case q.Days < 0:
		return company.E(company.EUsage, fmt.Sprintf("invalid --days %d", q.Days)).Fix("--days 7, or 0 for all")
	case q.By != "" && q.Why:
		return company.E(company.EUsage, "--by and --why cannot be used together").Fix("run company costs once with each")
	case q.ID == "" && q.By != "":
		return company.E(company.EUsage, "--by needs a task").
			Fix("company costs t12 --by " + q.By + "; company list has the ids")
	case q.ID == "" && q.Why:
		return company.E(company.EUsage, "--why needs a task").Fix("company costs t12 --why; company list has the ids")
	case q.ID != "" && q.Days != 0:
		return company.E(company.EUsage, "--days and a task cannot be used together").
			Fix("company costs " + q.ID + ", or company costs --days 7")
	}
	return nil
}

// Since returns the start of the first day to include, in the local time zone. It returns the zero time if all days
// are included.
func (q CostQuery) Since(now time.Time) time.Time {
	if q.Days == 0 {
		return time.Time{}
	}
	y, m, d := now.Local().Date()
	return time.Date(y, m, d-q.Days+1, 0, 0, 0, 0, time.Local)
}

// Detail returns the lists that the result needs.
func (q CostQuery) Detail() CostDetail {
	return CostDetail{Requests: q.By == "turn", Dearest: q.Why}
}

// Render renders the costs as text, in the form that the query asks for.
func (v TaskCosts) Render(costQuery CostQuery, style Style) string {
	var b strings.Builder
	switch {
	case costQuery.Why:
		v.writeDearest(&b, style)
		return b.String()
	case costQuery.By == "turn":
		v.writeRequests(&b, style)
	case costQuery.By == "ticket":
		b.WriteString(renderLines("TICKET", append(v.ByTicket, v.Total), style))
	default:
		b.WriteString(renderLines("ROLE", append(v.ByRole, v.Total), style))
	}
	v.writeNotes(&b)
	return b.String()
}

// Titles of the number columns, padded to align right.
const (
	inputTitle  = "    IN"
	cachedTitle = "CACHED"
	outputTitle = "   OUT"
	costTitle   = "    COST"
)

// renderLines renders a table of sums.
func renderLines(title string, lines []CostLine, style Style) string {
	table := termtext.Table{Columns: []termtext.Column{
		{Title: title}, {Title: "RUNS", Rank: 2}, {Title: "REQUESTS", Rank: 1}, {Title: inputTitle}, {Title: cachedTitle},
		{Title: outputTitle}, {Title: costTitle, Least: 8},
	}}
	for _, costLine := range lines {
		table.Row(costLine.Of, fmt.Sprintf("%4d", costLine.Runs), fmt.Sprintf("%8d", costLine.Requests),
			formatCount(costLine.InputTokens), formatCount(costLine.CachedTokens), formatCount(costLine.OutputTokens),
			formatMoney(costLine.CostMicroUSD, costLine.Tokens))
	}
	return table.Render(style)
}

// writeRequests writes a table of requests.
func (v TaskCosts) writeRequests(b *strings.Builder, style Style) {
	if v.LeftOut != nil {
		fmt.Fprintf(b, "%s left out: %s (--by turn of a ticket or a run shows fewer)\n\n",
			company.Count(v.LeftOut.Requests, "older request"), formatSigned(v.LeftOut.CostMicroUSD, v.LeftOut.Tokens))
	}
	table := termtext.Table{Columns: []termtext.Column{
		{Title: "RUN"}, {Title: "TURN"}, {Title: "ROLE"}, {Title: inputTitle}, {Title: cachedTitle, Rank: 2},
		{Title: outputTitle, Rank: 1}, {Title: costTitle}, {Title: "ASKED FOR", Least: 12},
	}}
	for _, request := range v.Requests {
		table.Row(string(request.Run), fmt.Sprintf("%4d", request.N), string(request.Role), formatCount(request.InputTokens),
			formatCount(request.CachedTokens), formatCount(request.OutputTokens),
			formatMoney(request.CostMicroUSD, request.Tokens), request.AskedFor())
	}
	b.WriteString(table.Render(style))
	if table.Len() > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "total %s in %s\n", formatSigned(v.Total.CostMicroUSD, v.Total.Tokens),
		company.Count(v.Total.Requests, "request"))
}

// AskedFor describes the answer to a request: its tool calls, text or error.
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

// writeDearest writes the most expensive requests with the parts of their input.
func (v TaskCosts) writeDearest(b *strings.Builder, style Style) {
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
	for _, request := range v.Dearest {
		head := fmt.Sprintf("%s turn %d  %s  %s  in %s (%s cached)  out %s", request.Run, request.N, request.Role,
			formatSigned(request.CostMicroUSD, request.Tokens),
			shortCount(request.InputTokens), shortCount(request.CachedTokens), shortCount(request.OutputTokens))
		b.WriteString("\n" + style.Heading(style.Fit(head, 0)) + "\n")
		fmt.Fprintf(b, "  asked for  %s\n", style.Fit(request.AskedFor(), 13))
		for _, p := range request.Input {
			fmt.Fprintf(b, "  %s  %s\n", formatCount(p.Tokens), style.Fit(p.describePart(), 10))
		}
	}
}

// describePart names a part of a request.
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
		text = "summary of earlier turns"
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

// writeNotes lists the amounts in a total that do not come from answered requests.
func (v TaskCosts) writeNotes(b *strings.Builder) {
	var notes []string
	if costLine := v.Unanswered; costLine.Requests > 0 {
		notes = append(
			notes, fmt.Sprintf("%s got no answer: %s, counted at the worst case", company.Count(costLine.Requests, "request"),
				formatSigned(costLine.CostMicroUSD, costLine.Tokens)))
	}
	for _, difference := range v.Differences {
		note := fmt.Sprintf("%s was charged %s more than its requests", difference.Run,
			formatSigned(difference.CostMicroUSD, difference.Tokens))
		if difference.Why != "" {
			note += ": " + termtext.Cut(difference.Why, 60)
		}
		notes = append(notes, note)
	}
	if n := len(v.UnderWay); n > 0 {
		notes = append(notes, company.Count(n, "run")+" not charged yet: counted by its requests so far")
	}
	if len(notes) > 0 {
		b.WriteString("\n" + strings.Join(notes, "\n") + "\n")
	}
}

// formatMoney formats a cost for a column: money, or tokens if no price is known.
func formatMoney(usd, tokens int64) string { return fmt.Sprintf("%8s", formatSigned(usd, tokens)) }

// formatSigned formats a cost with four decimals, or six if it is tiny. The cost may be negative.
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

// formatCount formats a number of tokens for a column.
func formatCount(n int64) string { return fmt.Sprintf("%6s", shortCount(n)) }

// shortCount formats a number of tokens in few digits.
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
