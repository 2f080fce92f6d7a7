package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/safetext"
)

// TokensReport is what recorded conversations cost, by case.
type TokensReport struct {
	SchemaVersion int          `json:"schema_version"`
	Time          time.Time    `json:"time"`
	Folder        string       `json:"folder"`
	Before        string       `json:"before,omitempty"` // program of an older version; empty: none was compared
	Cases         []TokensCase `json:"cases"`
	Total         TokensCase   `json:"total"`
}

// TokensCase is what one case cost. Before is nil where no program is compared.
type TokensCase struct {
	Name   string       `json:"name"`
	Before *TokensCount `json:"before,omitempty"`
	Now    TokensCount  `json:"now"`
	Fault  string       `json:"fault,omitempty"` // why it was not finished
}

// TokensCount is the count of one attempt.
type TokensCount struct {
	Count
	Roles map[company.Role]Count `json:"roles,omitempty"`
}

// recordedProfile is the profile of the model that plays.
const recordedProfile = "bench-recorded"

// Recorded are the options of recorded conversations.
type Recorded struct {
	On     bool
	Before string // program of another version, which is played the same; empty: none
	Long   []int  // turns of the long conversations; 0: none
}

// CheckFlags refuses flags that do not go together, as EUsage; changed tells which are given.
func CheckFlags(check bool, r Recorded, changed func(name string) bool) error {
	for _, name := range []string{"model", "player", "solo", "repeat"} {
		if check && changed(name) {
			return company.E(company.EUsage, "--check and --"+name+" at once").Because("a check asks no model").Fix("leave one of them out")
		}
	}
	for _, name := range []string{"model", "player", "solo", "repeat", "check"} {
		if r.On && changed(name) {
			return company.E(company.EUsage, "--recorded and --"+name+" at once").Because("a recorded conversation is played once, without a model").Fix("leave one of them out")
		}
	}
	for _, name := range []string{"before", "long"} {
		if !r.On && changed(name) {
			return company.E(company.EUsage, "--"+name+" without --recorded").Fix("add --recorded")
		}
	}
	for _, n := range r.Long {
		if n != 0 && (n < 10 || n > 900) {
			return company.E(company.EUsage, fmt.Sprintf("a conversation of %d turns cannot be played", n)).Fix("--long takes numbers from 10 to 900, or 0")
		}
	}
	return nil
}

// Tokens does the cases of a folder, and long conversations, with recorded conversations
// in place of models, and counts the tokens that the model's server sees. EInvalid: a case
// was not finished, and the report has its fault.
func Tokens(ctx context.Context, dir string, rec Recorded, o Options) (r TokensReport, err error) {
	before := rec.Before
	if before != "" {
		if before, err = filepath.Abs(before); err != nil {
			return r, company.E(company.EUsage, "the program of --before cannot be found").Wrap(err)
		}
	}
	long := slices.DeleteFunc(slices.Clone(rec.Long), func(n int) bool { return n == 0 })
	b, cases, err := open(dir, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	r = TokensReport{SchemaVersion: 1, Time: time.Now().UTC(), Folder: dir, Before: before, Total: TokensCase{Name: "all"}}
	plays := make([]play, len(cases))
	for i, c := range cases {
		if plays[i], err = recordCase(c); err != nil {
			return r, err
		}
	}
	for _, turns := range long {
		c, p, err := makeLongCase(filepath.Join(b.dir, fmt.Sprintf("long-%d.case", turns)), turns)
		if err != nil {
			return r, err
		}
		cases, plays = append(cases, c), append(plays, p)
	}
	var faults []string
	for i, c := range cases {
		done, err := b.playCase(ctx, c, plays[i], before)
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if err != nil {
			done.Fault = describeFault(err)
			faults = append(faults, c.Name)
		} else {
			r.Total.addCase(done)
		}
		r.Cases = append(r.Cases, done)
	}
	if len(faults) > 0 {
		err = faultsError(faults, len(cases))
	}
	return r, err
}

// addCase adds a case to a sum.
func (t *TokensCase) addCase(c TokensCase) {
	t.Now.Count = t.Now.Add(c.Now.Count)
	if c.Before == nil {
		return
	}
	if t.Before == nil {
		t.Before = &TokensCount{}
	}
	t.Before.Count = t.Before.Add(c.Before.Count)
}

// playCase does one case with each program.
func (b *bencher) playCase(ctx context.Context, c Case, p play, before string) (done TokensCase, err error) {
	done.Name = c.Name
	l, err := openLab(ctx, c, filepath.Join(b.dir, c.Name, "lab"), b.Console.Environ)
	if err != nil {
		return done, err
	}
	if before != "" {
		n, err := b.playWith(ctx, before, "before", l, p)
		if err != nil {
			return done, err
		}
		done.Before = &n
	}
	done.Now, err = b.playWith(ctx, b.Program, "now", l, p)
	return done, err
}

// playWith does a case with a program, and counts.
func (b *bencher) playWith(ctx context.Context, program, name string, l *lab, p play) (n TokensCount, err error) {
	b.Progress(fmt.Sprintf("%s: the recorded conversation, %s", l.c.Name, name))
	model := newCountingModel(p.reply)
	server, err := scripted.NewServer(model) //nolint:contextcheck // the server ends below
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, server.Close()) }() //nolint:contextcheck // also when ctx has ended
	with := *b
	with.Program, with.Model = program, recordedProfile
	dir := filepath.Join(b.dir, l.c.Name, name)
	a := &attempt{b: &with, l: l, dir: dir, repo: filepath.Join(dir, "repo"), office: filepath.Join(dir, "office")}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := l.copyBase(ctx, a.repo); err != nil {
		return n, err
	}
	type m = map[string]any
	text, err := json.Marshal(m{"version": 1, "models": m{recordedProfile: m{"adapter": "openai", "model": "recorded", "base_url": server.URL(), "price": m{"input": 0, "output": 0}}}})
	if err != nil {
		return n, err
	}
	if err := with.writeOffice(a.office, text); err != nil {
		return n, err
	}
	sum, _, err := a.submitTask(ctx, append(with.listSettings(), "agents.worker.max_turns=1000", "budget.tokens=none"))
	if err != nil {
		return n, err
	}
	if sum.Status != company.StatusCompleted {
		return n, company.E(company.EInvalid, fmt.Sprintf("the case %s is %s, %s", l.c.Name, sum.Status, name)).Because(safetext.EscapeLine(sum.Why, 500)).Fix("play it alone, with --case, and read the progress")
	}
	n.Roles = model.takeCounts()
	for _, c := range n.Roles {
		n.Count = n.Add(c)
	}
	return n, nil
}

// RenderText is the report for people.
func (r TokensReport) RenderText() string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	ratio := func(now, before float64) string {
		if before == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", now/before)
	}
	if r.Before == "" {
		fmt.Fprintln(table, "CASE\tREQUESTS\tINPUT\tCACHED\tBILLED\t")
	} else {
		fmt.Fprintln(table, "CASE\tREQUESTS\tINPUT BEFORE\tNOW\tRATIO\tCACHED BEFORE\tNOW\tBILLED BEFORE\tNOW\tRATIO\t")
	}
	row := func(c TokensCase) {
		share := func(n Count) string { return fmt.Sprintf("%.0f %%", 100*float64(n.Cached)/float64(max(1, n.Input))) }
		if c.Before == nil {
			fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%.0f\t\n", c.Name, c.Now.Requests, c.Now.Input, share(c.Now.Count), c.Now.Billed())
			return
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%.0f\t%.0f\t%s\t\n", c.Name, c.Now.Requests, c.Before.Input, c.Now.Input, ratio(float64(c.Now.Input), float64(c.Before.Input)),
			share(c.Before.Count), share(c.Now.Count), c.Before.Billed(), c.Now.Billed(), ratio(c.Now.Billed(), c.Before.Billed()))
	}
	for _, c := range r.Cases {
		if c.Fault == "" {
			row(c)
		}
	}
	if len(r.Cases) > 1 {
		row(r.Total)
	}
	_ = table.Flush() // to memory
	for _, c := range r.Cases {
		if c.Fault != "" {
			fmt.Fprintf(&b, "\n%s was not finished: %s\n", c.Name, safetext.EscapeLine(c.Fault, 2000))
		}
	}
	b.WriteString("\nTokens as the model's server sees them, four bytes each. Billed: a cached token counts a tenth.\n")
	return b.String()
}
