package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	Cases         []TokensCase `json:"cases"`
	Total         Count        `json:"total"`
}

// TokensCase is the token usage of a case.
type TokensCase struct {
	Name string `json:"name"`
	Count
	Roles map[company.Role]Count `json:"roles,omitempty"`
	Fault string                 `json:"fault,omitempty"` // reason why it was not finished
}

// recordedProfile is the profile of the model that plays recorded conversations.
const recordedProfile = "bench-recorded"

// Tokens runs the cases of a folder, and long conversations, with recorded conversations instead of models. It counts
// the tokens that the model's server receives. If a case was not finished, the report has its fault and the error is
// EInvalid.
func Tokens(ctx context.Context, dir string, options Options) (tokensReport TokensReport, err error) {
	bencher, cases, err := open(dir, options)
	if err != nil {
		return tokensReport, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bencher.dir)) }()
	tokensReport = TokensReport{SchemaVersion: 1, Time: time.Now().UTC(), Folder: dir}
	plays := make([]play, len(cases))
	for i, c := range cases {
		if plays[i], err = recordCase(c); err != nil {
			return tokensReport, err
		}
	}
	var faults []string
	for i, c := range cases {
		done, err := bencher.playCase(ctx, c, plays[i])
		if ctx.Err() != nil {
			return tokensReport, context.Cause(ctx)
		}
		if err != nil {
			done.Fault = describeFault(err)
			faults = append(faults, c.Name)
		} else {
			tokensReport.Total = tokensReport.Total.Add(done.Count)
		}
		tokensReport.Cases = append(tokensReport.Cases, done)
	}
	if len(faults) > 0 {
		err = faultsError(faults, len(cases))
	}
	return tokensReport, err
}

// playCase plays a case and counts its tokens.
func (b *bencher) playCase(ctx context.Context, c Case, p play) (done TokensCase, err error) {
	done.Name = c.Name
	l, err := openLab(ctx, c, filepath.Join(b.dir, c.Name, "lab"), b.Environ)
	if err != nil {
		return done, err
	}
	b.Progress(c.Name + ": the recorded conversation")
	model := newCountingModel(p.reply)
	server, err := scripted.NewServer(model) //nolint:contextcheck // the server ends below
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, server.Close()) }() //nolint:contextcheck // also when ctx has ended
	with := *b
	with.Model = recordedProfile
	dir := filepath.Join(b.dir, l.c.Name, "recorded")
	a := &attempt{b: &with, l: l, dir: dir, repo: filepath.Join(dir, "repo"), office: filepath.Join(dir, "office")}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := l.copyBase(ctx, a.repo); err != nil {
		return done, err
	}
	type m = map[string]any
	text, err := json.Marshal(
		m{"version": 1,
			"models": m{recordedProfile: m{"adapter": "openai", "model": "recorded", "base_url": server.URL(),
				"price": m{"input": 0, "output": 0}}}})
	if err != nil {
		return done, err
	}
	if err := with.writeOffice(a.office, text); err != nil {
		return done, err
	}
	sum, _, err := a.submitTask(ctx, append(with.listSettings(), "agents.worker.max_turns=1000", "budget.tokens=none"))
	if err != nil {
		return done, err
	}
	if sum.Status != company.StatusCompleted {
		return done, company.E(company.EInvalid, fmt.Sprintf("the case %s is %s", l.c.Name, sum.Status)).
			Because(safetext.EscapeLine(sum.Why, 500)).Fix("play it alone, with -case, and read the progress")
	}
	done.Roles = model.takeCounts()
	for _, c := range done.Roles {
		done.Count = done.Add(c)
	}
	return done, nil
}

// RenderText renders the report as text.
func (r TokensReport) RenderText() string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "CASE\tREQUESTS\tINPUT\tCACHED\tBILLED\t")
	row := func(name string, c Count) {
		fmt.Fprintf(table, "%s\t%d\t%d\t%.0f %%\t%.0f\t\n", name, c.Requests, c.Input,
			100*float64(c.Cached)/float64(max(1, c.Input)), c.Billed())
	}
	for _, tokensCase := range r.Cases {
		if tokensCase.Fault == "" {
			row(tokensCase.Name, tokensCase.Count)
		}
	}
	if len(r.Cases) > 1 {
		row("all", r.Total)
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
