package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// PullRequest is the current pull request, after all follow-ups.
type PullRequest struct {
	Number int             `json:"number"`
	Task   company.TaskID  `json:"task"`
	State  company.PRState `json:"state"`
	Title  string          `json:"title"`
	Branch string          `json:"branch"`
	Base   string          `json:"base"`
	Head   company.OID     `json:"head"`
	URL    string          `json:"url,omitempty"`
	// BranchChange is set while the branch differs from the delivered one.
	BranchChange *company.BranchChange `json:"branch_change,omitempty"`
}

// NewPullRequest returns the view of a task's pull request. The task comes from pullTask.
func NewPullRequest(task *company.Task) PullRequest {
	return PullRequest{Number: task.PR.Number, Task: task.ID, State: task.PR.State, Title: company.TitleOf(task.PR.Title),
		Branch: task.PR.Branch, Base: task.PR.Base, Head: task.PR.Head, URL: task.PR.URL, BranchChange: task.BranchChange}
}

// BranchText describes the change of a branch, to follow "the branch".
func BranchText(b *company.BranchChange) string { return safetext.EscapeLine(b.String(), 500) }

// pullTask returns the task that opened a pull request, with the current pull request after all follow-ups.
func pullTask(p company.Pull) *company.Task {
	task, pr := *p.Lead, p.PullRequest
	task.PR = &pr
	return &task
}

// withPull returns a source whose state contains the tasks that findPull looks for, even if they are archived.
func (src Source) withPull(arg string) (Source, error) {
	if company.TaskID(arg).Valid() {
		return src.withTask(company.TaskID(arg))
	}
	n, err := strconv.Atoi(strings.TrimPrefix(arg, "#"))
	if err != nil {
		return src, nil // findPull refuses it
	}
	for id, p := range src.State.Past {
		if p.PR != nil && p.PR.Number == n {
			if src, err = src.withTask(id); err != nil {
				return src, err
			}
		}
	}
	return src, nil
}

// findPull returns the pull request with a number, or of a task. Forges number by repository: if several projects have
// the same number, the task must be named.
func findPull(state *company.State, arg string) (company.Pull, error) {
	for _, pull := range state.Pulls() {
		if slices.ContainsFunc(pull.Tasks, func(t *company.Task) bool { return string(t.ID) == arg }) {
			return pull, nil
		}
	}
	n, err := strconv.Atoi(strings.TrimPrefix(arg, "#"))
	if err != nil || n < 1 {
		fault := company.E(company.EUsage, fmt.Sprintf("invalid pull request %q", safetext.EscapeLine(arg, 80)))
		return company.Pull{}, fault.
			Fix("give its number or its task; company pr list shows them")
	}
	var found []company.Pull
	for _, pull := range state.Pulls() {
		if pull.Number == n {
			found = append(found, pull)
		}
	}
	switch len(found) {
	case 0:
		return company.Pull{}, company.E(company.ENotFound, fmt.Sprintf("there is no pull request %d", n)).
			Fix("company pr list shows them")
	case 1:
		return found[0], nil
	}
	var tasks []string
	for _, p := range found {
		tasks = append(tasks, string(p.Lead.ID))
	}
	return company.Pull{}, company.E(
		company.EUsage, fmt.Sprintf("there are %d pull requests with the number %d", len(found), n)).
		Because("each project has its own numbers").Fix("name its task: " + strings.Join(tasks, " or "))
}

// PullRequests returns all pull requests of an office, each after all follow-ups. Open ones come first, then the
// highest numbers.
func (src Source) PullRequests() []PullRequest {
	views := src.pullRequests()
	slices.SortStableFunc(views, func(pullRequest, b PullRequest) int {
		if open := pullRequest.State == company.PROpen; open != (b.State == company.PROpen) {
			return map[bool]int{true: -1, false: 1}[open]
		}
		return b.Number - pullRequest.Number
	})
	return views
}

// PullRequestsText renders a table of pull requests.
func PullRequestsText(views []PullRequest, style Style) string {
	if len(views) == 0 {
		return "no pull requests yet\n"
	}
	table := termtext.Table{Columns: []termtext.Column{{Title: "PR"}, {Title: "STATE"}, {Title: "TASK"},
		{Title: "BRANCH", Rank: 1}, {Title: "HEAD", Rank: 2}, {Title: "WHAT"}}}
	for _, pullRequest := range views {
		color := ""
		if pullRequest.State == company.PROpen {
			color = termtext.Green
		}
		table.ColorRow(color, fmt.Sprintf("#%d", pullRequest.Number), string(pullRequest.State), string(pullRequest.Task),
			safetext.Escape(pullRequest.Branch)+" -> "+safetext.Escape(pullRequest.Base), pullRequest.Head.Short(),
			safetext.EscapeLine(pullRequest.Title, 80))
		if strings.HasPrefix(pullRequest.URL, "http") {
			table.Note(safetext.EscapeLine(pullRequest.URL, 200))
		}
		if pullRequest.BranchChange != nil {
			table.Note("the branch " + BranchText(pullRequest.BranchChange))
		}
	}
	return table.Render(style)
}

// PullRange returns the commits that a task's pull request would merge.
func PullRange(t *company.Task) Range {
	return Range{Of: fmt.Sprintf("#%d", t.PR.Number), Project: t.Project, From: t.Prepared.Base.OID, To: t.PR.Head}
}

// RenderNeed renders an open pull request that waits for the president's review: title, branch, address and commands.
func (v PullRequest) RenderNeed(style Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d of %s waits for your review\n\n", v.Number, v.Task)
	fmt.Fprintf(&b, "%s\n%s -> %s @ %s\n", safetext.EscapeLine(v.Title, 300), safetext.EscapeLine(v.Branch, 200),
		safetext.EscapeLine(v.Base, 200), v.Head.Short())
	if strings.HasPrefix(v.URL, "http") {
		b.WriteString(safetext.EscapeLine(v.URL, 500) + "\n")
	}
	if v.BranchChange != nil {
		b.WriteString("The branch " + BranchText(v.BranchChange) + "\n")
	}
	b.WriteString("\n" + style.Heading("COMMANDS") + "\n")
	for _, c := range [][2]string{{"show", "its text with the evidence"}, {"diff", "its changes"},
		{"checkout", "its branch in your clone"}, {"merge", "merge it, or record that it is merged"},
		{"close", "close it without a merge"}} {
		fmt.Fprintf(&b, "  company pr %-11s %s\n", fmt.Sprintf("%s %d", c[0], v.Number), c[1])
	}
	return b.String()
}

// PullPage renders a task's pull request with its evidence. body is its text. changed describes the size of the
// change, and may be empty. next is the next step.
func PullPage(task *company.Task, body, changed, next string, style Style) string {
	if changed != "" {
		changed = "  " + changed
	}
	where := ""
	if task.PR.IsOnForge() {
		where = safetext.Escape(task.PR.URL) + "\n"
	}
	if task.BranchChange != nil {
		where += "The branch " + BranchText(task.BranchChange) + "\n"
	}
	if task.PR.Note != "" {
		where += "NOTE  " + safetext.EscapeLine(task.PR.Note, 300) + "\n"
	}
	head := fmt.Sprintf("#%d  %s  %s -> %s @ %s%s", task.PR.Number, task.PR.State, safetext.Escape(task.PR.Branch),
		safetext.Escape(task.PR.Base), task.PR.Head.Short(), changed)
	return fmt.Sprintf("%s\n%s\n%s\nNEXT  %s\n", termtext.WrapHelp(head, style), termtext.WrapHelp(where, style),
		termtext.WrapMarkdown(safetext.Escape(body), style), style.Wrap(next, "      "))
}
