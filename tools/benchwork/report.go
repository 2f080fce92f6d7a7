package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Report is the result of all cases.
type Report struct {
	SchemaVersion int          `json:"schema_version"`
	Time          time.Time    `json:"time"`
	Folder        string       `json:"folder"`            // folder of the cases
	Model         string       `json:"model,omitempty"`   // model profile of all roles, if named
	Player        string       `json:"player,omitempty"`  // program that played the model
	Instant       bool         `json:"instant,omitempty"` // the player replied without delay
	Repeat        int          `json:"repeat"`            // attempts of each case
	Cases         []CaseResult `json:"cases"`
	Total         Summary      `json:"total"`
	TotalSolo     *Summary     `json:"total_solo,omitempty"`
}

// CaseResult is the result of one case.
type CaseResult struct {
	Name    string  `json:"name"`
	Company Result  `json:"company"`
	Solo    *Result `json:"solo,omitempty"`  // with one worker, without manager and review
	Fault   string  `json:"fault,omitempty"` // reason why the case ended early
}

// Result is the result of the attempts of one case.
type Result struct {
	Summary
	Attempts []Attempt `json:"attempts"`
}

// Summary sums up attempts. In the summary of all cases the intervals count cases, because repeated attempts of one
// case are not independent.
type Summary struct {
	Resolved   int   `json:"resolved"`    // number of attempts
	Wrong      int   `json:"wrong"`       // attempts that were delivered as done but are not
	Attempted  int   `json:"attempted"`   // number of attempts
	Share      Share `json:"share"`       // fraction resolved
	WrongShare Share `json:"wrong_share"` // fraction wrong
	// median of the attempts; null if the cost of any attempt is unknown
	CostMicroUSD  *int64                     `json:"cost_micro_usd"`
	Tokens        int64                      `json:"tokens"`         // median of the attempts
	Roles         map[company.Role]RoleCount `json:"roles"`          // means of the attempts
	CachedShare   *float64                   `json:"cached_share"`   // median of the attempts; null if none were counted
	WallMS        int64                      `json:"wall_ms"`        // median of the attempts
	Requests      int                        `json:"requests"`       // median of the attempts
	CriticalTurns int                        `json:"critical_turns"` // median of the attempts
	// mean precision of the planned write sets; null if none were planned
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"` // mean recall, likewise
}

// Share is a fraction with its 95 % Wilson interval.
type Share struct {
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// CheckReport reports whether cases are valid.
type CheckReport struct {
	SchemaVersion int         `json:"schema_version"`
	Folder        string      `json:"folder"`
	Cases         []CaseCheck `json:"cases"`
}

// CaseCheck reports whether one case is valid.
type CaseCheck struct {
	Name              string `json:"name"`
	RedOnBase         bool   `json:"red_on_base"`
	GreenWithSolution *bool  `json:"green_with_solution"` // null if there is no solution or it was not tested
	Fault             string `json:"fault,omitempty"`
}

// wilsonInterval returns the 95 % Wilson interval of a fraction observed in n trials.
func wilsonInterval(share float64, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963984540054
	trials := float64(n)
	middle := (share + z*z/(2*trials)) / (1 + z*z/trials)
	half := z / (1 + z*z/trials) * math.Sqrt(share*(1-share)/trials+z*z/(4*trials*trials))
	return max(0, middle-half), min(1, middle+half)
}

// newShare returns a fraction observed in n trials.
func newShare(share float64, n int) Share {
	low, high := wilsonInterval(share, n)
	return Share{share, low, high}
}

// summarize sums up the attempts of a case.
func (r *CaseResult) summarize() {
	r.Company.Summary = summarizeAttempts(r.Company.Attempts)
	if r.Solo != nil {
		r.Solo.Summary = summarizeAttempts(r.Solo.Attempts)
	}
}

// summarize sums up all cases, with equal weight.
func (r *Report) summarize() {
	r.Total = summarizeCases(r.Cases, func(c CaseResult) *Result { return &c.Company })
	if slices.ContainsFunc(r.Cases, func(c CaseResult) bool { return c.Solo != nil }) {
		solo := summarizeCases(r.Cases, func(c CaseResult) *Result { return c.Solo })
		r.TotalSolo = &solo
	}
}

// summarizeCases sums up cases. The shares are means over the cases, with the number of cases as the number of trials.
func summarizeCases(cases []CaseResult, of func(CaseResult) *Result) Summary {
	var attempts []Attempt
	var resolved, wrong []float64
	for _, c := range cases {
		if r := of(c); r != nil && len(r.Attempts) > 0 {
			attempts = append(attempts, r.Attempts...)
			resolved = append(resolved, r.Share.Share)
			wrong = append(wrong, r.WrongShare.Share)
		}
	}
	summary := summarizeAttempts(attempts)
	if share := meanOf(resolved); share != nil {
		summary.Share, summary.WrongShare = newShare(*share, len(resolved)), newShare(*meanOf(wrong), len(wrong))
	}
	return summary
}

// summarizeAttempts sums up attempts.
func summarizeAttempts(attempts []Attempt) (summary Summary) {
	var costs, tokens, walls, requests, chains, cached, precision, recall []float64
	summary.Roles = map[company.Role]RoleCount{}
	for _, attempt := range attempts {
		summary.Attempted++
		switch attempt.Verdict {
		case Resolved:
			summary.Resolved++
		case Wrong:
			summary.Wrong++
		}
		if attempt.CostMicroUSD != nil {
			costs = append(costs, float64(*attempt.CostMicroUSD))
		}
		for role, n := range attempt.Roles {
			summary.Roles[role] = summary.Roles[role].add(n)
		}
		tokens = append(tokens, float64(attempt.Tokens))
		walls = append(walls, float64(attempt.WallMS))
		requests = append(requests, float64(attempt.Requests))
		chains = append(chains, float64(attempt.CriticalTurns))
		cached = appendKnown(cached, attempt.CachedShare)
		if attempt.WriteSet != nil {
			precision, recall = appendKnown(precision, attempt.WriteSet.Precision), appendKnown(recall, attempt.WriteSet.Recall)
		}
	}
	summary.Share, summary.WrongShare = newShare(0, 0), newShare(0, 0)
	if n := len(attempts); n > 0 {
		summary.Share, summary.WrongShare = newShare(float64(summary.Resolved)/float64(n), n),
			newShare(float64(summary.Wrong)/float64(n), n)
		summary.WallMS, summary.Tokens = int64(*medianOf(walls)), int64(*medianOf(tokens))
		summary.Requests, summary.CriticalTurns = int(math.Round(*medianOf(requests))), int(math.Round(*medianOf(chains)))
		for role, count := range summary.Roles {
			summary.Roles[role] = count.divide(n)
		}
		if len(costs) == n {
			cost := int64(*medianOf(costs))
			summary.CostMicroUSD = &cost
		}
	}
	summary.CachedShare = medianOf(cached)
	summary.Precision = meanOf(precision)
	summary.Recall = meanOf(recall)
	return summary
}

func appendKnown(to []float64, v *float64) []float64 {
	if v == nil {
		return to
	}
	return append(to, *v)
}

// medianOf returns the median, or nil if there are no numbers.
func medianOf(of []float64) *float64 {
	if len(of) == 0 {
		return nil
	}
	s := slices.Sorted(slices.Values(of))
	mid := s[len(s)/2]
	if len(s)%2 == 0 {
		mid = (mid + s[len(s)/2-1]) / 2
	}
	return &mid
}

// meanOf returns the mean, or nil if there are no numbers.
func meanOf(of []float64) *float64 {
	if len(of) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	sum /= float64(len(of))
	return &sum
}

// RenderText renders the report as text.
func (r Report) RenderText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d × each case", r.Repeat)
	if r.Model != "" {
		b.WriteString(", model " + r.Model)
	}
	b.WriteString("\n\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CASE\tBY\tRESOLVED\t95 %\tWRONG\t95 %\tREQUESTS\tIN A "+
		"CHAIN\tTOKENS\tCACHED\tCOST\tWALL\tPRECISION\tRECALL")
	for _, caseResult := range r.Cases {
		writeRow(table, caseResult.Name, "company", caseResult.Company.Summary)
		if caseResult.Solo != nil {
			writeRow(table, "", "one worker", caseResult.Solo.Summary)
		}
	}
	if len(r.Cases) > 1 {
		writeRow(table, "all", "company", r.Total)
		if r.TotalSolo != nil {
			writeRow(table, "", "one worker", *r.TotalSolo)
		}
	}
	_ = table.Flush() // to memory
	for _, c := range r.Cases {
		fmt.Fprintf(&b, "\n%s, by role: %s", c.Name, c.Company.describeRoles())
	}
	b.WriteByte('\n')
	for _, caseResult := range r.Cases {
		caseResult.Company.writeUnresolved(&b, caseResult.Name)
		if caseResult.Solo != nil {
			caseResult.Solo.writeUnresolved(&b, caseResult.Name+", one worker")
		}
		if caseResult.Fault != "" {
			fmt.Fprintf(&b, "\n%s came to no verdict: %s\n", caseResult.Name, safetext.EscapeLine(caseResult.Fault, 2000))
		}
	}
	if r.Instant {
		b.WriteString("\nThe player's replies took no time: the column wall says nothing.\n")
	}
	b.WriteString("\nWrong: delivered as done, and a hidden test is red. Numbers are medians of the attempts; precision " +
		"and recall of the write sets, and the roles, are means.\n")
	return b.String()
}

// writeRow writes the row of a table.
func writeRow(table io.Writer, name, by string, summary Summary) {
	cost := "-"
	if summary.CostMicroUSD != nil {
		cost = fmt.Sprintf("$%.4f", float64(*summary.CostMicroUSD)/1e6)
	}
	interval := func(s Share) string { return fmt.Sprintf("%.0f-%.0f %%", 100*s.Low, 100*s.High) }
	fmt.Fprintf(table, "%s\t%s\t%d of %d\t%s\t%d\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", name, by, summary.Resolved,
		summary.Attempted,
		interval(summary.Share), summary.Wrong, interval(summary.WrongShare),
		summary.Requests, summary.CriticalTurns, summary.Tokens, percentOf(summary.CachedShare), cost,
		(time.Duration(summary.WallMS) * time.Millisecond).Round(100*time.Millisecond), percentOf(summary.Precision),
		percentOf(summary.Recall))
}

// describeRoles describes the usage of each role in one line.
func (s Summary) describeRoles() string {
	var parts []string
	for _, role := range slices.Sorted(maps.Keys(s.Roles)) {
		roleCount := s.Roles[role]
		parts = append(
			parts, fmt.Sprintf("%s %s, %d tokens (%d cached), $%.4f", role, company.Count(roleCount.Requests, "request"),
				roleCount.Input+roleCount.Output, roleCount.Cached, float64(roleCount.CostMicroUSD)/1e6))
	}
	return strings.Join(parts, "; ")
}

// writeUnresolved writes the reason of each attempt that is not resolved.
func (r Result) writeUnresolved(b *strings.Builder, name string) {
	for n, attempt := range r.Attempts {
		if attempt.Verdict == Resolved {
			continue
		}
		fmt.Fprintf(b, "\n%s, attempt %d: %s: %s", name, n+1, attempt.Verdict, safetext.EscapeLine(attempt.Why, 300))
		for _, test := range attempt.Red {
			fmt.Fprintf(b, "\n  red: %s", safetext.EscapeLine(test, 200))
		}
		b.WriteByte('\n')
	}
}

// percentOf formats a fraction as a percentage, or a dash if it is nil.
func percentOf(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100**share)
}

// RenderText renders the report as text.
func (r CheckReport) RenderText() string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CASE\tON THE BASE\tWITH THE SOLUTION")
	for _, caseCheck := range r.Cases {
		base, solution := "red", "green"
		switch {
		case !caseCheck.RedOnBase:
			base, solution = "-", "-"
		case caseCheck.Fault != "":
			solution = "-"
		case caseCheck.GreenWithSolution == nil:
			solution = "no solution.patch"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", caseCheck.Name, base, solution)
	}
	_ = table.Flush() // to memory
	for _, caseCheck := range r.Cases {
		if caseCheck.Fault != "" {
			fmt.Fprintf(&b, "\n%s\n", safetext.EscapeLine(caseCheck.Fault, 2000))
		}
	}
	return b.String()
}
