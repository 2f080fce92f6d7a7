package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/office/config"
)

// Options configure a run.
type Options struct {
	Program  string   // the company program under test
	Environ  []string // the user's environment, with their config and logins
	Settings []string // key=value, overriding the user's own config
	Model    string   // model profile of all roles; empty means as configured
	// program, with arguments, that plays the model of all roles; empty means a real model
	Player   string
	Instant  bool     // the player replies without delay, for runs that do not measure time
	First    int      // number of the first attempt; 0 means 1
	Solo     bool     // also run each case with one worker, without manager and review
	Repeat   int      // attempts of each case; 0 means 1
	Only     []string // names of cases; empty means all
	Dir      string   // parent of the temporary files; empty means the system's
	Progress func(line string)
}

// bencher is one run of cases.
type bencher struct {
	Options
	dir string
}

// maxRepeat limits the attempts of a case.
const maxRepeat = 1000

// Run runs all cases of a folder, each as often as requested, and reports on them. A case ends with its first attempt
// without a verdict. The report then has its fault, and the error is EInvalid. If ctx ends, the report has the cases
// so far.
func Run(ctx context.Context, dir string, o Options) (report Report, err error) {
	bencher, cases, err := open(dir, o)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bencher.dir)) }()
	report = Report{SchemaVersion: 1, Time: time.Now().UTC(), Folder: dir, Model: bencher.Model, Player: bencher.Player,
		Instant: bencher.Instant,
		Repeat:  bencher.Repeat}
	var faults []string
	for _, c := range cases {
		done, err := bencher.runCase(ctx, c)
		if err != nil {
			done.Fault = describeFault(err)
			faults = append(faults, c.Name)
		}
		report.Cases = append(report.Cases, done)
		if ctx.Err() != nil {
			break
		}
	}
	report.summarize()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case len(faults) > 0:
		err = faultsError(faults, len(cases))
	}
	return report, err
}

// faultsError returns the error for cases that ended without a verdict.
func faultsError(faults []string, of int) error {
	return company.E(company.EInvalid, fmt.Sprintf("%d of %s came to no verdict", len(faults), company.Count(of, "case"))).
		Because(strings.Join(faults, ", ")).Fix("correct them: the report has the fault of each")
}

// Check verifies the cases of a folder without a model. The hidden tests must fail on the base, and pass with the
// solution if there is one. All cases are checked, and the report has the fault of each. The error is EInvalid if
// there is a fault.
func Check(ctx context.Context, dir string, o Options) (checkReport CheckReport, err error) {
	bencher, cases, err := open(dir, o)
	if err != nil {
		return checkReport, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bencher.dir)) }()
	checkReport = CheckReport{SchemaVersion: 1, Folder: dir}
	var faults []string
	for _, c := range cases {
		checked, err := bencher.checkCase(ctx, c)
		if ctx.Err() != nil {
			return checkReport, context.Cause(ctx)
		}
		if err != nil {
			checked.Fault = describeFault(err)
			faults = append(faults, c.Name)
		}
		checkReport.Cases = append(checkReport.Cases, checked)
	}
	if len(faults) > 0 {
		err = faultsError(faults, len(cases))
	}
	return checkReport, err
}

// describeFault returns the text of an error with its hint.
func describeFault(err error) string {
	var fault *company.Error
	if errors.As(err, &fault) && fault.Hint != "" {
		return err.Error() + " (" + fault.Hint + ")"
	}
	return err.Error()
}

// open reads the cases and creates the temporary folder of a run.
func open(dir string, options Options) (*bencher, []Case, error) {
	if options.Repeat = cmp.Or(options.Repeat, 1); options.Repeat < 1 || options.Repeat > maxRepeat {
		return nil, nil, company.E(company.EUsage, "a case cannot be done so often").
			Fix(fmt.Sprintf("-repeat 1 to %d", maxRepeat))
	}
	if options.Progress == nil {
		options.Progress = func(string) {}
	}
	var err error
	if options.Program, err = filepath.Abs(options.Program); err != nil {
		return nil, nil, err
	}
	cases, err := ReadCases(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range options.Only {
		if !slices.ContainsFunc(cases, func(c Case) bool { return c.Name == name }) {
			return nil, nil, company.E(company.ENotFound, "there is no case "+name).
				Fix("-case takes the name of one: " + listNames(cases))
		}
	}
	if len(options.Only) > 0 {
		cases = slices.DeleteFunc(cases, func(c Case) bool { return !slices.Contains(options.Only, c.Name) })
	}
	b := &bencher{Options: options}
	if b.dir, err = os.MkdirTemp(options.Dir, "company-work-"); err != nil {
		return nil, nil, company.E(company.EConfig, "no folder for the bench can be made").Wrap(err).
			Fix("name one with -dir")
	}
	return b, cases, nil
}

func listNames(cases []Case) string {
	var names []string
	for _, c := range cases {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

const (
	// notInherited is a variable of the user's environment that an attempt must not inherit, because it names another
	// office.
	notInherited = "COMPANY_OFFICE"
	// stateHome is the variable for the folder of the list of trusted files. The bench uses its own list, for the files
	// that it writes.
	stateHome = "XDG_STATE_HOME"
)

// listEnviron returns the user's environment, adapted for an attempt.
func (b *bencher) listEnviron() []string {
	kept := slices.DeleteFunc(slices.Clone(b.Environ), func(kv string) bool {
		return strings.HasPrefix(kv, notInherited+"=") || strings.HasPrefix(kv, stateHome+"=")
	})
	return append(kept, stateHome+"="+filepath.Join(b.dir, "state"), config.VarEnvironment+"=test") // for soloModel
}

// lookupEnv looks up a variable of listEnviron.
func (b *bencher) lookupEnv(name string) (value string, found bool) {
	for _, pair := range b.listEnviron() {
		if key, text, _ := strings.Cut(pair, "="); key == name {
			value, found = text, true
		}
	}
	return value, found
}

// openCase creates the repository and the judge of a case.
func (b *bencher) openCase(ctx context.Context, c Case) (*lab, *judge, error) {
	l, err := openLab(ctx, c, filepath.Join(b.dir, c.Name, "lab"), b.Environ)
	if err != nil {
		return nil, nil, err
	}
	hiddenTests, err := b.openJudge(ctx, l)
	return l, hiddenTests, err
}

// proveCase checks that the hidden tests of a case fail on its base, and pass with its solution. It returns the case
// with the tests that must stay green.
func (b *bencher) proveCase(
	ctx context.Context, l *lab, judge *judge,
) (c Case, caseCheck CaseCheck, err error) {
	c, caseCheck = l.c, CaseCheck{Name: l.c.Name}
	// If the hidden tests call missing functions, other tests do not build either. So the base alone shows which tests
	// are green there.
	b.Progress(c.Name + ": its tests on the base")
	before, err := judge.run(ctx, baseBranch)
	if err != nil {
		return c, caseCheck, nameCase(c, err)
	}
	b.Progress(c.Name + ": the hidden tests on the base")
	hidden, err := judge.run(ctx, hiddenBranch)
	if err != nil {
		return c, caseCheck, nameCase(c, err)
	}
	if err := c.checkBase(hidden, before); err != nil {
		return c, caseCheck, err
	}
	caseCheck.RedOnBase = true
	if c.Solution == nil {
		return c.withGreen(before, nil), caseCheck, nil
	}
	b.Progress(c.Name + ": the hidden tests on the solution")
	if err := l.commitSolution(ctx); err != nil {
		return c, caseCheck, err
	}
	solution, err := judge.run(ctx, solutionBranch)
	if err != nil {
		return c, caseCheck, nameCase(c, err)
	}
	if err := c.checkSolution(solution); err != nil {
		return c, caseCheck, err
	}
	green := true
	caseCheck.GreenWithSolution = &green
	return c.withGreen(before, &solution), caseCheck, nil
}

// nameCase adds the name of a case to an error.
func nameCase(c Case, err error) error { return fmt.Errorf("case %s: %w", c.Name, err) }

// checkCase checks one case.
func (b *bencher) checkCase(ctx context.Context, c Case) (caseCheck CaseCheck, err error) {
	caseCheck = CaseCheck{Name: c.Name}
	lab, judge, err := b.openCase(ctx, c)
	if err != nil {
		return caseCheck, err
	}
	defer func() { err = errors.Join(err, judge.close()) }()
	_, caseCheck, err = b.proveCase(ctx, lab, judge)
	return caseCheck, err
}

// runCase runs all attempts of a case.
func (b *bencher) runCase(ctx context.Context, c Case) (caseResult CaseResult, err error) {
	caseResult = CaseResult{Name: c.Name, Company: Result{Attempts: []Attempt{}}}
	if b.Solo {
		caseResult.Solo = &Result{Attempts: []Attempt{}}
	}
	defer func() { caseResult.summarize() }()
	lab, judge, err := b.openCase(ctx, c)
	if err != nil {
		return caseResult, err
	}
	defer func() { err = errors.Join(err, judge.close()) }()
	if lab.c, _, err = b.proveCase(ctx, lab, judge); err != nil {
		return caseResult, err
	}
	for n := range b.Repeat {
		for _, into := range []*Result{&caseResult.Company, caseResult.Solo} {
			if into == nil {
				continue
			}
			out, err := b.tryCase(ctx, lab, judge, max(1, b.First)+n, into == caseResult.Solo)
			if err != nil {
				return caseResult, nameCase(c, err)
			}
			into.Attempts = append(into.Attempts, out)
		}
	}
	return caseResult, nil
}

// tryCase runs one attempt of a case.
func (b *bencher) tryCase(
	ctx context.Context, l *lab, judge *judge, n int, solo bool,
) (out Attempt, err error) {
	name, by := fmt.Sprintf("attempt%d", n), ""
	if solo {
		name, by = name+"-solo", " by one worker"
	}
	at := fmt.Sprintf("%s: attempt %d of %d%s", l.c.Name, n, max(1, b.First)+b.Repeat-1, by)
	b.Progress(at)
	dir := filepath.Join(b.dir, l.c.Name, name)
	a := &attempt{b: b, l: l, solo: solo, dir: dir, repo: filepath.Join(dir, "repo"), office: filepath.Join(dir, "office")}
	if b.Player != "" {
		models, stop, err := servePlayer(ctx, b.Player, n, b.Instant, []Case{l.c})
		if err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		with := *b
		with.Model = playerProfile
		a.b, a.models = &with, models
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if out, err = a.run(ctx, judge); err != nil {
		return out, err
	}
	b.Progress(at + ": " + strings.TrimSuffix(out.Verdict+", "+out.Why, ", "))
	return out, nil
}
