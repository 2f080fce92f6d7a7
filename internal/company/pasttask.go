package company

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// PastTask is the summary of an archived task in the state. It has the data that lists, totals and shell completion
// need of all tasks. The rest is in the archive.
type PastTask struct {
	ID       TaskID     `json:"id"`
	Lead     TaskID     `json:"lead,omitempty"` // the lead whose archive contains it; empty means its own archive
	Blob     Hash       `json:"blob,omitempty"` // its own archive
	Project  string     `json:"project"`
	Status   TaskStatus `json:"status"`
	DryRun   bool       `json:"dry_run,omitempty"`
	Priority Priority   `json:"priority,omitempty"`
	Tags     []string   `json:"tags,omitempty"`

	Submitted time.Time     `json:"submitted"`
	Ended     time.Time     `json:"ended"`
	Booked    time.Time     `json:"booked,omitzero"` // end of its last run
	Idle      time.Duration `json:"idle_ns,omitzero"`

	Subtasks  int          `json:"subtasks,omitempty"`
	Waves     int          `json:"waves,omitempty"`
	Runs      string       `json:"runs,omitempty"` // run ids without the task's id, separated by spaces
	Questions []ApprovalID `json:"questions,omitempty"`
	Image     string       `json:"image,omitempty"`
	// PR is the pull request after all follow-ups. Only a lead has it.
	PR           *PullRequest  `json:"pr,omitempty"`
	BranchChange *BranchChange `json:"branch_change,omitempty"`

	Spent Amount    `json:"spent"`
	Costs TaskCosts `json:"costs"`
}

// summarizePast returns the summary of a task that is being archived.
func (s *State) summarizePast(task *Task, meta Meta) *PastTask {
	pastTask := &PastTask{
		ID: task.ID, Project: task.Project.ID, Status: task.Status, DryRun: task.DryRun, Priority: task.Priority,
		Tags:      task.Tags,
		Submitted: task.Submitted, Ended: task.Ended, Idle: task.Idle, Subtasks: len(task.Subtasks), Waves: task.CountSteps(),
		Spent: task.Spent, Costs: task.CostsSince(time.Time{}, meta.Zone),
	}
	var runs []string
	for _, id := range slices.Sorted(maps.Keys(task.Runs)) {
		runs = append(runs, strings.TrimPrefix(string(id), string(task.ID)+"-"))
		if r := task.Runs[id]; r.EndedAt.After(pastTask.Booked) {
			pastTask.Booked = r.EndedAt
		}
	}
	pastTask.Runs = strings.Join(runs, " ")
	for _, a := range s.selectApprovals(func(a *Approval) bool { return a.Task == task.ID }) {
		pastTask.Questions = append(pastTask.Questions, a.ID)
	}
	if task.Prepared != nil {
		pastTask.Image = task.Prepared.Image
	}
	lead := s.LeadOf(task)
	if lead != task {
		pastTask.Lead = lead.ID
		return pastTask
	}
	for _, pull := range s.Pulls() {
		if pull.Lead == task {
			pr := pull.PullRequest
			pr.Body = ""
			pastTask.PR, pastTask.BranchChange = &pr, task.BranchChange
		}
	}
	return pastTask
}

// RunIDs returns the ids of the task's runs, sorted.
func (p *PastTask) RunIDs() []RunID {
	var out []RunID
	for run := range strings.FieldsSeq(p.Runs) {
		out = append(out, RunID(string(p.ID)+"-"+run))
	}
	return out
}

// WorkedFor returns how long the company worked on the task, like Task.WorkedFor.
func (p *PastTask) WorkedFor() time.Duration {
	return max(0, p.Ended.Sub(p.Submitted)-p.Idle)
}

// CostRow is the total cost of runs that share a day or a model.
type CostRow struct {
	Of    string `json:"of"`
	Runs  int    `json:"runs"`
	Spent Amount `json:"spent"`
}

// TaskCosts holds the costs of a task's ended runs. Each list is sorted.
type TaskCosts struct {
	Days   []CostRow `json:"days,omitempty"`   // by the day on which they ended, as 2006-01-02
	Models []CostRow `json:"models,omitempty"` // an empty name means that the model is not recorded
}

// CostsSince returns the costs of the runs that ended at or after a time. A nil zone means UTC.
func (t *Task) CostsSince(since time.Time, zone *time.Location) TaskCosts {
	days, models := map[string]CostRow{}, map[string]CostRow{}
	add := func(to map[string]CostRow, of string, spent Amount) {
		row := to[of]
		to[of] = CostRow{Of: of, Runs: row.Runs + 1, Spent: row.Spent.Add(spent)}
	}
	for _, run := range t.Runs {
		if !run.Ended || run.Fence == 0 || run.EndedAt.Before(since) {
			continue
		}
		add(days, run.EndedAt.In(cmp.Or(zone, time.UTC)).Format(time.DateOnly), run.Spent)
		rest := run.Spent
		for _, modelSpent := range run.Models {
			add(models, modelSpent.Model, modelSpent.Spent)
			rest = rest.Sub(modelSpent.Spent)
		}
		if rest != (Amount{}) || len(run.Models) == 0 {
			add(models, "", rest)
		}
	}
	sorted := func(rows map[string]CostRow) []CostRow {
		return slices.SortedFunc(maps.Values(rows), func(a, b CostRow) int { return strings.Compare(a.Of, b.Of) })
	}
	return TaskCosts{Days: sorted(days), Models: sorted(models)}
}

// HasOpenPull reports whether the pull request of an archived task is open.
func (s *State) HasOpenPull(p *PastTask) bool {
	lead := s.Past[cmp.Or(p.Lead, p.ID)]
	return lead != nil && lead.PR != nil && lead.PR.State == PROpen
}
