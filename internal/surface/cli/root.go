// Package cli is the command line of company. It has the root command, the global flags, help, and
// the mapping of errors to exit codes. Each group of commands has its own package, and package
// command holds the shared code. A command is a client of the process that has the office. It decides
// nothing about tasks.
package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"company/internal/app/hostops"
	"company/internal/company"
	"company/internal/lib/clock"
	"company/internal/surface/cli/agents"
	"company/internal/surface/cli/command"
	"company/internal/surface/cli/image"
	"company/internal/surface/cli/inspect"
	"company/internal/surface/cli/pr"
	"company/internal/surface/cli/project"
	"company/internal/surface/cli/serve"
	"company/internal/surface/cli/setup"
	"company/internal/surface/cli/task"
	"company/internal/surface/terminalio"
)

// Main runs one command line and returns the exit code.
func Main(args []string) int { return MainAt(clock.Machine(), args) }

// MainAt is Main with the given clocks.
func MainAt(clocks clock.Sources, args []string) int {
	ctx, cancel := withInterrupt(context.Background())
	defer cancel()
	// With SIGPIPE caught, a closed reader causes a write error and doesn't kill the process in the
	// middle of the work. (git would inherit an ignored signal.)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	env := command.NewEnvironment(
		terminalio.Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv, Environ: os.Environ()})
	env.Clocks = clocks
	env.Desk = hostops.New(env.Entrance, task.PrepareSubmission)
	return execute(ctx, env, args)
}

// withInterrupt returns a context that the first interrupt cancels. The second one exits at once,
// since a restart needs no cleanup.
func withInterrupt(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	// A closed terminal ends a command like SIGTERM. A process under nohup ignores SIGHUP.
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(interrupts, syscall.SIGHUP)
	}
	go func() { // ends with the process
		if sig := <-interrupts; sig == syscall.SIGTERM || sig == syscall.SIGHUP {
			cancel(terminalio.ErrTerminated)
		}
		cancel(terminalio.ErrInterrupted)
		<-interrupts
		os.Exit(command.ExitInterrupt)
	}()
	return ctx, func() { cancel(nil) }
}

func execute(ctx context.Context, env *command.Environment, args []string) int {
	out, errs := &terminalio.Stdout{W: env.Out, Ended: ctx.Done()}, &terminalio.Stderr{W: env.Err}
	env.Out, env.Err = out, errs
	defer errs.Flush()
	root := newRoot(env)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		env.JSON = env.JSON || asksForJSON(args) // flags after the wrong one were not parsed
		return flagError(cmd, err)
	})
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case out.Err != nil && ctx.Err() != nil && err == nil:
		return command.ExitInterrupt // a signal cut the result off
	case out.Err == nil || ctx.Err() != nil:
	case errors.Is(out.Err, syscall.EPIPE) && !env.ReportsWork:
		return command.ExitPipe // the reader closed early
	default:
		err = company.E(company.EOutput, "the result could not be written to stdout").Wrap(out.Err).
			Fix("check the program that reads it")
	}
	return env.ReportError(ctx, err)
}

func newRoot(env *command.Environment) *cobra.Command {
	root := command.NewGroup("company",
		"A software company in one binary: you give an instruction, agents do the work, you review the pull request",
		`  company submit "add rate limiting to the API"
  company status
  company pr show 1`)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		env.Lifetime = c.Context()
		return env.ApplyFlags()
	}
	root.CompletionOptions.DisableDefaultCmd = true // newCompletion replaces it
	root.SetHelpTemplate(helpTemplate)
	root.SetHelpCommand(newHelp())
	printHelp(env, root)
	var version bool
	root.Flags().BoolVar(&version, "version", false, "print the version")
	help := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if version {
			return runVersion(env)
		}
		return help(cmd, args)
	}
	f := root.PersistentFlags()
	f.StringVar(&env.OfficeDir, "office", "",
		"office `folder` (default: the nearest company.yaml, else .company in this repository)")
	f.StringVarP(&env.RepoDir, "repo", "R", "",
		"git `checkout` to work on (default: the current one); submit also takes a repository URL")
	f.StringVarP(&env.Output, "output", "o", "text", "output `format`: text or json")
	f.BoolVar(&env.JSON, "json", false, "same as -o json")
	f.BoolVarP(&env.Quiet, "quiet", "q", false, "print no progress")
	f.BoolVarP(&env.Verbose, "verbose", "v", false, "print error details, and the log on stderr")
	f.BoolVar(&env.NoColor, "no-color", false, "disable colour")
	f.BoolVar(&env.NoInput, "no-input", false, "never prompt")
	f.BoolVar(&env.Yes, "yes", false,
		"answer yes to prompts before work begins (the plan, no gates) and those of trust, reject and pr merge")
	f.BoolVar(&env.Foreground, "foreground", false,
		"work in this process, instead of one in the background; COMPANY_FOREGROUND=1 does the same")
	f.StringArrayVar(&env.ConfigFlags, "set", nil, "set a config `key=value`, such as workers.max=5")
	root.AddCommand(
		task.NewSubmit(env), task.NewWait(env), serve.New(env), serve.NewOpen(env), inspect.NewStatus(env),
		inspect.NewList(env), inspect.NewCosts(env), inspect.NewFeed(env), inspect.NewWatch(env, task.NewSubmitter(env)),
		inspect.NewShow(env), inspect.NewLogs(env), inspect.NewDiff(env), inspect.NewPrompt(env),
		inspect.NewEvidence(env),
		task.NewAnswer(env), task.NewApprove(env), task.NewReject(env), task.NewStop(env), task.NewTell(env),
		task.NewRetry(env), task.NewRollback(env), task.NewReplay(env), task.NewPause(env), task.NewResume(env),
		task.NewCancel(env),
		agents.NewAgents(env), agents.NewHire(env), agents.NewFire(env), task.NewBudget(env), task.NewPlan(env), pr.New(env),
		project.New(env), serve.NewCleanup(env), serve.NewBus(env), serve.NewMigrate(env), image.New(env),
		setup.NewInit(env), setup.NewTrust(env), setup.NewConfig(env), setup.NewGit(env), setup.NewDoctor(env), newMCP(env),
		newVersion(env), newCompletion(),
	)
	groupCommands(root)
	_ = root.RegisterFlagCompletionFunc(
		"output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	for _, c := range root.Commands() {
		usageErrors(c)
	}
	return root
}
