package cli

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/safetext"
)

// target is what an id on the command line names. Exactly the fields of what
// was named are set: a run has its task, and its subtask where it has one.
type target struct {
	task     *company.Task
	subtask  *company.Subtask
	run      *company.Run
	approval *company.Approval
}

var approvalRE = regexp.MustCompile(`^a[1-9][0-9]{0,8}$`)

// findTarget looks an id up: t1, t1-02, t1-02.3, a4. What is no id is wrong usage;
// what is well formed and not there is ENotFound.
func findTarget(s *company.State, id string) (target, error) {
	switch {
	case approvalRE.MatchString(id):
		a := s.Approvals[company.ApprovalID(id)]
		if a == nil {
			return target{}, company.E(company.ENotFound, "there is no question "+id).Fix("company status lists what waits for you")
		}
		return target{approval: a, task: s.Tasks[a.Task]}, nil
	case company.TaskID(id).Valid():
		t := s.Tasks[company.TaskID(id)]
		if t == nil {
			return target{}, taskNotFound(s, id)
		}
		return target{task: t}, nil
	case company.SubtaskID(id).Valid():
		t := s.Tasks[company.SubtaskID(id).Task()]
		if t == nil {
			return target{}, taskNotFound(s, string(company.SubtaskID(id).Task()))
		}
		sub := t.Subtask(company.SubtaskID(id))
		if sub == nil {
			return target{}, company.E(company.ENotFound, "there is no subtask "+id).Because(describeSubtasks(t)).Fix("company show " + string(t.ID))
		}
		return target{task: t, subtask: sub}, nil
	case company.RunID(id).Valid():
		t := s.Tasks[company.RunID(id).Task()]
		if t == nil {
			return target{}, taskNotFound(s, string(company.RunID(id).Task()))
		}
		r := t.Runs[company.RunID(id)]
		if r == nil {
			return target{}, company.E(company.ENotFound, "there is no run "+id).Fix("company show " + string(t.ID) + " lists its runs")
		}
		return target{task: t, subtask: t.Subtask(r.Subtask), run: r}, nil
	}
	return target{}, company.E(company.EUsage, fmt.Sprintf("%q is no id", safetext.EscapeLine(id, 80))).
		Fix("ids look like t12 (task), t12-03 (subtask), t12-03.2 (run), a7 (question)")
}

func taskNotFound(s *company.State, id string) error {
	e := company.E(company.ENotFound, "there is no task "+safetext.EscapeLine(id, 40))
	if len(s.Tasks) == 0 {
		return e.Because("this office has no tasks yet").Fix(`company submit "…" gives it the first`)
	}
	return e.Because(fmt.Sprintf("the newest is t%d", s.LastTask)).Fix("company status lists the tasks of this office")
}

func describeSubtasks(t *company.Task) string {
	if len(t.Subtasks) == 0 {
		return string(t.ID) + " has no plan yet"
	}
	ids := make([]string, len(t.Subtasks))
	for i, sub := range t.Subtasks {
		ids[i] = string(sub.ID)
	}
	return string(t.ID) + " has " + strings.Join(ids, ", ")
}

// findTask is find for what must be a task.
func findTask(s *company.State, id string) (*company.Task, error) {
	if !company.TaskID(id).Valid() {
		return nil, company.E(company.EUsage, fmt.Sprintf("%q is no task", safetext.EscapeLine(id, 80))).Fix("tasks look like t12; company status lists them")
	}
	th, err := findTarget(s, id)
	return th.task, err
}

// prTask is the task that opened a pull request, with the pull request as it
// stands after all follow-ups.
func prTask(p company.Pull) *company.Task {
	t, pr := *p.Lead, p.PullRequest
	t.PR = &pr
	return &t
}

// findPR is the task whose pull request has this number, as pulled gives it.
// Forges number by repository: where several projects have one of that number,
// its task names it.
func findPR(s *company.State, arg string) (*company.Task, error) {
	for _, p := range s.Pulls() {
		if slices.ContainsFunc(p.Tasks, func(t *company.Task) bool { return string(t.ID) == arg }) {
			return prTask(p), nil
		}
	}
	n, err := strconv.Atoi(strings.TrimPrefix(arg, "#"))
	if err != nil || n < 1 {
		return nil, company.E(company.EUsage, fmt.Sprintf("%q is no pull request", safetext.EscapeLine(arg, 80))).Fix("name its number or its task; company pr list shows them")
	}
	var found []company.Pull
	for _, p := range s.Pulls() {
		if p.Number == n {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return nil, company.E(company.ENotFound, fmt.Sprintf("there is no pull request %d", n)).Fix("company pr list shows them")
	case 1:
		return prTask(found[0]), nil
	}
	var tasks []string
	for _, p := range found {
		tasks = append(tasks, string(p.Lead.ID))
	}
	return nil, company.E(company.EUsage, fmt.Sprintf("there are %d pull requests of the number %d", len(found), n)).
		Because("each project numbers its own").Fix("name its task: " + strings.Join(tasks, " or "))
}

// readState gives the state of the office, for a command that only reads.
func (a *app) readState(ctx context.Context) (*company.State, officeClient, error) {
	acc, _, err := a.connectOffice(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := acc.State(ctx)
	if err != nil {
		acc.Close()
		return nil, nil, err
	}
	return s, acc, nil
}

// completeIDs completes the ids of an office on the command line.
func (a *app) completeIDs(list func(*company.State) []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || a.applyFlags() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s, acc, err := a.readState(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer acc.Close()
		return list(s), cobra.ShellCompDirectiveNoFileComp
	}
}

func taskIDs(s *company.State) []string {
	var out []string
	for _, t := range sortedTasks(s) {
		out = append(out, string(t.ID))
	}
	return out
}

// allIDs are the tasks with their subtasks and runs.
func allIDs(s *company.State) []string {
	var out []string
	for _, t := range sortedTasks(s) {
		out = append(out, string(t.ID))
		for _, sub := range t.Subtasks {
			out = append(out, string(sub.ID))
		}
		for id := range t.Runs {
			out = append(out, string(id))
		}
	}
	return out
}

func openIDs(s *company.State) []string {
	var out []string
	for _, q := range s.OpenApprovals("") {
		out = append(out, string(q.ID))
	}
	return out
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
