package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"company/internal/company"
	"company/internal/safetext"
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
	views := []PullRequest{}
	for _, p := range src.State.Pulls() {
		views = append(views, NewPullRequest(pullTask(p)))
	}
	return views
}

// PullRequestsText is a table of pull requests for people.
func PullRequestsText(views []PullRequest) string {
	if len(views) == 0 {
		return "no pull requests yet\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, v := range views {
		fmt.Fprintf(table, "#%d\t%s\t%s\t%s -> %s\t%s\t%s\n", v.Number, v.State, v.Task, safetext.Escape(v.Branch), safetext.Escape(v.Base), v.Head.Short(), safetext.EscapeLine(v.Title, 80))
		if strings.HasPrefix(v.URL, "http") {
			fmt.Fprintf(table, "\t\t\t%s\n", safetext.EscapeLine(v.URL, 200))
		}
		if v.BranchChange != nil {
			fmt.Fprintf(table, "\t\t\tthe branch %s\n", BranchText(v.BranchChange))
		}
	}
	_ = table.Flush() // into memory
	return b.String()
}
