package foreground

import (
	"context"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/surface/diagnose"
	"company/internal/surface/officeaccess"
)

// FixedLine is a proposed config line and its result.
type FixedLine struct {
	company.ConfigLine
	State string `json:"state"` // written, declined, or kept if its key is set already
	Diff  string `json:"diff,omitempty"`
	Note  string `json:"note,omitempty"`
}

// FixLines writes the config lines that the checks propose, each after a yes. It writes to the
// user's own file for the checkout, or with project to its company.yaml. If a line cannot be
// written, the lines before it stay written, because each is an independent fix.
func FixLines(
	ctx context.Context, ent *officeaccess.Entrance, options diagnose.Options, project bool,
) ([]FixedLine, error) {
	checking, cancel := context.WithTimeout(ctx, options.Timeout())
	defer cancel()
	subject := ent.Subject(checking)
	switch {
	case subject.CheckoutErr != nil:
		return nil, subject.CheckoutErr
	case subject.ConfigErr != nil:
		return nil, subject.ConfigErr
	}
	done := []FixedLine{}
	for _, l := range diagnose.ProposedLines(diagnose.Run(checking, ent.Checker().Checks(subject, options))) {
		one, err := fixLine(ctx, ent, subject, project, l)
		if err != nil {
			return nil, err
		}
		if one.State != "" {
			done = append(done, one)
		}
	}
	return done, nil
}

// fixLine shows a line as a diff of its file, and writes it after a yes. The state is empty if the
// setting already applies.
func fixLine(
	ctx context.Context, ent *officeaccess.Entrance, subject diagnose.Subject, project bool, configLine company.ConfigLine,
) (FixedLine, error) {
	con := ent.Console
	show := func(format string, args ...any) {
		if con.Output != "json" {
			fmt.Fprintf(con.Out, format, args...)
		}
	}
	plan, err := ent.PlanLine(ctx, subject.Paths, subject.Checkout, project, configLine)
	one := FixedLine{ConfigLine: plan.Line, Diff: plan.Diff}
	switch {
	case company.CodeOf(err) == company.EConflict:
		result := diagnose.ErrorResult(err)
		one.ConfigLine = configLine
		one.State = "kept"
		one.Note = result.Found
		show("%s: %s\n", configLine.Key, safetext.EscapeLine(result.Found+"; "+result.Fix, 600))
		return one, nil
	case err != nil || plan.Holds:
		return one, err
	}
	show("%s", safetext.Escape(plan.Diff))
	if configLine.Why != "" {
		show("  since %s\n", safetext.EscapeLine(configLine.Why, 300))
	}
	if !con.Yes {
		again := "company doctor --fix --yes"
		if project {
			again = "company doctor --fix --project --yes"
		}
		if !con.CanPrompt() {
			return one, company.E(company.EWaiting, configLine.Key+" was not written").
				Because("there is no terminal to ask on").Fix(again)
		}
		yes, err := con.Confirm(ctx, "write it? [y/N] ")
		if err != nil {
			return one, err
		}
		if !yes {
			one.State = "declined"
			show("not written\n")
			return one, nil
		}
	}
	requests, err := ent.WriteLine(ctx, plan)
	if err != nil {
		return one, err
	}
	one.State = "written"
	if len(requests) > 0 {
		var keys []string
		for _, r := range requests {
			keys = append(keys, r.Key)
		}
		one.Note = "it needs your trust (" + strings.Join(keys, ", ") + "): run company trust"
		show("written; %s\n", one.Note)
		return one, nil
	}
	show("written: it applies to new tasks\n")
	return one, nil
}
