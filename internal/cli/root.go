// Package cli is the command line of company: the root of its commands, flags that
// all have, help, and the way from an error to an exit code. The commands are in a
// package for each group; package command is what they share. A command takes the
// office's lock and does its work itself, or speaks to the process that holds it;
// it decides nothing about tasks.
package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"company/internal/cli/agents"
	"company/internal/cli/command"
	"company/internal/cli/image"
	"company/internal/cli/inspect"
	"company/internal/cli/pr"
	"company/internal/cli/project"
	"company/internal/cli/serve"
	"company/internal/cli/setup"
	"company/internal/cli/task"
	"company/internal/clock"
	"company/internal/company"
	"company/internal/console"
	"company/internal/desk"
)

// Main runs one command line and returns the exit code.
func Main(args []string) int { return MainAt(clock.Machine(), args) }

// MainAt is Main on a machine with these clocks.
func MainAt(clocks clock.Sources, args []string) int {
	ctx, cancel := withInterrupt(context.Background())
	defer cancel()
	// A reader that goes away is an error of the write, not a sudden death in
	// the middle of the work. (To ignore the signal would be inherited by git.)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	env := command.NewEnvironment(console.Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv, Environ: os.Environ()})
	env.Clocks = clocks
	env.Desk = desk.New(env.Entrance, task.PrepareSubmission)
	return execute(ctx, env, args)
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
			cancel(console.ErrTerminated)
		}
		cancel(console.ErrInterrupted)
		<-interrupts
		os.Exit(command.ExitInterrupt)
	}()
	return ctx, func() { cancel(nil) }
}

func execute(ctx context.Context, env *command.Environment, args []string) int {
	out, errs := &console.Stdout{W: env.Out, Ended: ctx.Done()}, &console.Stderr{W: env.Err}
	env.Out, env.Err = out, errs
	defer errs.Flush()
	root := newRoot(env)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		env.JSON = env.JSON || asksForJSON(args) // the flags behind the wrong one were not read
		return flagError(c, err)
	})
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case out.Err != nil && ctx.Err() != nil && err == nil:
		return command.ExitInterrupt // a signal cut the result
	case out.Err == nil || ctx.Err() != nil:
	case errors.Is(out.Err, syscall.EPIPE) && !env.ReportsWork:
		return command.ExitPipe // the reader has seen enough
	default:
		err = company.E(company.EOutput, "the result could not be written to stdout").Wrap(out.Err).Fix("see what became of the program that reads it")
	}
	return env.ReportError(ctx, err)
}

func newRoot(env *command.Environment) *cobra.Command {
	root := command.NewGroup("company", "A software company in one binary: you give an instruction, agents do the work, you review the pull request", `  company submit "add rate limiting to the API"
  company status
  company pr show 1`)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		env.Lifetime = c.Context()
		return env.ApplyFlags()
	}
	root.CompletionOptions.DisableDefaultCmd = true // ours is newCompletion
	root.SetHelpTemplate(helpTemplate)
	root.SetHelpCommand(newHelp())
	printHelp(env, root)
	var version bool
	root.Flags().BoolVar(&version, "version", false, "print the version")
	help := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if version {
			return runVersion(env)
		}
		return help(c, args)
	}
	f := root.PersistentFlags()
	f.StringVar(&env.OfficeDir, "office", "", "folder of the office (default: the nearest company.yaml, else .company in this repository)")
	f.StringVarP(&env.RepoDir, "repo", "R", "", "git checkout to work on (default: the one you stand in); for submit, or the URL of a repository")
	f.StringVarP(&env.Output, "output", "o", "text", "text or json")
	f.BoolVar(&env.JSON, "json", false, "the same as -o json")
	f.StringVar(&env.Template, "template", "", "print the JSON of the result through a template of Go: --template '{{.task}}'")
	f.StringVar(&env.Query, "jq", "", "print what an expression of jq makes of the JSON of the result: --jq .task")
	f.BoolVarP(&env.Quiet, "quiet", "q", false, "no progress")
	f.BoolVarP(&env.Verbose, "verbose", "v", false, "more: details of errors, the log on stderr")
	f.BoolVar(&env.NoColor, "no-color", false, "no colour")
	f.BoolVar(&env.NoInput, "no-input", false, "never ask on the terminal")
	f.BoolVar(&env.Yes, "yes", false, "yes to what is asked before work begins (the plan, work without gates), and to what trust, reject and pr merge ask")
	f.StringArrayVar(&env.ConfigFlags, "set", nil, "set a key of the config: --set workers.max=5")
	root.AddCommand(
		task.NewSubmit(env), task.NewWait(env), serve.New(env), serve.NewOpen(env), inspect.NewStatus(env), inspect.NewList(env), inspect.NewCosts(env), inspect.NewFeed(env), inspect.NewWatch(env, task.NewBackground(env)), inspect.NewShow(env), inspect.NewLogs(env), inspect.NewDiff(env),
		task.NewAnswer(env), task.NewApprove(env), task.NewReject(env), task.NewStop(env), task.NewTell(env), task.NewRetry(env), task.NewReplay(env), task.NewPause(env), task.NewResume(env), task.NewCancel(env), agents.NewAgents(env), agents.NewHire(env), agents.NewFire(env), task.NewBudget(env), task.NewPlan(env), pr.New(env),
		project.New(env), serve.NewCleanup(env), serve.NewBus(env), image.New(env),
		setup.NewInit(env), setup.NewTrust(env), setup.NewConfig(env), setup.NewGit(env), setup.NewDoctor(env), newMCP(env), newBench(env), newVersion(env), newCompletion(),
	)
	groupCommands(root)
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	for _, c := range root.Commands() {
		usageErrors(c)
	}
	return root
}
