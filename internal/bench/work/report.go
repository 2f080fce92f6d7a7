package work

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"company/internal/safetext"
)

// Modes of a run.
const (
	ModeCompany = "company" // as a task, with manager and review
	ModeSolo    = "solo"    // one worker without them
)

// Report is what came of all cases.
type Report struct {
	SchemaVersion int          `json:"schema_version"`
	Time          time.Time    `json:"time"`
	Folder        string       `json:"folder"`          // of the cases
	Mode          string       `json:"mode"`            // company or solo
	Model         string       `json:"model,omitempty"` // profile of all roles, where one was named
	Repeat        int          `json:"repeat"`          // attempts of each case
	Cases         []CaseResult `json:"cases"`
	Total         Summary      `json:"total"`
}

// CaseResult is what came of one case.
type CaseResult struct {
	Name string `json:"name"`
	Summary
	Attempts []Attempt `json:"attempts"`
	Fault    string    `json:"fault,omitempty"` // why it ended before its time
}

// Summary is what attempts came to. Of the whole, Of and the interval count cases: the
// repetitions of one case are no new cases.
type Summary struct {
	Resolved     int      `json:"resolved"`       // attempts
	Attempted    int      `json:"attempted"`      // attempts
	Share        float64  `json:"share"`          // that was resolved; of the whole the mean of the cases
	Low          float64  `json:"low"`            // of the share: its 95 % interval by Wilson
	High         float64  `json:"high"`           //
	CostMicroUSD *int64   `json:"cost_micro_usd"` // of all attempts; null: of one of them it is not known
	Tokens       int64    `json:"tokens"`         // of all attempts
	CachedShare  *float64 `json:"cached_share"`   // median of the attempts; null: none were counted
	WallMS       int64    `json:"wall_ms"`        // median of the attempts
	Turns        int      `json:"turns"`          // median of the attempts
	Precision    *float64 `json:"precision"`      // of the planned write sets, mean of the attempts; null: none was planned
	Recall       *float64 `json:"recall"`         // the same
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

// summarizeAll sums the attempts of a case.
func (r *CaseResult) summarizeAll() {
	r.Summary = summarizeAttempts(r.Attempts)
	if r.Attempted > 0 {
		r.Share = float64(r.Resolved) / float64(r.Attempted)
	}
	r.Low, r.High = wilsonInterval(r.Share, r.Attempted)
}

// summarizeCases sums all cases. Each counts as much as any other.
func summarizeCases(cases []CaseResult) Summary {
	var all []Attempt
	var shares []float64
	for _, c := range cases {
		if len(c.Attempts) > 0 {
			all, shares = append(all, c.Attempts...), append(shares, c.Share)
		}
	}
	s := summarizeAttempts(all)
	if share := meanOf(shares); share != nil {
		s.Share = *share
	}
	s.Low, s.High = wilsonInterval(s.Share, len(shares))
	return s
}

// summarizeAttempts sums attempts, all but the share.
func summarizeAttempts(all []Attempt) (s Summary) {
	var cost int64
	var walls, turns, cached, precision, recall []float64
	known := len(all) > 0
	for _, a := range all {
		s.Attempted++
		if a.Verdict == Resolved {
			s.Resolved++
		}
		if known = known && a.CostMicroUSD != nil; known {
			cost += *a.CostMicroUSD
		}
		s.Tokens += a.Tokens
		walls, turns = append(walls, float64(a.WallMS)), append(turns, float64(a.Turns))
		cached = appendKnown(cached, a.CachedShare)
		if a.WriteSet != nil {
			precision, recall = appendKnown(precision, a.WriteSet.Precision), appendKnown(recall, a.WriteSet.Recall)
		}
	}
	if known {
		s.CostMicroUSD = &cost
	}
	if len(all) > 0 {
		s.WallMS, s.Turns = int64(*medianOf(walls)), int(math.Round(*medianOf(turns)))
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
	of := r.Mode
	if r.Model != "" {
		of += ", model " + r.Model
	}
	fmt.Fprintf(&b, "%s, %d × each case\n\n", of, r.Repeat)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CASE\tRESOLVED\t95 %\tCOST\tTOKENS\tCACHED\tWALL\tTURNS\tPRECISION\tRECALL")
	row := func(name string, s Summary) {
		cost := "-"
		if s.CostMicroUSD != nil {
			cost = fmt.Sprintf("$%.4f", float64(*s.CostMicroUSD)/1e6)
		}
		fmt.Fprintf(table, "%s\t%d of %d\t%.0f-%.0f %%\t%s\t%d\t%s\t%s\t%d\t%s\t%s\n", name, s.Resolved, s.Attempted, 100*s.Low, 100*s.High,
			cost, s.Tokens, percentOf(s.CachedShare), (time.Duration(s.WallMS) * time.Millisecond).Round(100*time.Millisecond), s.Turns, percentOf(s.Precision), percentOf(s.Recall))
	}
	for _, c := range r.Cases {
		row(c.Name, c.Summary)
	}
	if len(r.Cases) > 1 {
		row("all", r.Total)
	}
	_ = table.Flush() // to memory
	before := b.Len()
	for _, c := range r.Cases {
		for n, a := range c.Attempts {
			if a.Verdict == Resolved {
				continue
			}
			fmt.Fprintf(&b, "\n%s, attempt %d: %s: %s", c.Name, n+1, a.Verdict, safetext.EscapeLine(a.Why, 300))
			for _, name := range a.Red {
				fmt.Fprintf(&b, "\n  red: %s", safetext.EscapeLine(name, 200))
			}
		}
	}
	for _, c := range r.Cases {
		if c.Fault != "" {
			fmt.Fprintf(&b, "\n%s came to no verdict: %s", c.Name, safetext.EscapeLine(c.Fault, 2000))
		}
	}
	if b.Len() > before {
		b.WriteByte('\n')
	}
	b.WriteString("\nCost and tokens are of all attempts; wall, turns and cached are medians, precision and recall of the write sets means.\n")
	return b.String()
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
