package task

import (
	"context"
	"fmt"
	"strings"

	officeapp "company/internal/app"
	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/config"
	"company/internal/safetext"
)

// issueInstruction reads the issue of a submission, shows it, and has the person confirm
// it, since anyone may have written it. The instruction that it gives quotes the issue.
func issueInstruction(ctx context.Context, env *command.Environment, o submitOptions, repo string, c config.Config, own string) (string, *company.IssueRef, error) {
	readIssue, err := officeapp.FindIssue(ctx, repo, o.issue, c, env.LookupEnv, env.Log)
	if err != nil {
		return "", nil, err
	}
	if !env.Yes && !env.CanPrompt() {
		return "", nil, company.E(company.EUsage, "an issue is confirmed at a terminal").Because("anyone may have written it").
			Fix("read it, then: company submit --issue " + safetext.EscapeLine(o.issue, 200) + " --yes")
	}
	read := env.NameSlowStep("reading issue " + o.issue)
	issue, err := readIssue(ctx)
	read()
	if err != nil {
		return "", nil, err
	}
	text := issue.Instruction(own)
	if env.Yes {
		env.PrintNote("%s, %s", issue.Heading(), issue.URL)
		return text, &issue.IssueRef, nil
	}
	fmt.Fprintf(env.Err, "%s\n", safetext.Escape(text))
	if strings.Contains(issue.Body, "<!--") {
		env.PrintNote("! its page does not show the comments in <!-- -->; agents are shown them")
	}
	switch yes, err := env.Confirm(ctx, "submit this? [y/N] "); {
	case err != nil:
		return "", nil, err
	case !yes:
		return "", nil, company.E(company.EWaiting, fmt.Sprintf("issue #%d is not submitted", issue.Number)).Fix("company submit \"…\" with your own words")
	}
	return text, &issue.IssueRef, nil
}
