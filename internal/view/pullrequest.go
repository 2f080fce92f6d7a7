package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// PullRequest is a pull request as it stands after all follow-ups.
type PullRequest struct {
	Number int             `json:"number"`
	Task   company.TaskID  `json:"task"`
	State  company.PRState `json:"state"`
	Title  string          `json:"title"`
	Branch string          `json:"branch"`
	Base   string          `json:"base"`
	Head   company.OID     `json:"head"`
	URL    string          `json:"url,omitempty"`
	// BranchChange is there while the branch is not as it was delivered.
	BranchChange *company.BranchChange `json:"branch_change,omitempty"`
}

// NewPullRequest is the pull request of a task that pullTask gives.
func NewPullRequest(t *company.Task) PullRequest {
	return PullRequest{Number: t.PR.Number, Task: t.ID, State: t.PR.State, Title: company.TitleOf(t.PR.Title), Branch: t.PR.Branch, Base: t.PR.Base, Head: t.PR.Head, URL: t.PR.URL, BranchChange: t.BranchChange}
}

// BranchText describes the change of a branch, in a phrase that follows "the
// branch".
func BranchText(b *company.BranchChange) string { return safetext.EscapeLine(b.String(), 500) }

// pullTask is the task that opened a pull request, with the pull request as it
// stands after all follow-ups.
func pullTask(p company.Pull) *company.Task {
	t, pr := *p.Lead, p.PullRequest
	t.PR = &pr
	return &t
}

// withPull is the source in whose state the tasks are found, though they are archived,
// that findPull looks for.
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

// findPull is the pull request of a number, or of a task.
// Forges number by repository: where several projects have one of that number,
// its task names it.
func findPull(s *company.State, arg string) (company.Pull, error) {
	for _, p := range s.Pulls() {
		if slices.ContainsFunc(p.Tasks, func(t *company.Task) bool { return string(t.ID) == arg }) {
			return p, nil
		}
	}
	n, err := strconv.Atoi(strings.TrimPrefix(arg, "#"))
	if err != nil || n < 1 {
		return company.Pull{}, company.E(company.EUsage, fmt.Sprintf("%q is no pull request", safetext.EscapeLine(arg, 80))).Fix("name its number or its task; company pr list shows them")
	}
	var found []company.Pull
	for _, p := range s.Pulls() {
		if p.Number == n {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return company.Pull{}, company.E(company.ENotFound, fmt.Sprintf("there is no pull request %d", n)).Fix("company pr list shows them")
	case 1:
		return found[0], nil
	}
	var tasks []string
	for _, p := range found {
		tasks = append(tasks, string(p.Lead.ID))
	}
	return company.Pull{}, company.E(company.EUsage, fmt.Sprintf("there are %d pull requests of the number %d", len(found), n)).
		Because("each project numbers its own").Fix("name its task: " + strings.Join(tasks, " or "))
}

// PullRequests are all of an office, each as it stands after all follow-ups.
func (src Source) PullRequests() []PullRequest {
	views := src.pullRequests()
	slices.SortStableFunc(views, func(a, b PullRequest) int {
		if open := a.State == company.PROpen; open != (b.State == company.PROpen) {
			return map[bool]int{true: -1, false: 1}[open]
		}
		return b.Number - a.Number
	})
	return views
}

// PullRequestsText is a table of pull requests for people.
func PullRequestsText(views []PullRequest, s Style) string {
	if len(views) == 0 {
		return "no pull requests yet\n"
	}
	table := screen.Table{Columns: []screen.Column{{Title: "PR"}, {Title: "STATE"}, {Title: "TASK"}, {Title: "BRANCH", Rank: 1}, {Title: "HEAD", Rank: 2}, {Title: "WHAT"}}}
	for _, v := range views {
		color := ""
		if v.State == company.PROpen {
			color = screen.Green
		}
		table.ColorRow(color, fmt.Sprintf("#%d", v.Number), string(v.State), string(v.Task), safetext.Escape(v.Branch)+" -> "+safetext.Escape(v.Base), v.Head.Short(), safetext.EscapeLine(v.Title, 80))
		if strings.HasPrefix(v.URL, "http") {
			table.Note(safetext.EscapeLine(v.URL, 200))
		}
		if v.BranchChange != nil {
			table.Note("the branch " + BranchText(v.BranchChange))
		}
	}
	return table.Render(s)
}

// PullRange is the commits that a task's pull request asks to merge.
func PullRange(t *company.Task) Range {
	return Range{Of: fmt.Sprintf("#%d", t.PR.Number), Project: t.Project, From: t.Prepared.Base.OID, To: t.PR.Head}
}

// RenderNeed returns the text for an open pull request that waits for the president: its
// title, branch and address, and the commands about it.
func (v PullRequest) RenderNeed(s Style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d of %s waits for your review\n\n", v.Number, v.Task)
	fmt.Fprintf(&b, "%s\n%s -> %s @ %s\n", safetext.EscapeLine(v.Title, 300), safetext.EscapeLine(v.Branch, 200), safetext.EscapeLine(v.Base, 200), v.Head.Short())
	if strings.HasPrefix(v.URL, "http") {
		b.WriteString(safetext.EscapeLine(v.URL, 500) + "\n")
	}
	if v.BranchChange != nil {
		b.WriteString("The branch " + BranchText(v.BranchChange) + "\n")
	}
	b.WriteString("\n" + s.Heading("COMMANDS") + "\n")
	for _, c := range [][2]string{{"show", "its text with the evidence"}, {"diff", "its changes"}, {"checkout", "its branch in your clone"}, {"merge", "merge it, or note that it is merged"}, {"close", "close it without a merge"}} {
		fmt.Fprintf(&b, "  company pr %-11s %s\n", fmt.Sprintf("%s %d", c[0], v.Number), c[1])
	}
	return b.String()
}

// PullPage is a task's pull request with its evidence, for people: body is its text, changed
// how much it changes (empty: not known), next what comes next.
func PullPage(t *company.Task, body, changed, next string, style Style) string {
	if changed != "" {
		changed = "  " + changed
	}
	where := ""
	if t.PR.IsOnForge() {
		where = safetext.Escape(t.PR.URL) + "\n"
	}
	if t.BranchChange != nil {
		where += "The branch " + BranchText(t.BranchChange) + "\n"
	}
	head := fmt.Sprintf("#%d  %s  %s -> %s @ %s%s", t.PR.Number, t.PR.State, safetext.Escape(t.PR.Branch), safetext.Escape(t.PR.Base), t.PR.Head.Short(), changed)
	return fmt.Sprintf("%s\n%s\n%s\nNEXT  %s\n", screen.WrapHelp(head, style), screen.WrapHelp(where, style),
		screen.WrapMarkdown(safetext.Escape(body), style), style.Wrap(next, "      "))
}
