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
	"time"

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
	"company/internal/surface/background"
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
	confirmed string // issue of a detached submission, confirmed in the process that detached it
	dryRun    bool
	detach    bool
	watch     bool
	commandID string // id of a detached submission, made by the process that detached it
	approve   []string
	budgetUSD float64
	tokens    string
	workers   int
	model     string // profile for all roles
	priority  string
	tags      []string
	deadline  string
	attach    []string // paths of the attached files
	packed    bool     // stdin has the instruction and its files, from the process that detached this one
	files     []company.AttachedFile
}

// NewSubmit returns the "company submit" command.
func NewSubmit(env *command.Environment) *cobra.Command {
	var options submitOptions
	cmd := &cobra.Command{
		Use:   "submit [instruction|-]",
		Short: "Give the company an instruction",
		Long: `Give the company an instruction for the git repository you stand in.

Without an instruction it is read from stdin where that is a pipe, and written in
your editor ($VISUAL, else $EDITOR) at a terminal.

The command follows the work until the task ends or waits for you, and ends
with a summary. When the office is open in another process, the task queues
there; when that process ends first, this one takes over.

--issue takes an issue of the project's forge as the instruction, by its number or
its URL; what you write beside it comes first. Anyone may have written an issue, so
it is shown, and submitted when you confirm it at a terminal or give --yes. Agents
get it quoted, with the comments of people who may push; images are not fetched.
The pull request closes it.

--attach gives agents files with the instruction: texts up to 256 KiB, and PNG, JPEG,
GIF and WebP images, for models that take images. The content of a file
tells its type, not its name. Agents find the files beside the repository, too, and
the pull request names them.

--repo takes the address of a repository, too: it is cloned once into the office that
you stand in, and fetched for each task. It starts from the remote's default branch,
or from --base.

Of the tasks of a project, those with a higher --priority go first, then those with
the nearer --deadline, then the older ones; a task that has been open for three days
goes before all of them. A deadline that passes is shown, and ends nothing. A
follow-up has the priority, the tags and the deadline of what it follows.

--after has the task wait, at no cost, until the pull requests of other tasks are
merged: it then begins by itself, from the base as it is by then. Where one of them
fails, is cancelled, or has its pull request closed, you are asked: begin without it,
wait on, or cancel. The command stays until the task has ended; with --detach the
company in the background does.

--model names the model profile of all roles for this task; a role that
--set agents.ROLE.model names keeps that one. The task keeps its models until
company retry.

--watch opens company watch on the task, on the whole terminal. The work goes on in
the background, also when you quit there.

--dry-run ends with the plan; --plan works on it as it stands, from the commit
that it was made on, under the settings of the dry run.

An interrupt (Ctrl-C) puts away what is under way and pauses the task until company
resume, unless it waits for your answer or for another task. A second one ends at
once.`,
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
					Because("the shell cuts it at blanks").
					Fix("put it into quotes: company submit " + safetext.EscapeLine(shellquote.Quote(strings.Join(args, " ")), 300))
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
			if options.packed {
				if text, options.files, err = background.ReadParcel(env.In); err != nil {
					return err
				}
			} else if options.issue == "" || options.file != "" || len(args) > 0 { // otherwise the issue is the instruction
				if text, err = env.ReadInstruction(c.Context(), options.file, args); err != nil {
					return err
				}
			}
			if c.Flags().Changed("workers") && options.workers == 0 {
				return company.E(company.EUsage, "--workers 0: nobody would work on it").Fix("--workers 1, or more")
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
		"read the instruction from a file (- for stdin, which is also read when it is a pipe and there is no instruction)")
	f.StringArrayVar(&options.attach, "attach", nil, "text or image that belongs to the instruction (again and again)")
	f.StringVar(&options.issue, "issue", "", "take an issue of the project's forge as the instruction: its number or URL")
	f.StringVar(&options.project, "project", "",
		"project of this office, by name, or a git checkout (default: the one you stand in)")
	f.StringVar(&options.base, "base", "", "branch to start from (default: the checkout's)")
	f.StringVar(&options.follows, "follows", "", "go on with the open pull request of this task, on its branch")
	f.StringSliceVar(&options.after, "after", nil, "begin when the pull requests of these tasks are merged")
	f.BoolVar(&options.dryRun, "dry-run", false, "stop after the plan")
	f.BoolFunc("one", "one worker does it, without a plan (default: where the instruction lists few pieces of work)",
		env.ChooseWay(company.WayOne))
	f.BoolFunc("split", "the manager plans it, and may split it", env.ChooseWay(company.WaySplit))
	f.StringVar(&options.plan, "plan", "", "work on the plan of this dry run, instead of an instruction")
	f.BoolVar(&options.detach, "detach", false, "return when the task is taken; the work goes on in the background")
	f.BoolVar(&options.watch, "watch", false, "watch the task on the whole terminal; the work goes on in the background")
	f.StringSliceVar(&options.approve, "approve", nil, "ask you about: plan, merge, pr")
	f.Float64Var(&options.budgetUSD, "budget-usd", 0, "cap of this task in USD, where the models' prices are known")
	f.StringVar(&options.tokens, "budget-tokens", "", "cap of this task in tokens: 200k, 5M")
	f.IntVar(&options.workers, "workers", 0, "workers at a time")
	f.StringVar(&options.model, "model", "", "model profile of the config for all roles of this task")
	f.StringVar(&options.priority, "priority", "",
		"what goes first: low, medium, high (default: medium, or that of the task it follows)")
	f.StringSliceVar(&options.tags, "tag", nil, "tag of the task, for company list --tag (again and again)")
	f.StringVar(&options.deadline, "deadline", "",
		"when it should be done: 2026-12-01, 2026-12-01T17:00, or from now 36h, 3d")
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
	f.StringVar(&options.commandID, "command-id", "", "id of the submission, which makes a repeat harmless")
	f.StringVar(&options.confirmed, "confirmed-issue", "", "issue that the instruction quotes")
	f.BoolVar(&options.packed, "packed", false, "stdin has the instruction with its files")
	_ = f.MarkHidden("packed")
	_ = f.MarkHidden("command-id")
	_ = f.MarkHidden("confirmed-issue")
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
			return company.E(company.EUsage, fmt.Sprintf("there is no approval %q", k)).Fix("--approve plan,merge,pr")
		}
	}
	if options.workers < 0 {
		return company.E(company.EUsage, "a negative limit").Fix("company submit --help")
	}
	if inUSD {
		if !(options.budgetUSD >= 1e-6 && options.budgetUSD <= 1e6) { // This also rejects NaN.
			return company.E(company.EUsage, fmt.Sprintf("a cap of %g USD is none", options.budgetUSD)).
				Fix("--budget-usd 0.50, or more")
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

// checkSubmission validates a submission, runs preflight, and returns the command. It also sets
// the fields of options that a detached company needs.
func checkSubmission(
	ctx context.Context, env *command.Environment, options *submitOptions, text string,
) (a acceptable, err error) {
	deadline, err := clock.ParseDeadline(options.deadline, env.WallTime())
	if err != nil {
		return a, err
	}
	if !deadline.IsZero() {
		options.deadline = deadline.Format(time.RFC3339) // a detached company reads the clock later
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
	if options.project != "" {
		options.project = repo // a detached company may run in another folder
	}
	issue, err := background.ParseIssue(options.confirmed)
	if err == nil && options.issue != "" {
		text, issue, err = issueInstruction(ctx, env, *options, repo, loaded.Config, text)
	}
	if err != nil {
		return a, err
	}
	options.confirmed = background.FormatIssue(issue)
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
		return a, company.E(company.EUsage, fmt.Sprintf("%q is no task", safetext.EscapeLine(options.follows, 80))).
			Fix("tasks look like t12; company pr list names those with a pull request")
	}
	if err := cmd.Validate(env.WallTime()); err != nil {
		return a, err
	}
	if err := env.Checker().CheckImages(ctx, paths, loaded, options.files); err != nil {
		return a, err
	}
	looked := env.NameSlowStep("looking at " + filepath.Base(repo))
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
				acceptable.seen))
	}
	if err := acceptable.seen.Numbers.Choose(ctx, &acceptable.command, env.PrintNote); err != nil {
		return err
	}
	if options.detach {
		return submitDetached(ctx, env, acceptable.paths, options, acceptable.command, acceptable.command.Instruction)
	}
	return runJob(ctx, env, acceptable.paths, &foreground.Submission{Submit: acceptable.command, ID: options.commandID})
}
