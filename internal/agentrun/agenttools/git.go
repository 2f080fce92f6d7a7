package agenttools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/guess"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// mostGuesses limits how often finish refuses a summary because it guesses (WRK-13).
const mostGuesses = 2

func (f *toolFactory) gitStatus() agent.Tool {
	return newTool(f, "git_status",
		`Branch, head, uncommitted files.`,
		`{"type":"object","additionalProperties":false}`, true,
		func(ctx context.Context, _ struct{}) (agent.Result, error) {
			r, err := f.Toolbox.GitStatus(ctx)
			return agent.Result{Text: r.Text()}, err
		})
}

func (f *toolFactory) gitCommit() agent.Tool {
	return newTool(f, "git_commit",
		`Commit all that is not ignored, or paths.`,
		`{"type":"object","properties":{
"message":{"type":"string","minLength":1},
"paths":{"type":"array","items":{"type":"string","minLength":1}}},
"required":["message"],"additionalProperties":false}`, false,
		func(ctx context.Context, a struct {
			Message string
			Paths   []string
		}) (agent.Result, error) {
			commitResult, err := f.Toolbox.GitCommit(
				ctx, toolproto.GitCommitRequest{Message: f.commitMessage(a.Message), Paths: a.Paths, When: commitTime(ctx)})
			if err != nil {
				return agent.Result{}, err
			}
			head := company.OID(commitResult.Commit)
			return agent.Result{Text: fmt.Sprintf("committed %s on %s\n%s%s", head.Short(), commitResult.Branch,
				formatFileStates(commitResult.Files), f.describeCommit(ctx, head, commitResult.Ignored)), Changed: true}, nil
		})
}

// commitTime returns the time for commits of a call, in seconds since 1970, or 0 if it is unknown. It is the
// same each time the call is repeated.
func commitTime(ctx context.Context) int64 {
	if at := agent.Asked(ctx); !at.IsZero() {
		return at.Unix()
	}
	return 0
}

// commitMessage puts the ticket before a commit message ("[t12-03] description"), unless it is there already.
// Characters that would control a reader's terminal are escaped.
func (f *toolFactory) commitMessage(m string) string {
	m = safetext.Escape(m)
	tag := "[" + f.Ticket + "]"
	if f.Ticket == "" || strings.HasPrefix(m, tag) {
		return m
	}
	return tag + " " + m
}

// Finish is the Final of the tool finish. Commit comes from the container, and the host checks the commit
// itself. Problem, Summary and Risks become the text of the pull request. Unchanged means that the work needs no
// commit, because the repository already does what is asked. The summary has the evidence then.
type Finish struct {
	Problem   string      `json:"problem,omitempty"`
	Summary   string      `json:"summary"`
	Risks     string      `json:"risks,omitempty"`
	Decisions []string    `json:"decisions,omitempty"`
	Commit    company.OID `json:"commit"`
	Unchanged bool        `json:"unchanged,omitempty"`
}

func (f *toolFactory) finishTool() agent.Tool {
	tool := newTool(f, "finish",
		`Hand the work in.`,
		`{"type":"object","properties":{
"problem":{"type":"string","maxLength":2000,"description":"what was wrong or wanted (≤ 300 characters)"},
"summary":{"type":"string","minLength":1,"description":"the whole change and why so, for a maintainer (≤ 500); several repairs as a list"},
"risks":{"type":"string","maxLength":2000,"description":"what could break or is open (≤ 200)"},
"decisions":{"type":"array","maxItems":20,"items":{"type":"string","maxLength":1000},"description":"what this ticket's runs decided where it is open"},
"commit":{"type":"string","minLength":1,"description":"message: commits what is left first"}},
"required":["summary"],"additionalProperties":false}`, false,
		func(ctx context.Context, a struct {
			Problem, Summary, Risks, Commit string
			Decisions                       []string
		}) (agent.Result, error) {
			if !f.Start.Valid() {
				return agent.Result{}, company.E(company.EInternal, "finish does not know the run's first commit")
			}
			switch phrase := guess.FindPhrase(a.Summary); {
			case phrase == "":
			case f.guesses < mostGuesses:
				f.guesses++
				return agent.Result{IsError: true, Text: fmt.Sprintf("Not finished: the summary guesses (%q), and a claim of "+
					"finished work may not. Check it and say what you saw, or say in risks what is open. Put code and "+
					"quotations in backticks.", phrase)}, nil
			default:
				a.Risks = strings.TrimSpace(fmt.Sprintf("The summary guesses (%q). %s", phrase, a.Risks))
			}
			statusResult, err := f.Toolbox.GitStatus(ctx)
			if err != nil {
				return agent.Result{}, err
			}
			onBranch := f.Branch == "" || statusResult.Branch == f.Branch
			commits := a.Commit != "" && !statusResult.Clean && onBranch
			no := func(format string, args ...any) (agent.Result, error) {
				return agent.Result{Text: "Not finished: " + fmt.Sprintf(format, args...), IsError: true, Changed: commits}, nil
			}
			if commits {
				if _, err := f.Toolbox.GitCommit(
					ctx, toolproto.GitCommitRequest{Message: f.commitMessage(a.Commit), When: commitTime(ctx)}); err != nil {
					return agent.Result{}, err
				}
				if statusResult, err = f.Toolbox.GitStatus(ctx); err != nil {
					return agent.Result{Changed: true}, err
				}
			}
			isUnchanged := company.OID(statusResult.Head) == f.Start && !f.Unfinished
			switch {
			case !onBranch:
				return no("the work tree is on %s and the work belongs on %s. Bring it there, then finish.",
					cmp.Or(statusResult.Branch, "no branch"), f.Branch)
			case !statusResult.Clean:
				return no("these changes are not committed. Commit what belongs to the work, undo or ignore the rest, then "+
					"finish.\n%s", formatFileStates(statusResult.Files))
			case isUnchanged && f.Start == f.Base && f.askedUnchanged:
				return agent.Result{Text: "finished without a change", Final: Finish{Problem: a.Problem,
					Summary: "Nothing to change: " + a.Summary, Risks: a.Risks, Decisions: a.Decisions, Commit: f.Start,
					Unchanged: true}}, nil
			case isUnchanged && f.Start == f.Base:
				f.askedUnchanged = true // ask only once
				return no("nothing was committed. Do the work and commit it, or call escalate and say what is in the way. Where " +
					"the repository already does all that is asked, finish again with the evidence in summary: what does it, " +
					"and what shows that.")
			case isUnchanged:
				return no("nothing was committed. Do the work and commit it, or call escalate and say what is in the way.")
			case f.AskTests && f.lacksTests(ctx):
				f.AskTests = false // ask only once
				return no("no test changes with this work. Add one that fails without it and commit, then finish. Where none can " +
					"show it, finish again and say in risks why.")
			}
			pushes := statusResult.Unpushed > 0
			if pushes {
				// Commits made by git itself in run_command are not on the host yet.
				if _, err := f.Toolbox.Push(ctx); err != nil {
					return agent.Result{}, err
				}
			}
			head := company.OID(statusResult.Head)
			if news := f.describeCommit(ctx, head, statusResult.Ignored); news != "" { // once for each file
				return agent.Result{Text: "Not finished yet: read this, do what is needed, then finish again.\n" + news,
					IsError: true, Changed: pushes || commits}, nil
			}
			return agent.Result{Changed: pushes || commits, Text: "finished at " + head.Short(),
				Final: Finish{Problem: a.Problem, Summary: a.Summary, Risks: a.Risks,
					Decisions: append(listLeftOut(statusResult.Ignored), a.Decisions...), Commit: head}}, nil
		})
	tool.Finishes = true
	return tool
}

// lacksTests reports whether the branch changes code but no test. It returns false if git fails or lists too
// many paths.
func (f *toolFactory) lacksTests(ctx context.Context) bool {
	if !f.Base.Valid() {
		return false
	}
	res, err := f.Toolbox.Run(ctx,
		toolproto.RunRequest{Command: "git -c core.quotePath=false diff --name-only --no-renames " + string(f.Base) +
			"...HEAD", TimeoutS: 30})
	if err != nil || res.ExitCode != 0 || res.Stdout.Omitted > 0 {
		return false
	}
	return company.LacksTests(strings.Split(strings.TrimSpace(res.Stdout.Head), "\n"))
}

func formatFileStates(list []toolproto.FileState) string {
	const most = 50
	var b strings.Builder
	for i, fileState := range list {
		if i == most {
			fmt.Fprintf(&b, "… and %d more\n", len(list)-most)
			break
		}
		b.WriteString(fileState.String() + "\n")
	}
	return b.String()
}
