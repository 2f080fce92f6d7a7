// Package task is the commands about the work on a task: submit, wait, tell, answer,
// approve, reject, retry, stop, resume, pause, cancel and budget. They turn arguments into
// commands of the company, print what became of them, and give the exit code. What stays in
// the foreground meanwhile is package attend.
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
	"company/internal/attachment"
	"company/internal/attend"
	"company/internal/cli/command"
	"company/internal/clock"
	"company/internal/company"
	"company/internal/config"
	"company/internal/detach"
	"company/internal/diagnose"
	"company/internal/office"
	"company/internal/safetext"
	"company/internal/shell"
	"company/internal/view"
)

// submitOptions are the flags of company submit.
type submitOptions struct {
	file      string
	project   string
	base      string
	follows   string
	after     []string
	plan      string // of a dry run
	issue     string // by its number or its URL
	confirmed string // the issue of a detached submission, confirmed in the process that detached it
	dryRun    bool
	detach    bool
	watch     bool
	commandID string // of a detached submission, made by the process that detached it
	approve   []string
	budgetUSD float64
	tokens    string
	workers   int
	model     string // profile of all roles
	priority  string
	tags      []string
	deadline  string
	attach    []string // files by their paths
	packed    bool     // stdin has the instruction and its files, from the process that detached this one
	files     []company.AttachedFile
}

// NewSubmit makes company submit.
func NewSubmit(env *command.Environment) *cobra.Command {
	var o submitOptions
	c := &cobra.Command{
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

An interrupt (Ctrl-C) puts away what is under way, and the task rests until
company resume; a second one ends at once.`,
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
				return company.E(company.EUsage, "the instruction is in "+company.Count(len(args), "part")).Because("the shell cuts it at blanks").
					Fix("put it into quotes: company submit " + safetext.EscapeLine(shell.Quote(strings.Join(args, " ")), 300))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if o.watch {
				if err := attend.CheckWatchable(env.Console); err != nil {
					return err
				}
				o.detach = true
			}
			if o.plan != "" {
				return submitPlan(c, env, o, args)
			}
			text := ""
			var err error
			if o.files, err = attachment.ReadFiles(o.attach); err != nil {
				return err
			}
			if o.packed {
				if text, o.files, err = detach.ReadParcel(env.In); err != nil {
					return err
				}
			} else if o.issue == "" || o.file != "" || len(args) > 0 { // else the issue is the instruction
				if text, err = env.ReadInstruction(c.Context(), o.file, args); err != nil {
					return err
				}
			}
			if c.Flags().Changed("workers") && o.workers == 0 {
				return company.E(company.EUsage, "--workers 0: nobody would work on it").Fix("--workers 1, or more")
			}
			if err := checkModelFlag(c); err != nil {
				return err
			}
			if err := addConfigFlags(env, o, c.Flags().Changed("budget-usd"), c.Flags().Changed("budget-tokens")); err != nil {
				return err
			}
			return runSubmit(c.Context(), env, o, text)
		},
	}
	addSummaryFlag(env, c)
	f := c.Flags()
	f.StringVarP(&o.file, "file", "f", "", "read the instruction from a file (- for stdin, which is also read when it is a pipe and there is no instruction)")
	f.StringArrayVar(&o.attach, "attach", nil, "text or image that belongs to the instruction (again and again)")
	f.StringVar(&o.issue, "issue", "", "take an issue of the project's forge as the instruction: its number or URL")
	f.StringVar(&o.project, "project", "", "project of this office, by name, or a git checkout (default: the one you stand in)")
	f.StringVar(&o.base, "base", "", "branch to start from (default: the checkout's)")
	f.StringVar(&o.follows, "follows", "", "go on with the open pull request of this task, on its branch")
	f.StringSliceVar(&o.after, "after", nil, "begin when the pull requests of these tasks are merged")
	f.BoolVar(&o.dryRun, "dry-run", false, "stop after the plan")
	f.BoolFunc("one", "one worker does it, without a plan (default: by the length of the instruction)", env.ChooseWay(company.WayOne))
	f.BoolFunc("split", "the manager plans it, and may split it", env.ChooseWay(company.WaySplit))
	f.StringVar(&o.plan, "plan", "", "work on the plan of this dry run, instead of an instruction")
	f.BoolVar(&o.detach, "detach", false, "return when the task is taken; the work goes on in the background")
	f.BoolVar(&o.watch, "watch", false, "watch the task on the whole terminal; the work goes on in the background")
	f.StringSliceVar(&o.approve, "approve", nil, "ask you about: plan, merge, pr")
	f.Float64Var(&o.budgetUSD, "budget-usd", 0, "cap of this task in USD, where the models' prices are known")
	f.StringVar(&o.tokens, "budget-tokens", "", "cap of this task in tokens: 200k, 5M")
	f.IntVar(&o.workers, "workers", 0, "workers at a time")
	f.StringVar(&o.model, "model", "", "model profile of the config for all roles of this task")
	f.StringVar(&o.priority, "priority", "", "what goes first: low, medium, high (default: medium, or that of the task it follows)")
	f.StringSliceVar(&o.tags, "tag", nil, "tag of the task, for company list --tag (again and again)")
	f.StringVar(&o.deadline, "deadline", "", "when it should be done: 2026-12-01, 2026-12-01T17:00, or from now 36h, 3d")
	_ = c.RegisterFlagCompletionFunc("project", env.CompleteFlagIDs(func(v view.IDs) []string { return v.Projects }))
	_ = c.RegisterFlagCompletionFunc("follows", env.CompleteFlagIDs(func(v view.IDs) []string { return v.Followed }))
	_ = c.RegisterFlagCompletionFunc("after", env.CompleteFlagIDs(func(v view.IDs) []string { return v.Awaitable }))
	_ = c.RegisterFlagCompletionFunc("approve", cobra.FixedCompletions([]string{"plan", "merge", "pr"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("priority", cobra.FixedCompletions(command.PriorityWords, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("model", env.CompleteModels())
	_ = c.RegisterFlagCompletionFunc("tag", cobra.NoFileCompletions)
	_ = c.RegisterFlagCompletionFunc("deadline", cobra.NoFileCompletions)
	_ = c.RegisterFlagCompletionFunc("base", env.CompleteBranches())
	_ = c.RegisterFlagCompletionFunc("plan", env.CompleteFlagIDs(func(v view.IDs) []string { return v.Plans }))
	f.StringVar(&o.commandID, "command-id", "", "id of the submission, which makes a repeat harmless")
	f.StringVar(&o.confirmed, "confirmed-issue", "", "issue that the instruction quotes")
	f.BoolVar(&o.packed, "packed", false, "stdin has the instruction with its files")
	_ = f.MarkHidden("packed")
	_ = f.MarkHidden("command-id")
	_ = f.MarkHidden("confirmed-issue")
	return c
}

// addConfigFlags turns options that are keys of the config into its flags, which are checked
// with it. A cap in USD or tokens counts where it is given.
func addConfigFlags(env *command.Environment, o submitOptions, inUSD, inTokens bool) error {
	for _, k := range o.approve {
		switch k {
		case "plan", "merge", "pr":
			env.ConfigFlags = append(env.ConfigFlags, "approvals."+k+"=ask")
		default:
			return company.E(company.EUsage, fmt.Sprintf("there is no approval %q", k)).Fix("--approve plan,merge,pr")
		}
	}
	if o.workers < 0 {
		return company.E(company.EUsage, "a negative limit").Fix("company submit --help")
	}
	if inUSD {
		if !(o.budgetUSD >= 1e-6 && o.budgetUSD <= 1e6) { // and no number is neither
			return company.E(company.EUsage, fmt.Sprintf("a cap of %g USD is none", o.budgetUSD)).Fix("--budget-usd 0.50, or more")
		}
		env.ConfigFlags = append(env.ConfigFlags, fmt.Sprintf("budget.usd=%.6f", o.budgetUSD))
	}
	if inTokens {
		tokens, err := parseTokens(o.tokens)
		if err != nil {
			return err
		}
		env.ConfigFlags = append(env.ConfigFlags, fmt.Sprintf("budget.tokens=%d", tokens))
	}
	if o.workers > 0 {
		env.ConfigFlags = append(env.ConfigFlags, fmt.Sprintf("workers.max=%d", o.workers))
	}
	return nil
}

// acceptable is a submission that nothing speaks against, on this machine and now.
type acceptable struct {
	paths   office.Paths
	config  config.Config
	seen    diagnose.RepoCheck
	command company.Submit
}

// checkSubmission makes the command of a submission, and checks everything that it needs. It
// fills in what a detached company is to have of o.
func checkSubmission(ctx context.Context, env *command.Environment, o *submitOptions, text string) (a acceptable, err error) {
	deadline, err := clock.ParseDeadline(o.deadline, env.WallTime())
	if err != nil {
		return a, err
	}
	if !deadline.IsZero() {
		o.deadline = deadline.Format(time.RFC3339) // a detached company reads the clock later
	}
	address := ""
	if officeapp.IsAddress(env.RepoDir) {
		address, env.RepoDir = env.RepoDir, ""
	}
	if err := env.UseModel(ctx, o.model); err != nil {
		return a, err
	}
	paths, own, err := env.LoadReady(ctx)
	if err == nil && address != "" {
		o.project, err = cloneProject(ctx, env, *o, paths, own.Config, address, text)
	}
	if err != nil {
		return a, err
	}
	repo, loaded, err := env.LoadReadyProject(ctx, paths, o.project)
	if err != nil {
		return a, err
	}
	if err := diagnose.CheckUSDCap(loaded); err != nil {
		return a, err
	}
	if o.project != "" {
		o.project = repo // a detached company may stand elsewhere
	}
	issue, err := detach.ParseIssue(o.confirmed)
	if err == nil && o.issue != "" {
		text, issue, err = issueInstruction(ctx, env, *o, repo, loaded.Config, text)
	}
	if err != nil {
		return a, err
	}
	o.confirmed = detach.FormatIssue(issue)
	cmd := company.Submit{
		Instruction: text, Issue: issue, Project: officeapp.ProjectOf(repo), Settings: officeapp.CompanySettings(loaded.Config), DryRun: o.dryRun, Base: o.base, Follows: company.TaskID(o.follows), After: company.NameTasks(o.after),
		Priority: company.Priority(o.priority), Tags: o.tags, Deadline: deadline, Attachments: o.files,
	}
	if o.base == "" && o.follows == "" && loaded.Config.Git.Base != "auto" {
		cmd.Base = loaded.Config.Git.Base
	}
	if o.follows != "" && !cmd.Follows.Valid() {
		return a, company.E(company.EUsage, fmt.Sprintf("%q is no task", safetext.EscapeLine(o.follows, 80))).Fix("tasks look like t12; company pr list names those with a pull request")
	}
	if err := cmd.Validate(env.WallTime()); err != nil {
		return a, err
	}
	if err := env.Checker().CheckImages(ctx, paths, loaded, o.files); err != nil {
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
		cmd.Base = seen.Base.Branch // the checkout may be on another branch by the time that it begins
	}
	if o.commandID == "" {
		o.commandID = api.NewCommandID()
	}
	return acceptable{paths, loaded.Config, seen, cmd}, nil
}

func runSubmit(ctx context.Context, env *command.Environment, o submitOptions, text string) error {
	a, err := checkSubmission(ctx, env, &o, text)
	if err != nil {
		return err
	}
	if !o.detach && env.Output == "text" {
		env.PrintNotes(diagnose.SubmissionBanner(command.Version, a.paths.Root, a.config, a.command, a.seen))
	}
	if err := a.seen.Numbers.Choose(ctx, &a.command, env.PrintNote); err != nil {
		return err
	}
	if o.detach {
		return submitDetached(ctx, env, a.paths, o, a.command, a.command.Instruction)
	}
	return runJob(ctx, env, a.paths, &attend.Submission{Submit: a.command, ID: o.commandID})
}
