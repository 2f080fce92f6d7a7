// Package cli is the commands of company and the wiring behind them. It owns
// what a person types and reads: flags, the feed, the summary, exit codes. A
// command takes the office's lock and does its work itself, or speaks to the
// process that holds it; it decides nothing about tasks.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"company/internal/clock"
	"company/internal/company"
	"company/internal/config"
	"company/internal/safetext"
)

// Version of the program; set at build time.
var Version = "0.1.0"

// Exit codes.
const (
	exitComplete   = 0
	exitError      = 1
	exitIncomplete = 2 // waiting for you, partial, cancelled; of doctor: could not check
	exitHeld       = 3 // the office is held by a process that does not answer
	exitUsage      = 64
	exitInterrupt  = 130
	exitPipe       = 141 // the reader closed early; a shell's code for SIGPIPE
)

// errInterrupted is why the context of a command ends.
var errInterrupted = errors.New("interrupted")

// errTerminated is errInterrupted by SIGTERM: a supervisor wants the process to
// end.
var errTerminated = fmt.Errorf("terminated: %w", errInterrupted)

// exitCode carries a code other than 1 out of a command. Without an error in it
// everything is printed already.
type exitCode struct {
	code int
	err  error
}

func (e *exitCode) Error() string {
	if e.err != nil {
		return e.err.Error()
	}
	return fmt.Sprintf("exit %d", e.code)
}
func (e *exitCode) Unwrap() error { return e.err }

// app is what every command has: its streams, its flags, its logger.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) (string, bool)
	environ  []string // all of it; nil: only env is looked at

	officeDir   string
	repoDir     string
	output      string // text | json
	json        bool
	quiet       bool
	verbose     bool
	noColor     bool
	noInput     bool
	yes         bool
	configFlags []string // key=value of the config

	configs map[[2]string]config.Loaded // that were read, by office and project

	reportsWork bool // the result reports work: it must not be lost

	clocks clock.Sources // of the machine; zero: of this one

	log      *slog.Logger
	keyboard *keyboard // of in, once something was asked
}

// wallTime is what the wall clock says.
func (a *app) wallTime() time.Time {
	if a.clocks.Wall != nil {
		return a.clocks.Wall()
	}
	return time.Now()
}

// Main runs one command line and returns the exit code.
func Main(args []string) int { return MainAt(clock.Machine(), args) }

// MainAt is Main on a machine with these clocks.
func MainAt(clocks clock.Sources, args []string) int {
	ctx, cancel := withInterrupt(context.Background())
	defer cancel()
	// A reader that goes away is an error of the write, not a sudden death in
	// the middle of the work. (To ignore the signal would be inherited by git.)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.LookupEnv, environ: os.Environ(), clocks: clocks}
	return a.main(ctx, args)
}

// withInterrupt is a context that the first interrupt ends. The second one
// ends the process at once: a restart needs nothing to be cleaned up.
func withInterrupt(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	// A terminal that is closed ends the work as SIGTERM does. A process under
	// nohup does not get it.
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(interrupts, syscall.SIGHUP)
	}
	go func() { // it ends with the process
		if sig := <-interrupts; sig == syscall.SIGTERM || sig == syscall.SIGHUP {
			cancel(errTerminated)
		}
		cancel(errInterrupted)
		<-interrupts
		os.Exit(exitInterrupt)
	}()
	return ctx, func() { cancel(nil) }
}

func (a *app) main(ctx context.Context, args []string) int {
	out := &stdoutWriter{w: a.out}
	a.out = out
	root := newRoot(a)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		a.json = a.json || asksForJSON(args) // the flags behind the wrong one were not read
		return flagError(c, err)
	})
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	switch {
	case out.err == nil || ctx.Err() != nil:
	case errors.Is(out.err, syscall.EPIPE) && !a.reportsWork:
		return exitPipe // the reader has seen enough
	default:
		err = company.E(company.EOutput, "the result could not be written to stdout").Wrap(out.err).Fix("see what became of the program that reads it")
	}
	return a.reportError(ctx, err)
}

// stdoutWriter is stdout. It remembers the first write that went wrong, so that
// a command whose result was lost does not end with success.
type stdoutWriter struct {
	w   io.Writer
	err error
}

func (r *stdoutWriter) Write(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.w.Write(p)
	r.err = err
	return n, err
}

// reportError shows an error and turns it into an exit code.
func (a *app) reportError(ctx context.Context, err error) int {
	if err == nil {
		return exitComplete
	}
	var ec *exitCode
	if errors.As(err, &ec) {
		if ec.err != nil {
			a.showError(ec.err)
		}
		return ec.code
	}
	if ctx.Err() != nil {
		return exitInterrupt
	}
	a.showError(err)
	switch company.CodeOf(err) {
	case company.EUsage:
		return exitUsage
	case company.EHeld:
		return exitHeld
	}
	return exitError
}

func newRoot(a *app) *cobra.Command {
	root := commandGroup("company", "A software company in one binary: you give an instruction, agents do the work, you review the pull request", `  company submit "add rate limiting to the API"
  company status
  company pr show 1`)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.applyFlags() }
	root.CompletionOptions.DisableDefaultCmd = true // ours is newCompletion
	root.SetHelpTemplate(helpTemplate)
	root.SetHelpCommand(newHelp())
	printHelp(a, root)
	var version bool
	root.Flags().BoolVar(&version, "version", false, "print the version")
	help := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if version {
			return a.runVersion()
		}
		return help(c, args)
	}
	f := root.PersistentFlags()
	f.StringVar(&a.officeDir, "office", "", "folder of the office (default: the nearest company.yaml, else .company in this repository)")
	f.StringVarP(&a.repoDir, "repo", "R", "", "git checkout to work on (default: the one you stand in)")
	f.StringVarP(&a.output, "output", "o", "text", "text or json")
	f.BoolVar(&a.json, "json", false, "the same as -o json")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "more: details of errors, the log on stderr")
	f.BoolVar(&a.noColor, "no-color", false, "no colour")
	f.BoolVar(&a.noInput, "no-input", false, "never ask on the terminal")
	f.BoolVar(&a.yes, "yes", false, "answer yes to what is asked before the work begins: the plan, no gates; and to company trust and company reject")
	f.StringArrayVar(&a.configFlags, "set", nil, "set a key of the config: --set workers.max=5")
	root.AddCommand(
		newSubmit(a), newServe(a), newStatus(a), newFeed(a), newShow(a), newLogs(a), newDiff(a),
		newAnswer(a), newApprove(a), newReject(a), newStop(a), newPause(a), newResume(a), newCancel(a), newAgents(a), newHire(a), newFire(a), newBudget(a), newPR(a),
		newProject(a), newCleanup(a), newImage(a),
		newInit(a), newTrust(a), newConfig(a), newGit(a), newDoctor(a), newBench(a), newVersion(a), newCompletion(),
	)
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	for _, c := range root.Commands() {
		usageErrors(c)
	}
	return root
}

// applyFlags checks what all commands share.
func (a *app) applyFlags() error {
	if a.json {
		a.output = "json"
	}
	if a.output != "text" && a.output != "json" {
		return company.E(company.EUsage, fmt.Sprintf("there is no output %q", a.output)).Fix("-o text or -o json")
	}
	level := slog.LevelError + 4 // silent
	if a.verbose {
		level = slog.LevelDebug
	}
	a.log = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	return nil
}

// showError prints an error as people and programs read it. What it says may
// come from a repository or a model: nothing in it steers the terminal.
func (a *app) showError(err error) {
	var e *company.Error
	if !errors.As(err, &e) {
		e = company.E(company.EInternal, err.Error())
	}
	if e.Why == "" && e.Err != nil {
		e = e.Because(e.Err.Error())
	}
	if a.output == "json" || a.json {
		told := struct {
			*company.Error
			Fix string `json:"fix,omitempty"` // the name in text output and in doctor; hint is its older name
		}{e, e.Hint}
		_ = a.printJSON(a.err, map[string]any{"schema_version": 1, "error": told}) // stderr was closed on purpose
		return
	}
	fmt.Fprintf(a.err, "error[%s]: %s\n", e.Code, safetext.Escape(e.Message))
	if e.Why != "" {
		fmt.Fprintf(a.err, "  why:  %s\n", safetext.Escape(e.Why))
	}
	if e.Hint != "" {
		fmt.Fprintf(a.err, "  fix:  %s\n", safetext.Escape(e.Hint))
	}
	if a.verbose && e.Details != "" {
		fmt.Fprintf(a.err, "%s\n", safetext.Escape(e.Details))
	}
}

// envValue is a variable of the environment; empty where it is not set.
func (a *app) envValue(name string) string {
	v, _ := a.env(name)
	return v
}
