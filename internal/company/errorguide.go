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
		{EInternal, Fatal, "A fault of company itself, or an error of the machine that no other code covers.",
			"Run the command again with -v; it shows the details. The ledger is intact: what was decided stays.", failed},
		{EInvalid, HumanRequired, "The request cannot be carried out as it is, now or later.",
			"Change what the message names.", failed},
		{ENotFound, HumanRequired, "There is no task, run, question, pull request, project or file of that name.",
			"company status -v lists the tasks, company show <task> what belongs to one.", failed},
		{EConflict, HumanRequired,
			"The state has moved on since you looked: a task has ended, a question is answered, a branch was pushed.",
			"Look again with company show or company pr show, and decide anew.", failed},
		{EStale, Recoverable, "The sender does not own the run any more: a newer claim or a restart has taken it.",
			"Nothing. The work goes on under the newer claim.", failed},
		{EStopped, HumanRequired, "The office or the task is stopped.", "company resume, or company resume <task>.", failed},
		{EBudget, HumanRequired, "The next call could pass a cap: of the task, or of the run.",
			"company budget shows caps and spending; company budget add <task> 5usd, or 100ktokens where the cap is in " +
				"tokens, raises one.", failed},
		{EPlan, Recoverable, "Code refuses the manager's plan; the message says why. The manager gets the reasons and " +
			"plans again.", "Where it goes on, make the instruction smaller or more exact.", failed},
		{EProtected, HumanRequired, "main, master, the remote's default branch or a protected path is the target.",
			"Choose another branch (git.integration_branch), or answer the question about the path.", failed},
		{EConfig, Fatal, "company.yaml, a COMPANY_ variable or --set is wrong, or asks for what needs your trust.",
			"company config check lists every fault with its line; company trust shows what a file of the repository asks for.",
			failed},
		{EUsage, HumanRequired, "The command line is wrong. Nothing was done.",
			"The command's --help; the message names the nearest flag.", usage},
		{EHeld, Recoverable, "Another process holds the office and does not answer.",
			"Wait for it, or end the process that the message names; company status says whether one is at work.", held},
		{EDocker, Recoverable, "The Docker daemon is absent, refuses, or lost a container.",
			"company doctor names what is missing. Runs go on by themselves when the daemon is back.", failed},
		{EPolicy, HumanRequired, "A container or a request to Docker is not what the policy allows. Nothing was started.",
			"company doctor; look for a daemon setting that changes containers (default runtimes, seccomp, plugins).", failed},
		{ELost, Recoverable, "A container ended while an agent worked in it.",
			"Nothing: a new run goes on from the last checkpoint. Where it repeats, raise workers.memory.", failed},
		{EImage, HumanRequired, "No worker image can be made.",
			"Read the message's last lines; company image explain shows the layers, company image build tries alone.", failed},
		{EGit, HumanRequired, "A git command failed.",
			"The message has git's own words; company doctor checks the checkout and its remote.", failed},
		{EHostKey, HumanRequired, "The ssh server of the remote is not known, or shows another key than before.",
			"company git trust-host <host>, after comparing the fingerprint with the one that the host publishes.", failed},
		{EObjects, Recoverable, "A pushed commit, tree or file is refused by the checks: size, path, author, sign-off.",
			"The agent is given the reason and mends it. Where a file of the repository itself is over a limit, see " +
				"docs/limits.md.", failed},
		{EGates, HumanRequired, "A check is missing, cannot start, or was killed for want of memory on the base.",
			"company init --dry-run proposes commands; set gates.lint, gates.types, gates.build, gates.test or workers.memory.",
			failed},
		{EModel, Recoverable, "The model's server refuses, does not answer, or answers what cannot be used.",
			"company doctor --online asks the server; a fallback profile, or a larger context_tokens or max_output, helps " +
				"where the reply was cut.", failed},
		{EModelAway, Recoverable, "The model's server was not reached, or took no work, for as long as it was waited for.",
			"See that the server runs and that base_url is right; limits.model_wait says how long it is waited for, and a " +
				"fallback profile stands in.", failed},
		{EModelAuth, HumanRequired, "The model's server refuses the key, or there is none.",
			"export the variable that the message names, then company resume.", failed},
		{EBus, Fatal, "The store of the ledger and the queue cannot be opened or written.",
			"See that the disk has room and that the office's folder is yours, then company resume.", failed},
		{ELedger, Fatal, "A record of the ledger, a journal or a blob is damaged, is missing or cannot be read.",
			"Copy .company/ as it is, then put an earlier copy of .company/ back (docs/troubleshooting.md). Do not remove " +
				"single files. company doctor --deep reads all and names each damage.",
			failed},
		{ETimeout, Recoverable, "A step took longer than its limit and was ended.",
			"Make the step smaller, or raise the limit for later tasks (workers.run_timeout, workers.command_timeout).",
			failed},
		{EForge, Recoverable, "GitHub, Gitea or Forgejo refused, or cannot be reached.",
			"company doctor --online asks it. The branch is kept: company pr sync or company resume tries again.", failed},
		{ERegistry, Recoverable, "A package registry does not answer, or refuses a package.",
			"Try again later. Private packages need your login: company trust --logins.", failed},
		{EAuth, HumanRequired, "A forge or a remote refuses the login, or the login may not do this.",
			"export a token with the right that the message names, then company resume.", failed},
		{EAccess, HumanRequired,
			"A request to the address of company serve carries no token that is good now, comes from another site, or asks " +
				"for what no token may do.",
			"company open gives a fresh link for a browser; programs send the token of serve.token_env. A checkout is made " +
				"known to an office by company project add, on its machine.", failed},
		{EWaiting, HumanRequired, "A person must answer first.",
			"company status lists the questions; company answer, approve or reject.", failed},
		{EDiverged, HumanRequired, "A replay of a task did not come out as it is recorded.",
			"The message names the first difference: run, number of the request and message, or verdict. Compare what has " +
				"changed since: the version of company, agents, gates and container in its config, the image.", failed},
		{EOutput, HumanRequired, "The result could not be written to stdout. The work itself is done.",
			"See what became of the program that reads it; company status shows the outcome.", failed},
		{EEvidence, Recoverable,
			"A reviewer approved twice with evidence that names a command it never ran, a file it never read, or neither.",
			"The model of agents.second_reviewer is asked next, where it is set; else the president is. A stronger model for " +
				"agents.reviewer, or agents.second_reviewer, helps.", failed},
		{ECrash, HumanRequired,
			"company died again and again during one and the same run, preparation, gate, merge or delivery, without any " +
				"error that it could have caught. This is set aside.",
			"Report what the message names and the last lines of logs/company.log: this is a fault of company. After an " +
				"update, answer the question with company approve; the message names the other ways.", failed},
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
	}
	return b.String(), known
}

// PutCopyBack returns the advice to restore a file or folder from a copy. There is no command for it: a copy is
// complete only if no company worked while it was made.
func PutCopyBack(what string) string {
	return "put a copy of " + what + " back that was made with cp -a while no company worked"
}
