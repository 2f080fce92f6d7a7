// Package task has the commands for the work on a task: submit, wait, tell, answer, approve,
// reject, retry, stop, resume, pause, cancel and budget. They convert arguments into commands of
// the company, print the results, and return the exit code. Package foreground does the work in
// the foreground.
package task

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/api"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/clock"
	"company/internal/lib/safetext"
	"company/internal/lib/shellquote"
	"company/internal/office"
	"company/internal/office/attachment"
	"company/internal/office/config"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/diagnose"
	"company/internal/surface/foreground"
)

// submitOptions holds the flags of company submit.
type submitOptions struct {
	file      string
	project   string
	base      string
	follows   string
	after     []string
	plan      string // plan of a dry run
	issue     string // number or URL
	dryRun    bool
	detach    bool
	watch     bool
	commandID string // makes repeats of the submission harmless
	approve   []string
	budgetUSD float64
	tokens    string
	workers   int
	model     string // profile for all roles
	priority  string
	tags      []string
	deadline  string
	attach    []string // paths of the attached files
	files     []company.AttachedFile
}

// NewSubmit returns the "company submit" command.
func NewSubmit(env *command.Environment) *cobra.Command {
	var options submitOptions
	cmd := &cobra.Command{
		Use:   "submit [instruction|-]",
		Short: "Submit an instruction",
		Long: `Submits an instruction for the current git repository.

Without an instruction, it is read from stdin if that is a pipe. At a terminal, your
editor opens ($VISUAL or $EDITOR).

A company in the background does the task. It is started if none is running, and
ends when nothing is left to do. The command follows the task until it ends or
waits for you, and prints a summary. --foreground does the task in this process.

--issue takes an issue of the project's forge, by number or URL, as the instruction.
Your own text comes first. Because anyone may have written the issue, it is shown, and
you must confirm it at a terminal or with --yes. Agents get it as a quotation, with
the comments of people with push access and without images. The pull request closes
the issue.

--attach gives files to the agents: text up to 256 KiB, and PNG, JPEG, GIF and WebP
images for models that accept images. The type is detected from the content. Agents
also find the files beside the repository, and the pull request lists them.

--repo also takes the URL of a repository. It is cloned once into the current office
and fetched for each task. The task starts from the remote's default branch or from
--base.

Tasks of a project are ordered by --priority, then by --deadline, then by age. A task
that has been open for three days goes first. A missed deadline is shown but does not
end the task. A follow-up inherits priority, tags and deadline.

--after delays the task, at no cost, until the pull requests of other tasks are merged.
It then starts from the base of that time. If one of them fails, is cancelled or has
its pull request closed, you are asked whether to start without it, keep waiting or
cancel. The command waits until the task ends; with --detach, only the company does.

--model sets the model profile of all roles for this task, except roles set with
--set agents.ROLE.model. The task keeps its models until company retry.

--watch opens company watch on the task.

--dry-run stops after the plan. --plan works on that plan unchanged, from the commit
that it was made for, with the settings of the dry run.

Ctrl-C and a closed terminal leave the work running; company stop stops it. With
--foreground, Ctrl-C saves the current work and pauses the task until company resume,
unless it waits for your answer or for another task. A second Ctrl-C exits at once.`,
		Example: `  company submit "add rate limiting to the API"
  company submit -f ticket.md --detach
  company submit --watch "add rate limiting to the API"
  company submit --issue 12 "only the parser"
  gh issue view 7 | company submit
  company submit --attach spec.md --attach screen.png "build this"
  company submit --project api "say who may call it"
  company submit --repo https://github.com/acme/app.git "say who may call it"
  company submit --dry-run "rename Foo to Bar"
  company submit --plan t5
  company submit --after t3,t4 "use the new parser everywhere"
  company submit --budget-tokens 500k "tidy the tests"
  company submit --model strong "find the race in the cache"
  company submit --priority high --tag api --deadline 2026-12-01 "say who may call it"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return company.E(company.EUsage, "the instruction is in "+company.Count(len(args), "part")).
					Because("the shell splits it at spaces").
					Fix("quote it: company submit " + safetext.EscapeLine(shellquote.Quote(strings.Join(args, " ")), 300))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if options.watch {
				if err := foreground.CheckWatchable(env.Console); err != nil {
					return err
				}
				options.detach = true
			}
			if options.plan != "" {
				return submitPlan(c, env, options, args)
			}
			text := ""
			var err error
			if options.files, err = attachment.ReadFiles(options.attach); err != nil {
				return err
			}
			if options.issue == "" || options.file != "" || len(args) > 0 { // otherwise the issue is the instruction
				if text, err = env.ReadInstruction(c.Context(), options.file, args); err != nil {
					return err
				}
			}
			if c.Flags().Changed("workers") && options.workers == 0 {
				return company.E(company.EUsage, "invalid --workers 0: must be 1 or more").Fix("--workers 1")
			}
			if err := checkModelFlag(c); err != nil {
				return err
			}
			if err := addConfigFlags(env, options, c.Flags().Changed("budget-usd"),
				c.Flags().Changed("budget-tokens")); err != nil {
				return err
			}
			return runSubmit(c.Context(), env, options, text)
		},
	}
	addSummaryFlag(env, cmd)
	f := cmd.Flags()
	f.StringVarP(&options.file, "file", "f", "",
		"read the instruction from a `file` (- for stdin)")
	f.StringArrayVar(&options.attach, "attach", nil, "attach a text or image `file` to the instruction (repeatable)")
	f.StringVar(&options.issue, "issue", "", "use an issue of the project's forge as the instruction: `number` or URL")
	f.StringVar(&options.project, "project", "",
		"project name or path of a git checkout (default: the current one)")
	f.StringVar(&options.base, "base", "", "branch to start from (default: the current branch)")
	f.StringVar(&options.follows, "follows", "", "continue the open pull request of this `task`, on its branch")
	f.StringSliceVar(&options.after, "after", nil, "start when the pull requests of these `tasks` are merged")
	f.BoolVar(&options.dryRun, "dry-run", false, "stop after the plan")
	f.BoolFunc("one", "use one worker and no plan (default if the instruction lists little work)",
		env.ChooseWay(company.WayOne))
	f.BoolFunc("split", "have the manager plan the task and split it if useful", env.ChooseWay(company.WaySplit))
	f.StringVar(&options.plan, "plan", "", "work on the plan of this dry run (a `task`) instead of an instruction")
	f.BoolVar(&options.detach, "detach", false, "return once the task is accepted")
	f.BoolVar(&options.watch, "watch", false, "open company watch on the task")
	f.StringSliceVar(&options.approve, "approve", nil, "ask for your approval of: plan, merge, pr")
	f.Float64Var(&options.budgetUSD, "budget-usd", 0, "cap of this task in USD, if the models' prices are known")
	f.StringVar(&options.tokens, "budget-tokens", "", "cap of this task in tokens, such as 200k or 5M")
	f.IntVar(&options.workers, "workers", 0, "maximum number of workers")
	f.StringVar(&options.model, "model", "", "model `profile` for all roles of this task")
	f.StringVar(&options.priority, "priority", "",
		"low, medium or high (default: medium, or that of the task it follows)")
	f.StringSliceVar(&options.tags, "tag", nil, "tag of the task, for company list --tag (repeatable)")
	f.StringVar(&options.deadline, "deadline", "",
		"when it should be done: 2026-12-01, 2026-12-01T17:00, or in 36h or 3d")
	_ = cmd.RegisterFlagCompletionFunc("project", env.CompleteFlagIDs(func(v view.IDs) []string { return v.Projects }))
	_ = cmd.RegisterFlagCompletionFunc("follows", env.CompleteFlagIDs(func(v view.IDs) []string { return v.Followed }))
	_ = cmd.RegisterFlagCompletionFunc("after", env.CompleteFlagIDs(func(v view.IDs) []string { return v.Awaitable }))
	_ = cmd.RegisterFlagCompletionFunc(
		"approve", cobra.FixedCompletions([]string{"plan", "merge", "pr"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc(
		"priority", cobra.FixedCompletions(command.PriorityWords, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("model", env.CompleteModels())
	_ = cmd.RegisterFlagCompletionFunc("tag", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("deadline", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("base", env.CompleteBranches())
	_ = cmd.RegisterFlagCompletionFunc("plan", env.CompleteFlagIDs(func(v view.IDs) []string { return v.Plans }))
	return cmd
}

// addConfigFlags converts options that are config keys into config flags, which are validated with
// the config. inUSD and inTokens report whether a limit in USD or tokens was given.
func addConfigFlags(env *command.Environment, options submitOptions, inUSD, inTokens bool) error {
	for _, k := range options.approve {
		switch k {
		case "plan", "merge", "pr":
			env.ConfigFlags = append(env.ConfigFlags, "approvals."+k+"=ask")
		default:
			return company.E(company.EUsage, fmt.Sprintf("unknown approval %q", k)).Fix("--approve plan,merge,pr")
		}
	}
	if options.workers < 0 {
		return company.E(company.EUsage, "invalid --workers: must be 1 or more").Fix("--workers 1")
	}
	if inUSD {
		if !(options.budgetUSD >= 1e-6 && options.budgetUSD <= 1e6) { // This also rejects NaN.
			return company.E(company.EUsage, fmt.Sprintf("invalid --budget-usd %g: must be greater than 0 and at most 1000000",
				options.budgetUSD)).
				Fix("--budget-usd 0.50")
		}
		env.ConfigFlags = append(env.ConfigFlags, fmt.Sprintf("budget.usd=%.6f", options.budgetUSD))
	}
	if inTokens {
		tokens, err := parseTokens(options.tokens)
		if err != nil {
			return err
		}
		env.ConfigFlags = append(env.ConfigFlags, fmt.Sprintf("budget.tokens=%d", tokens))
	}
	if options.workers > 0 {
		env.ConfigFlags = append(env.ConfigFlags, fmt.Sprintf("workers.max=%d", options.workers))
	}
	return nil
}

// acceptable is a submission that passed validation and preflight.
type acceptable struct {
	paths   office.Paths
	config  config.Config
	seen    diagnose.RepoCheck
	command company.Submit
}

// checkSubmission validates a submission, runs preflight, and returns the command. It sets the id and
// the project of options.
func checkSubmission(
	ctx context.Context, env *command.Environment, options *submitOptions, text string,
) (a acceptable, err error) {
	deadline, err := clock.ParseDeadline(options.deadline, env.WallTime())
	if err != nil {
		return a, err
	}
	address := ""
	if officeapp.IsAddress(env.RepoDir) {
		address, env.RepoDir = env.RepoDir, ""
	}
	if err := env.UseModel(ctx, options.model); err != nil {
		return a, err
	}
	paths, own, err := env.LoadReady(ctx)
	if err == nil && address != "" {
		options.project, err = cloneProject(ctx, env, *options, paths, own.Config, address, text)
	}
	if err != nil {
		return a, err
	}
	repo, loaded, err := env.LoadReadyProject(ctx, paths, options.project)
	if err != nil {
		return a, err
	}
	if err := diagnose.CheckUSDCap(loaded); err != nil {
		return a, err
	}
	var issue *company.IssueRef
	if options.issue != "" {
		if text, issue, err = issueInstruction(ctx, env, *options, repo, loaded.Config, text); err != nil {
			return a, err
		}
	}
	cmd := company.Submit{
		Instruction: text, Issue: issue, Project: officeapp.ProjectOf(repo),
		Settings: officeapp.CompanySettings(loaded.Config), DryRun: options.dryRun, Base: options.base,
		Follows: company.TaskID(options.follows), After: company.NameTasks(options.after),
		Priority: company.Priority(options.priority), Tags: options.tags, Deadline: deadline, Attachments: options.files,
	}
	if options.base == "" && options.follows == "" && loaded.Config.Git.Base != "auto" {
		cmd.Base = loaded.Config.Git.Base
	}
	if options.follows != "" && !cmd.Follows.Valid() {
		return a, company.E(company.EUsage, fmt.Sprintf("invalid task id %q", safetext.EscapeLine(options.follows, 80))).
			Fix("task ids look like t12; company pr list shows tasks with a pull request")
	}
	if err := cmd.Validate(env.WallTime()); err != nil {
		return a, err
	}
	if err := env.Checker().CheckImages(ctx, paths, loaded, options.files); err != nil {
		return a, err
	}
	looked := env.NameSlowStep("checking " + filepath.Base(repo))
	seen, err := env.Checker().Preflight(ctx, paths, loaded, repo, cmd.Base)
	looked()
	if err != nil {
		return a, err
	}
	cmd.Project.Remote = seen.Base.Address()
	named := len(cmd.After) > 0 || cmd.Settings.Exclusive && cmd.Follows == ""
	if named && cmd.Base == "" && !seen.Base.Detached {
		cmd.Base = seen.Base.Branch // the checkout may be on another branch when the task begins
	}
	if options.commandID == "" {
		options.commandID = api.NewCommandID()
	}
	return acceptable{paths, loaded.Config, seen, cmd}, nil
}

func runSubmit(ctx context.Context, env *command.Environment, options submitOptions, text string) error {
	acceptable, err := checkSubmission(ctx, env, &options, text)
	if err != nil {
		return err
	}
	if !options.detach && env.Output == "text" {
		env.PrintNotes(
			diagnose.SubmissionBanner(command.Version, acceptable.paths.Root, acceptable.config, acceptable.command,
				acceptable.seen, env.Foreground))
	}
	if err := acceptable.seen.Numbers.Choose(ctx, &acceptable.command, env.PrintNote); err != nil {
		return err
	}
	if options.detach {
		if env.Yes {
			answerBefore(&acceptable.command.Settings)
		}
		return submitDetached(ctx, env, acceptable.paths, options, acceptable.command, "")
	}
	return runJob(ctx, env, acceptable.paths, &foreground.Submission{Submit: acceptable.command, ID: options.commandID})
}
