package task

import (
	"context"
	"fmt"
	"strings"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/office/config"
	"company/internal/surface/cli/command"
)

// issueInstruction reads the issue of a submission, shows it, and asks the person to confirm it,
// because any user may have written it. It returns an instruction that quotes the issue.
func issueInstruction(
	ctx context.Context, env *command.Environment, options submitOptions, repo string, cfg config.Config, own string,
) (string, *company.IssueRef, error) {
	readIssue, err := officeapp.FindIssue(ctx, repo, options.issue, cfg, env.LookupEnv, env.Log)
	if err != nil {
		return "", nil, err
	}
	if !env.Yes && !env.CanPrompt() {
		return "", nil, company.E(company.EUsage, "an issue must be confirmed at a terminal").
			Because("anyone may have written it").
			Fix("read it, then: company submit --issue " + safetext.EscapeLine(options.issue, 200) + " --yes")
	}
	read := env.NameSlowStep("reading issue " + options.issue)
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
		env.PrintNote("! it has comments in <!-- -->, which its page hides and agents see")
	}
	switch yes, err := env.Confirm(ctx, "submit this? [y/N] "); {
	case err != nil:
		return "", nil, err
	case !yes:
		return "", nil, company.E(company.EWaiting, fmt.Sprintf("issue #%d not submitted", issue.Number)).
			Fix("company submit \"…\" with your own words")
	}
	return text, &issue.IssueRef, nil
}
