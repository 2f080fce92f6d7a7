package work

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
	"company/internal/safetext"
)

// Report is what came of all cases.
type Report struct {
	SchemaVersion int          `json:"schema_version"`
	Time          time.Time    `json:"time"`
	Folder        string       `json:"folder"`           // of the cases
	Model         string       `json:"model,omitempty"`  // profile of all roles, where one was named
	Player        string       `json:"player,omitempty"` // program that stood for it
	Repeat        int          `json:"repeat"`           // attempts of each case
	Cases         []CaseResult `json:"cases"`
	Total         Summary      `json:"total"`
	TotalSolo     *Summary     `json:"total_solo,omitempty"`
}

// CaseResult is what came of one case.
type CaseResult struct {
	Name    string  `json:"name"`
	Company Result  `json:"company"`
	Solo    *Result `json:"solo,omitempty"`  // by one worker, without manager and review
	Fault   string  `json:"fault,omitempty"` // why it ended before its time
}

// Result is what came of the attempts of one case.
type Result struct {
	Summary
	Attempts []Attempt `json:"attempts"`
}

// Summary is what attempts came to. Of the whole, the intervals count cases: the
// repetitions of one case are no new cases.
type Summary struct {
	Resolved      int                        `json:"resolved"`       // attempts
	Wrong         int                        `json:"wrong"`          // attempts that were delivered as done, and are not
	Attempted     int                        `json:"attempted"`      // attempts
	Share         Share                      `json:"share"`          // that was resolved
	WrongShare    Share                      `json:"wrong_share"`    // that was wrong
	CostMicroUSD  *int64                     `json:"cost_micro_usd"` // median of the attempts; null: of one of them it is not known
	Tokens        int64                      `json:"tokens"`         // median of the attempts
	Roles         map[company.Role]RoleCount `json:"roles"`          // means of the attempts
	CachedShare   *float64                   `json:"cached_share"`   // median of the attempts; null: none were counted
	WallMS        int64                      `json:"wall_ms"`        // median of the attempts
	Requests      int                        `json:"requests"`       // median of the attempts
	CriticalTurns int                        `json:"critical_turns"` // median of the attempts
	Precision     *float64                   `json:"precision"`      // of the planned write sets, mean of the attempts; null: none was planned
	Recall        *float64                   `json:"recall"`         // the same
}

// Share is a share with its 95 % interval by Wilson.
type Share struct {
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// CheckReport is whether cases prove something.
type CheckReport struct {
	SchemaVersion int         `json:"schema_version"`
	Folder        string      `json:"folder"`
	Cases         []CaseCheck `json:"cases"`
}

// CaseCheck is whether one case does.
type CaseCheck struct {
	Name              string `json:"name"`
	RedOnBase         bool   `json:"red_on_base"`
	GreenWithSolution *bool  `json:"green_with_solution"` // null: there is no solution, or it was not come to
	Fault             string `json:"fault,omitempty"`
}

// wilsonInterval is the 95 % interval of a share that was seen in n trials.
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

// newShare is a share that was seen in n trials.
func newShare(share float64, n int) Share {
	low, high := wilsonInterval(share, n)
	return Share{share, low, high}
}

// summarize sums the attempts of a case.
func (r *CaseResult) summarize() {
	r.Company.Summary = summarizeAttempts(r.Company.Attempts)
	if r.Solo != nil {
		r.Solo.Summary = summarizeAttempts(r.Solo.Attempts)
	}
}

// summarize sums all cases. Each counts as much as any other.
func (r *Report) summarize() {
	r.Total = summarizeCases(r.Cases, func(c CaseResult) *Result { return &c.Company })
	if slices.ContainsFunc(r.Cases, func(c CaseResult) bool { return c.Solo != nil }) {
		solo := summarizeCases(r.Cases, func(c CaseResult) *Result { return c.Solo })
		r.TotalSolo = &solo
	}
}

// summarizeCases sums cases. Their shares count and no attempts: the mean of the cases, of as many trials
// as there are cases.
func summarizeCases(cases []CaseResult, of func(CaseResult) *Result) Summary {
	var all []Attempt
	var resolved, wrong []float64
	for _, c := range cases {
		if r := of(c); r != nil && len(r.Attempts) > 0 {
			all, resolved, wrong = append(all, r.Attempts...), append(resolved, r.Share.Share), append(wrong, r.WrongShare.Share)
		}
	}
	s := summarizeAttempts(all)
	if share := meanOf(resolved); share != nil {
		s.Share, s.WrongShare = newShare(*share, len(resolved)), newShare(*meanOf(wrong), len(wrong))
	}
	return s
}

// summarizeAttempts sums attempts.
func summarizeAttempts(all []Attempt) (s Summary) {
	var costs, tokens, walls, requests, chains, cached, precision, recall []float64
	s.Roles = map[company.Role]RoleCount{}
	for _, a := range all {
		s.Attempted++
		switch a.Verdict {
		case Resolved:
			s.Resolved++
		case Wrong:
			s.Wrong++
		}
		if a.CostMicroUSD != nil {
			costs = append(costs, float64(*a.CostMicroUSD))
		}
		for role, n := range a.Roles {
			s.Roles[role] = s.Roles[role].add(n)
		}
		tokens, walls, requests, chains = append(tokens, float64(a.Tokens)), append(walls, float64(a.WallMS)), append(requests, float64(a.Requests)), append(chains, float64(a.CriticalTurns))
		cached = appendKnown(cached, a.CachedShare)
		if a.WriteSet != nil {
			precision, recall = appendKnown(precision, a.WriteSet.Precision), appendKnown(recall, a.WriteSet.Recall)
		}
	}
	s.Share, s.WrongShare = newShare(0, 0), newShare(0, 0)
	if n := len(all); n > 0 {
		s.Share, s.WrongShare = newShare(float64(s.Resolved)/float64(n), n), newShare(float64(s.Wrong)/float64(n), n)
		s.WallMS, s.Tokens = int64(*medianOf(walls)), int64(*medianOf(tokens))
		s.Requests, s.CriticalTurns = int(math.Round(*medianOf(requests))), int(math.Round(*medianOf(chains)))
		for role, count := range s.Roles {
			s.Roles[role] = count.divide(n)
		}
		if len(costs) == n {
			cost := int64(*medianOf(costs))
			s.CostMicroUSD = &cost
		}
	}
	s.CachedShare, s.Precision, s.Recall = medianOf(cached), meanOf(precision), meanOf(recall)
	return s
}

func appendKnown(to []float64, v *float64) []float64 {
	if v == nil {
		return to
	}
	return append(to, *v)
}

// medianOf of numbers; nil of none.
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

// meanOf of numbers; nil of none.
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

// RenderText is the report for people.
func (r Report) RenderText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d × each case", r.Repeat)
	if r.Model != "" {
		b.WriteString(", model " + r.Model)
	}
	b.WriteString("\n\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CASE\tBY\tRESOLVED\t95 %\tWRONG\t95 %\tREQUESTS\tIN A CHAIN\tTOKENS\tCACHED\tCOST\tWALL\tPRECISION\tRECALL")
	for _, c := range r.Cases {
		writeRow(table, c.Name, "company", c.Company.Summary)
		if c.Solo != nil {
			writeRow(table, "", "one worker", c.Solo.Summary)
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
	for _, c := range r.Cases {
		c.Company.writeUnresolved(&b, c.Name)
		if c.Solo != nil {
			c.Solo.writeUnresolved(&b, c.Name+", one worker")
		}
		if c.Fault != "" {
			fmt.Fprintf(&b, "\n%s came to no verdict: %s\n", c.Name, safetext.EscapeLine(c.Fault, 2000))
		}
	}
	b.WriteString("\nWrong: delivered as done, and a hidden test is red. Numbers are medians of the attempts; precision and recall of the write sets, and the roles, are means.\n")
	return b.String()
}

// writeRow writes the row of a table.
func writeRow(table io.Writer, name, by string, s Summary) {
	cost := "-"
	if s.CostMicroUSD != nil {
		cost = fmt.Sprintf("$%.4f", float64(*s.CostMicroUSD)/1e6)
	}
	interval := func(s Share) string { return fmt.Sprintf("%.0f-%.0f %%", 100*s.Low, 100*s.High) }
	fmt.Fprintf(table, "%s\t%s\t%d of %d\t%s\t%d\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", name, by, s.Resolved, s.Attempted, interval(s.Share), s.Wrong, interval(s.WrongShare),
		s.Requests, s.CriticalTurns, s.Tokens, percentOf(s.CachedShare), cost, (time.Duration(s.WallMS) * time.Millisecond).Round(100*time.Millisecond), percentOf(s.Precision), percentOf(s.Recall))
}

// describeRoles says in a line what each role took.
func (s Summary) describeRoles() string {
	var parts []string
	for _, role := range slices.Sorted(maps.Keys(s.Roles)) {
		c := s.Roles[role]
		parts = append(parts, fmt.Sprintf("%s %s, %d tokens (%d cached), $%.4f", role, company.Count(c.Requests, "request"), c.Input+c.Output, c.Cached, float64(c.CostMicroUSD)/1e6))
	}
	return strings.Join(parts, "; ")
}

// writeUnresolved says of each attempt that is not resolved why.
func (r Result) writeUnresolved(b *strings.Builder, name string) {
	for n, a := range r.Attempts {
		if a.Verdict == Resolved {
			continue
		}
		fmt.Fprintf(b, "\n%s, attempt %d: %s: %s", name, n+1, a.Verdict, safetext.EscapeLine(a.Why, 300))
		for _, test := range a.Red {
			fmt.Fprintf(b, "\n  red: %s", safetext.EscapeLine(test, 200))
		}
		b.WriteByte('\n')
	}
}

// percentOf is a share for people; a dash where there is none.
func percentOf(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100**share)
}

// RenderText is the report for people.
func (r CheckReport) RenderText() string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CASE\tON THE BASE\tWITH THE SOLUTION")
	for _, c := range r.Cases {
		base, solution := "red", "green"
		switch {
		case !c.RedOnBase:
			base, solution = "-", "-"
		case c.Fault != "":
			solution = "-"
		case c.GreenWithSolution == nil:
			solution = "no solution.patch"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", c.Name, base, solution)
	}
	_ = table.Flush() // to memory
	for _, c := range r.Cases {
		if c.Fault != "" {
			fmt.Fprintf(&b, "\n%s\n", safetext.EscapeLine(c.Fault, 2000))
		}
	}
	return b.String()
}
