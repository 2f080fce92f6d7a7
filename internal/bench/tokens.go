package bench

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
	"company/internal/lib/safetext"
)

// TokensReport is the token usage of recorded conversations, by case.
type TokensReport struct {
	SchemaVersion int          `json:"schema_version"`
	Time          time.Time    `json:"time"`
	Folder        string       `json:"folder"`
	Before        string       `json:"before,omitempty"` // program of an older version, if one was compared
	Cases         []TokensCase `json:"cases"`
	Total         TokensCase   `json:"total"`
}

// TokensCase is the token usage of a case. Before is nil if no program is compared.
type TokensCase struct {
	Name   string       `json:"name"`
	Before *TokensCount `json:"before,omitempty"`
	Now    TokensCount  `json:"now"`
	Fault  string       `json:"fault,omitempty"` // reason why it was not finished
}

// TokensCount is the usage of one attempt.
type TokensCount struct {
	Count
	Roles map[company.Role]Count `json:"roles,omitempty"`
}

// recordedProfile is the profile of the model that plays recorded conversations.
const recordedProfile = "bench-recorded"

// Recorded are the options for recorded conversations.
type Recorded struct {
	On     bool
	Before string // program of another version to compare, if any
	Long   []int  // turns of each long conversation; 0 means none
}

// CheckFlags refuses flags that cannot be combined, as EUsage. changed reports whether a flag was given.
func CheckFlags(check bool, recorded Recorded, changed func(name string) bool) error {
	for _, name := range []string{"model", "player", "solo", "repeat", "first"} {
		if check && changed(name) {
			return company.E(company.EUsage, "--check and --"+name+" at once").Because("a check asks no model").
				Fix("leave one of them out")
		}
	}
	for _, name := range []string{"model", "player", "solo", "repeat", "first", "check"} {
		if recorded.On && changed(name) {
			return company.E(company.EUsage, "--recorded and --"+name+" at once").
				Because("a recorded conversation is played once, without a model").Fix("leave one of them out")
		}
	}
	if changed("instant") && !changed("player") {
		return company.E(company.EUsage, "--instant without --player").Because("a model takes its time").
			Fix("add --player, or leave it out")
	}
	for _, name := range []string{"before", "long"} {
		if !recorded.On && changed(name) {
			return company.E(company.EUsage, "--"+name+" without --recorded").Fix("add --recorded")
		}
	}
	for _, n := range recorded.Long {
		if n != 0 && (n < 10 || n > 900) {
			return company.E(company.EUsage, fmt.Sprintf("a conversation of %d turns cannot be played", n)).
				Fix("--long takes numbers from 10 to 900, or 0")
		}
	}
	return nil
}

// Tokens runs the cases of a folder, and long conversations, with recorded conversations instead of models. It counts
// the tokens that the model's server receives. If a case was not finished, the report has its fault and the error is
// EInvalid.
func Tokens(ctx context.Context, dir string, rec Recorded, options Options) (tokensReport TokensReport, err error) {
	before := rec.Before
	if before != "" {
		if before, err = filepath.Abs(before); err != nil {
			return tokensReport, company.E(company.EUsage, "the program of --before cannot be found").Wrap(err)
		}
	}
	long := slices.DeleteFunc(slices.Clone(rec.Long), func(n int) bool { return n == 0 })
	bencher, cases, err := open(dir, options)
	if err != nil {
		return tokensReport, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bencher.dir)) }()
	tokensReport = TokensReport{SchemaVersion: 1, Time: time.Now().UTC(), Folder: dir, Before: before,
		Total: TokensCase{Name: "all"}}
	plays := make([]play, len(cases))
	for i, c := range cases {
		if plays[i], err = recordCase(c); err != nil {
			return tokensReport, err
		}
	}
	for _, turns := range long {
		c, p, err := makeLongCase(filepath.Join(bencher.dir, fmt.Sprintf("long-%d.case", turns)), turns)
		if err != nil {
			return tokensReport, err
		}
		cases, plays = append(cases, c), append(plays, p)
	}
	var faults []string
	for i, c := range cases {
		done, err := bencher.playCase(ctx, c, plays[i], before)
		if ctx.Err() != nil {
			return tokensReport, context.Cause(ctx)
		}
		if err != nil {
			done.Fault = describeFault(err)
			faults = append(faults, c.Name)
		} else {
			tokensReport.Total.addCase(done)
		}
		tokensReport.Cases = append(tokensReport.Cases, done)
	}
	if len(faults) > 0 {
		err = faultsError(faults, len(cases))
	}
	return tokensReport, err
}

// addCase adds a case to a sum.
func (t *TokensCase) addCase(tokensCase TokensCase) {
	t.Now.Count = t.Now.Add(tokensCase.Now.Count)
	if tokensCase.Before == nil {
		return
	}
	if t.Before == nil {
		t.Before = &TokensCount{}
	}
	t.Before.Count = t.Before.Add(tokensCase.Before.Count)
}

// playCase plays a case with each program.
func (b *bencher) playCase(ctx context.Context, c Case, p play, before string) (done TokensCase, err error) {
	done.Name = c.Name
	lab, err := openLab(ctx, c, filepath.Join(b.dir, c.Name, "lab"), b.Console.Environ)
	if err != nil {
		return done, err
	}
	if before != "" {
		tokensCount, err := b.playWith(ctx, before, "before", lab, p)
		if err != nil {
			return done, err
		}
		done.Before = &tokensCount
	}
	done.Now, err = b.playWith(ctx, b.Program, "now", lab, p)
	return done, err
}

// playWith plays a case with one program and counts its tokens.
func (b *bencher) playWith(
	ctx context.Context, program, name string, l *lab, p play,
) (tokensCount TokensCount, err error) {
	b.Progress(fmt.Sprintf("%s: the recorded conversation, %s", l.c.Name, name))
	model := newCountingModel(p.reply)
	server, err := scripted.NewServer(model) //nolint:contextcheck // the server ends below
	if err != nil {
		return tokensCount, err
	}
	defer func() { err = errors.Join(err, server.Close()) }() //nolint:contextcheck // also when ctx has ended
	with := *b
	with.Program, with.Model = program, recordedProfile
	dir := filepath.Join(b.dir, l.c.Name, name)
	a := &attempt{b: &with, l: l, dir: dir, repo: filepath.Join(dir, "repo"), office: filepath.Join(dir, "office")}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := l.copyBase(ctx, a.repo); err != nil {
		return tokensCount, err
	}
	type m = map[string]any
	text, err := json.Marshal(
		m{"version": 1,
			"models": m{recordedProfile: m{"adapter": "openai", "model": "recorded", "base_url": server.URL(),
				"price": m{"input": 0, "output": 0}}}})
	if err != nil {
		return tokensCount, err
	}
	if err := with.writeOffice(a.office, text); err != nil {
		return tokensCount, err
	}
	sum, _, err := a.submitTask(ctx, append(with.listSettings(), "agents.worker.max_turns=1000", "budget.tokens=none"))
	if err != nil {
		return tokensCount, err
	}
	if sum.Status != company.StatusCompleted {
		return tokensCount, company.E(company.EInvalid, fmt.Sprintf("the case %s is %s, %s", l.c.Name, sum.Status, name)).
			Because(safetext.EscapeLine(sum.Why, 500)).Fix("play it alone, with --case, and read the progress")
	}
	tokensCount.Roles = model.takeCounts()
	for _, c := range tokensCount.Roles {
		tokensCount.Count = tokensCount.Add(c)
	}
	return tokensCount, nil
}

// RenderText renders the report as text.
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
	row := func(tokensCase TokensCase) {
		share := func(n Count) string { return fmt.Sprintf("%.0f %%", 100*float64(n.Cached)/float64(max(1, n.Input))) }
		if tokensCase.Before == nil {
			fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%.0f\t\n", tokensCase.Name, tokensCase.Now.Requests, tokensCase.Now.Input,
				share(tokensCase.Now.Count),
				tokensCase.Now.Billed())
			return
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%.0f\t%.0f\t%s\t\n", tokensCase.Name, tokensCase.Now.Requests,
			tokensCase.Before.Input,
			tokensCase.Now.Input, ratio(float64(tokensCase.Now.Input), float64(tokensCase.Before.Input)),
			share(tokensCase.Before.Count), share(tokensCase.Now.Count), tokensCase.Before.Billed(), tokensCase.Now.Billed(),
			ratio(tokensCase.Now.Billed(), tokensCase.Before.Billed()))
	}
	for _, tokensCase := range r.Cases {
		if tokensCase.Fault == "" {
			row(tokensCase)
		}
	}
	if len(r.Cases) > 1 {
		row(r.Total)
	}
	_ = table.Flush() // to memory
	for _, tokensCase := range r.Cases {
		if tokensCase.Fault != "" {
			fmt.Fprintf(&b, "\n%s was not finished: %s\n", tokensCase.Name, safetext.EscapeLine(tokensCase.Fault, 2000))
		}
	}
	b.WriteString("\nTokens as the model's server sees them, four bytes each. Billed: a cached token counts a tenth.\n")
	return b.String()
}
