package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/console"
	"company/internal/entrance"
)

// Options of a run.
type Options struct {
	Program     string           // the company itself, which does the tasks
	Console     *console.Console // its environment and logins are the user's
	ConfigFlags []string         // key=value, above the user's own config
	Model       string           // profile of all roles; empty: as the config has it
	Player      string           // program that stands for the model of all roles, with its arguments; empty: a real one
	Solo        bool             // each case is also done by one worker, without manager and review
	Repeat      int              // attempts of each case; 0: 1
	Only        []string         // names of cases; none: all
	Dir         string           // parent of the temporary files; empty: the system's
	Progress    func(line string)
	Logger      *slog.Logger // nil: silent
}

// bencher is one run of cases.
type bencher struct {
	Options
	dir string
}

// maxRepeat bounds the attempts of a case.
const maxRepeat = 1000

// Run does all cases of a folder, each as often as is asked for, and reports on them. A
// case ends with the first attempt that comes to no verdict, and the report has its fault;
// EInvalid: there is one. Where ctx ends the report has the cases so far.
func Run(ctx context.Context, dir string, o Options) (r Report, err error) {
	b, cases, err := open(dir, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	r = Report{SchemaVersion: 1, Time: time.Now().UTC(), Folder: dir, Model: b.Model, Player: b.Player, Repeat: b.Repeat}
	var faults []string
	for _, c := range cases {
		done, err := b.runCase(ctx, c)
		if err != nil {
			done.Fault = describeFault(err)
			faults = append(faults, c.Name)
		}
		r.Cases = append(r.Cases, done)
		if ctx.Err() != nil {
			break
		}
	}
	r.summarize()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case len(faults) > 0:
		err = faultsError(faults, len(cases))
	}
	return r, err
}

// faultsError is the error for cases that came to an end before their time.
func faultsError(faults []string, of int) error {
	return company.E(company.EInvalid, fmt.Sprintf("%d of %s came to no verdict", len(faults), company.Count(of, "case"))).Because(strings.Join(faults, ", ")).Fix("correct them: the report has the fault of each")
}

// Check proves the cases of a folder without a model: the hidden tests are red on the
// base, and green with the solution where there is one. All cases are looked at, and the
// report has the fault of each; EInvalid: there is one.
func Check(ctx context.Context, dir string, o Options) (r CheckReport, err error) {
	b, cases, err := open(dir, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	r = CheckReport{SchemaVersion: 1, Folder: dir}
	var faults []string
	for _, c := range cases {
		checked, err := b.checkCase(ctx, c)
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if err != nil {
			checked.Fault = describeFault(err)
			faults = append(faults, c.Name)
		}
		r.Cases = append(r.Cases, checked)
	}
	if len(faults) > 0 {
		err = faultsError(faults, len(cases))
	}
	return r, err
}

// describeFault is an error with what to do about it.
func describeFault(err error) string {
	var e *company.Error
	if errors.As(err, &e) && e.Hint != "" {
		return err.Error() + " (" + e.Hint + ")"
	}
	return err.Error()
}

// open reads the cases and makes the folder of a run.
func open(dir string, o Options) (*bencher, []Case, error) {
	if o.Repeat = cmp.Or(o.Repeat, 1); o.Repeat < 1 || o.Repeat > maxRepeat {
		return nil, nil, company.E(company.EUsage, "a case cannot be done so often").Fix(fmt.Sprintf("--repeat 1 to %d", maxRepeat))
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	cases, err := ReadCases(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range o.Only {
		if !slices.ContainsFunc(cases, func(c Case) bool { return c.Name == name }) {
			return nil, nil, company.E(company.ENotFound, "there is no case "+name).Fix("--case takes the name of one: " + listNames(cases))
		}
	}
	if len(o.Only) > 0 {
		cases = slices.DeleteFunc(cases, func(c Case) bool { return !slices.Contains(o.Only, c.Name) })
	}
	b := &bencher{Options: o}
	if b.dir, err = os.MkdirTemp(o.Dir, "company-work-"); err != nil {
		return nil, nil, company.E(company.EConfig, "no folder for the bench can be made").Wrap(err).Fix("name one with --dir")
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
	// notInherited is the variable of the user's environment that an attempt must not
	// have: it names another office.
	notInherited = "COMPANY_OFFICE"
	// stateHome says where the list of trusted files lies. The bench has its own, for
	// the files that it writes.
	stateHome = "XDG_STATE_HOME"
)

// listEnviron is the user's environment for an attempt.
func (b *bencher) listEnviron() []string {
	kept := slices.DeleteFunc(slices.Clone(b.Console.Environ), func(kv string) bool {
		return strings.HasPrefix(kv, notInherited+"=") || strings.HasPrefix(kv, stateHome+"=")
	})
	return append(kept, stateHome+"="+b.stateDir())
}

func (b *bencher) stateDir() string { return filepath.Join(b.dir, "state") }

// lookupEnv looks a variable of listEnviron up.
func (b *bencher) lookupEnv(name string) (string, bool) {
	switch name {
	case notInherited:
		return "", false
	case stateHome:
		return b.stateDir(), true
	}
	return b.Console.LookupEnv(name)
}

// enterOffice is the way into an office of the bench's own, with the user's config and these
// keys above it.
func (b *bencher) enterOffice(office, checkout string, set []string) *entrance.Entrance {
	con := *b.Console
	con.Environ = b.listEnviron()
	con.LookupEnv = b.lookupEnv
	return &entrance.Entrance{Console: &con, OfficeDir: office, RepoDir: checkout, ConfigFlags: set}
}

// openCase makes the repository of a case, and its judge.
func (b *bencher) openCase(ctx context.Context, c Case) (l *lab, judge *officeapp.Judge, err error) {
	if l, err = openLab(ctx, c, filepath.Join(b.dir, c.Name, "lab"), b.Console.Environ); err != nil {
		return nil, nil, err
	}
	office := l.dir + ".office"
	if err := b.writeOffice(office, []byte(officeConfig)); err != nil {
		return nil, nil, err
	}
	ent := b.enterOffice(office, l.dir, b.listSettings())
	paths, _, err := ent.LoadReady(ctx)
	if err != nil {
		return nil, nil, err
	}
	_, loaded, err := ent.LoadReadyProject(ctx, paths, "")
	if err != nil {
		return nil, nil, err
	}
	off, err := ent.OpenOffice(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	if err := off.Close(); err != nil {
		return nil, nil, err
	}
	cfg := loaded.Config
	none := config.Command{Mode: config.None}
	cfg.Gates.Lint, cfg.Gates.Types, cfg.Gates.Build, cfg.Gates.Test = none, none, none, config.Command{Line: c.Run}
	judge, err = officeapp.OpenJudge(ctx, officeapp.TaskImageOptions{
		Paths: paths, Config: cfg, Checkout: l.dir, Base: baseBranch, Env: ent.Console.LookupEnv, Logger: b.Logger, Progress: b.Progress,
	}, c.TestTime)
	return l, judge, err
}

// proveCase finds out whether the hidden tests of a case fail on its base, and pass with its solution. It
// returns the case with the tests that are to stay green.
func (b *bencher) proveCase(ctx context.Context, l *lab, judge *officeapp.Judge) (c Case, r CaseCheck, err error) {
	c, r = l.c, CaseCheck{Name: l.c.Name}
	// Where the hidden tests call functions that are missing, nothing beside them builds: the base tells
	// by itself what is green there.
	b.Progress(c.Name + ": its tests on the base")
	before, err := judge.Judge(ctx, baseBranch)
	if err != nil {
		return c, r, nameCase(c, err)
	}
	b.Progress(c.Name + ": the hidden tests on the base")
	hidden, err := judge.Judge(ctx, hiddenBranch)
	if err != nil {
		return c, r, nameCase(c, err)
	}
	if err := c.checkBase(hidden, before); err != nil {
		return c, r, err
	}
	r.RedOnBase = true
	if c.Solution == nil {
		return c.withGreen(before, nil), r, nil
	}
	b.Progress(c.Name + ": the hidden tests on the solution")
	if err := l.commitSolution(ctx); err != nil {
		return c, r, err
	}
	solution, err := judge.Judge(ctx, solutionBranch)
	if err != nil {
		return c, r, nameCase(c, err)
	}
	if err := c.checkSolution(solution); err != nil {
		return c, r, err
	}
	green := true
	r.GreenWithSolution = &green
	return c.withGreen(before, &solution), r, nil
}

// nameCase says which case an error is of.
func nameCase(c Case, err error) error { return fmt.Errorf("case %s: %w", c.Name, err) }

// checkCase proves one case.
func (b *bencher) checkCase(ctx context.Context, c Case) (r CaseCheck, err error) {
	r = CaseCheck{Name: c.Name}
	l, judge, err := b.openCase(ctx, c)
	if err != nil {
		return r, err
	}
	defer b.closeJudge(ctx, judge, &err)
	_, r, err = b.proveCase(ctx, l, judge)
	return r, err
}

// closeJudge removes the images of a case, and closes its judge.
func (b *bencher) closeJudge(ctx context.Context, judge *officeapp.Judge, err *error, images ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	*err = errors.Join(*err, judge.RemoveImages(ctx, images...))
	judge.Close()
}

// runCase does all attempts of a case.
func (b *bencher) runCase(ctx context.Context, c Case) (r CaseResult, err error) {
	r = CaseResult{Name: c.Name, Company: Result{Attempts: []Attempt{}}}
	if b.Solo {
		r.Solo = &Result{Attempts: []Attempt{}}
	}
	defer func() { r.summarize() }()
	l, judge, err := b.openCase(ctx, c)
	if err != nil {
		return r, err
	}
	var images []string
	defer func() { b.closeJudge(ctx, judge, &err, images...) }()
	if l.c, _, err = b.proveCase(ctx, l, judge); err != nil {
		return r, err
	}
	for n := range b.Repeat {
		for _, into := range []*Result{&r.Company, r.Solo} {
			if into == nil {
				continue
			}
			out, used, err := b.tryCase(ctx, l, judge, n+1, into == r.Solo)
			images = append(images, used)
			if err != nil {
				return r, nameCase(c, err)
			}
			into.Attempts = append(into.Attempts, out)
		}
	}
	return r, nil
}

// tryCase does one attempt of a case. used is the key of the image that it had.
func (b *bencher) tryCase(ctx context.Context, l *lab, judge *officeapp.Judge, n int, solo bool) (out Attempt, used string, err error) {
	name, by := fmt.Sprintf("attempt%d", n), ""
	if solo {
		name, by = name+"-solo", " by one worker"
	}
	at := fmt.Sprintf("%s: attempt %d of %d%s", l.c.Name, n, b.Repeat, by)
	b.Progress(at)
	dir := filepath.Join(b.dir, l.c.Name, name)
	a := &attempt{b: b, l: l, solo: solo, dir: dir, repo: filepath.Join(dir, "repo"), office: filepath.Join(dir, "office")}
	if b.Player != "" {
		models, stop, err := servePlayer(ctx, b.Player, n, []Case{l.c})
		if err != nil {
			return out, "", err
		}
		defer func() { err = errors.Join(err, stop()) }()
		with := *b
		with.Model = playerProfile
		a.b, a.models = &with, models
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if out, used, err = a.run(ctx, judge); err != nil {
		return out, used, err
	}
	b.Progress(at + ": " + strings.TrimSuffix(out.Verdict+", "+out.Why, ", "))
	return out, used, nil
}
