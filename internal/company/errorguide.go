package company

import (
	"errors"
	"fmt"
	"strings"
)

// ErrorGuide explains a code to people: its meaning, and a remedy if the error itself names none.
type ErrorGuide struct {
	Code  Code
	Class Class // of an error without a class of its own
	Means string
	Do    string
	Exit  int // exit code of a command that ends with it
	// Number is the number that ERR-2 gives this failure, or 0.
	Number int
}

// ErrorGuides returns the guides of all codes, in the order of their constants. It is the source of company help errors
// and of docs/errors.md.
func ErrorGuides() []ErrorGuide {
	const (
		failed = 1
		held   = 3
		usage  = 64
	)
	return []ErrorGuide{
		{EInternal, Fatal, "A bug in company, or an unexpected error of the machine.",
			"Run the command again with -v. The ledger is intact.", failed, 0},
		{EInvalid, HumanRequired, "The request is invalid.", "Change what the message names.", failed, 0},
		{ENotFound, HumanRequired, "Unknown task, run, question, pull request, project or file.",
			"List tasks with company status -v.", failed, 0},
		{EConflict, HumanRequired, "The state has changed since you looked.",
			"Look again: company show, company pr show.", failed, 0},
		{EStale, Recoverable, "A newer claim or a restart has taken the run over.",
			"Nothing: the work continues there.", failed, 0},
		{EStopped, HumanRequired, "The office or the task is stopped.",
			"company resume, or company resume <task>.", failed, 0},
		{EBudget, HumanRequired, "The next model call could exceed a cap.",
			"Raise the cap: company budget add <task> 5usd, or 100ktokens.", failed, 0},
		{EPlan, Recoverable, "The manager's plan is invalid; the manager plans again.",
			"If it persists, make the instruction smaller or more precise.", failed, 0},
		{EProtected, HumanRequired, "The target is main, master, the remote's default branch or a protected path.",
			"Set git.integration_branch, or answer the question about the path.", failed, 0},
		{EConfig, Fatal, "Invalid company.yaml, COMPANY_ variable or --set, or a setting that needs trust.",
			"Run company config check, or company trust.", failed, 0},
		{EUsage, HumanRequired, "Invalid command line; nothing was done.", "See --help of the command.", usage, 0},
		{EHeld, Recoverable, "Another process holds the office without answering.",
			"Wait, or end that process.", held, 2001},
		{EDocker, Recoverable, "The Docker daemon is missing, refuses, or lost a container.",
			"See company doctor. Runs continue when the daemon is back.", failed, 0},
		{EPolicy, HumanRequired, "A container or a Docker request violates the policy.",
			"Check the daemon's runtimes, seccomp and plugins: company doctor.", failed, 0},
		{ELost, Recoverable, "A container ended while an agent worked in it.",
			"Nothing: a new run continues. If it repeats, raise workers.memory.", failed, 0},
		{EImage, HumanRequired, "The worker image cannot be built.",
			"Read the message's end; try company image build.", failed, 0},
		{EGit, HumanRequired, "A git command failed.", "Read git's message; run company doctor.", failed, 0},
		{EHostKey, HumanRequired, "Unknown or changed ssh host key of the remote.",
			"Compare the published fingerprint, then company git trust-host <host>.", failed, 0},
		{EObjects, Recoverable, "A push was refused: size, path, author or sign-off.",
			"Nothing: the agent corrects it. For sizes see docs/limits.md.", failed, 0},
		{EGates, HumanRequired, "A check is missing, cannot start, or ran out of memory on the base.",
			"Set the gates keys or workers.memory; company init --dry-run proposes commands.", failed, 0},
		{EModel, Recoverable, "The model's server refuses, fails, or sends an unusable reply.",
			"Run company doctor --online. Set a fallback, or raise context_tokens or max_output.", failed, 0},
		{EModelAway, Recoverable, "The model's server was unreachable or busy for limits.model_wait.",
			"Check the server and base_url, or set a fallback.", failed, 0},
		{EModelAuth, HumanRequired, "The model's API key is missing or refused.",
			"Export the variable that the message names, then company resume.", failed, 0},
		{EAgent, Recoverable, "A program that works as an agent ended without a usable result.",
			"Read company logs <run>; see docs/agents.md for what it must print.", failed, 4004},
		{EAgentStart, Recoverable, "backend_unavailable: a program that works as an agent did not begin.",
			"Correct models.<profile>.bin, or add the program to the image (container.setup).", failed, 4001},
		{EBus, Fatal, "The storage cannot be opened or written.",
			"Check disk space and owner of the office's folder, then company resume.", failed, 0},
		{ELedger, Fatal, "A ledger record, a journal or a blob is damaged, missing or unreadable.",
			"Run company doctor --deep, then restore a copy of the office (docs/troubleshooting.md). Never " +
				"remove single files.", failed, 2003},
		{ETimeout, Recoverable, "A step exceeded its time limit.",
			"Raise workers.run_timeout or workers.command_timeout.", failed, 4002},
		{EForge, Recoverable, "GitHub, Gitea or Forgejo refuses or is unreachable.",
			"Run company doctor --online, then company pr sync or company resume.", failed, 0},
		{ERegistry, Recoverable, "A package registry is unreachable or refuses a package.",
			"Try later. For private packages: company trust --logins.", failed, 0},
		{EAuth, HumanRequired, "A forge or a remote refuses the login or the operation.",
			"Export a token with the permission that the message names, then company resume.", failed, 0},
		{EAccess, HumanRequired, "A request to company serve has no valid token, another origin, or no permission.",
			"Run company open, or send the token of serve.token_env. For a checkout: company project add.", failed, 0},
		{EWaiting, HumanRequired, "A question waits for your answer.",
			"Run company status, then company answer.", failed, 0},
		{EDiverged, HumanRequired, "A replay differs from its record.",
			"Read the first difference. Compare version, config and image.", failed, 0},
		{EOutput, HumanRequired, "The result could not be written to stdout; the work is done.",
			"company status shows the result.", failed, 0},
		{EMigration, HumanRequired, "migration_pending: the office's records have an older format.",
			"Run company migrate. All migrations happen, or none.", failed, 0},
		{EEvidence, Recoverable, "A claim has no evidence: an approving review, or a finished task.",
			"Set a stronger model for agents.reviewer, or see company evidence verify <task>.", failed, 0},
		{ECrash, HumanRequired, "company died repeatedly in the same step; the step is set aside.",
			"Report the message and the end of logs/company.log. After an update, company approve.", failed, 0},
	}
}

// GuideOf returns the guide of a code, and reports whether the code is known.
func GuideOf(code Code) (ErrorGuide, bool) {
	for _, errorGuide := range ErrorGuides() {
		if errorGuide.Code == code {
			return errorGuide, true
		}
	}
	return ErrorGuide{}, false
}

// ClassOf returns the class of err: its own, or else that of its code (ERR-1). It is empty for a nil error.
func ClassOf(err error) Class {
	var fault *Error
	if errors.As(err, &fault) && fault.Class != "" {
		return fault.Class
	}
	g, _ := GuideOf(CodeOf(err))
	return g.Class
}

// ExplainErrors returns the help text for "errors" or for one code. known is false for other topics.
func ExplainErrors(topic string) (text string, known bool) {
	var b strings.Builder
	if strings.EqualFold(topic, "errors") {
		for _, g := range ErrorGuides() {
			fmt.Fprintf(&b, "%-13s %s\n", g.Code, g.Means)
		}
		b.WriteString("\nWhat to do about one: company help E_MODEL\n")
		return b.String(), true
	}
	errorGuide, known := GuideOf(Code(strings.ToUpper(topic)))
	if known {
		fmt.Fprintf(&b, "%s\n  %s\n  what to do: %s\n  class:      %s\n  exit code:  %d\n", errorGuide.Code, errorGuide.Means,
			errorGuide.Do,
			errorGuide.Class, errorGuide.Exit)
		if errorGuide.Number > 0 {
			fmt.Fprintf(&b, "  number:     %d\n", errorGuide.Number)
		}
	}
	return b.String(), known
}

// PutCopyBack returns the advice to restore a file or folder from a copy. There is no command for it: a copy is
// complete only if no company worked while it was made.
func PutCopyBack(what string) string {
	return "put a copy of " + what + " back that was made with cp -a while no company worked"
}
