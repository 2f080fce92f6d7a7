package company

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// PastTask is what the state keeps of an archived task: what lists, sums and the
// completion of a command line need of all tasks. The rest is in the archive.
type PastTask struct {
	ID       TaskID     `json:"id"`
	Lead     TaskID     `json:"lead,omitempty"` // whose archive holds it; empty: its own does
	Blob     Hash       `json:"blob,omitempty"` // its own archive
	Project  string     `json:"project"`
	Status   TaskStatus `json:"status"`
	DryRun   bool       `json:"dry_run,omitempty"`
	Priority Priority   `json:"priority,omitempty"`
	Tags     []string   `json:"tags,omitempty"`

	Submitted time.Time     `json:"submitted"`
	Ended     time.Time     `json:"ended"`
	Booked    time.Time     `json:"booked,omitzero"` // when the books of its last run were closed
	Idle      time.Duration `json:"idle_ns,omitzero"`

	Subtasks  int          `json:"subtasks,omitempty"`
	Waves     int          `json:"waves,omitempty"`
	Runs      string       `json:"runs,omitempty"` // their ids behind that of the task, with spaces between
	Questions []ApprovalID `json:"questions,omitempty"`
	Image     string       `json:"image,omitempty"`
	// PR is the pull request as it stands after all follow-ups; only a lead has it.
	PR           *PullRequest  `json:"pr,omitempty"`
	BranchChange *BranchChange `json:"branch_change,omitempty"`

	Spent Amount    `json:"spent"`
	Costs TaskCosts `json:"costs"`
}

// summarizePast is what stays of a task in the state.
func (s *State) summarizePast(t *Task, m Meta) *PastTask {
	p := &PastTask{
		ID: t.ID, Project: t.Project.ID, Status: t.Status, DryRun: t.DryRun, Priority: t.Priority, Tags: t.Tags,
		Submitted: t.Submitted, Ended: t.Ended, Idle: t.Idle, Subtasks: len(t.Subtasks), Waves: t.CountSteps(),
		Spent: t.Spent, Costs: t.CostsSince(time.Time{}, m.Zone),
	}
	var runs []string
	for _, id := range slices.Sorted(maps.Keys(t.Runs)) {
		runs = append(runs, strings.TrimPrefix(string(id), string(t.ID)+"-"))
		if r := t.Runs[id]; r.EndedAt.After(p.Booked) {
			p.Booked = r.EndedAt
		}
	}
	p.Runs = strings.Join(runs, " ")
	for _, a := range s.selectApprovals(func(a *Approval) bool { return a.Task == t.ID }) {
		p.Questions = append(p.Questions, a.ID)
	}
	if t.Prepared != nil {
		p.Image = t.Prepared.Image
	}
	lead := s.LeadOf(t)
	if lead != t {
		p.Lead = lead.ID
		return p
	}
	for _, pull := range s.Pulls() {
		if pull.Lead == t {
			pr := pull.PullRequest
			pr.Body = ""
			p.PR, p.BranchChange = &pr, t.BranchChange
		}
	}
	return p
}

// RunIDs are the ids of the task's runs, sorted.
func (p *PastTask) RunIDs() []RunID {
	var out []RunID
	for run := range strings.FieldsSeq(p.Runs) {
		out = append(out, RunID(string(p.ID)+"-"+run))
	}
	return out
}

// WorkedFor is how long a company worked on the task, as that of a Task.
func (p *PastTask) WorkedFor() time.Duration {
	return max(0, p.Ended.Sub(p.Submitted)-p.Idle)
}

// CostRow is what runs cost that have something in common.
type CostRow struct {
	Of    string `json:"of"`
	Runs  int    `json:"runs"`
	Spent Amount `json:"spent"`
}

// TaskCosts is what the runs of a task cost that have ended, each list sorted.
type TaskCosts struct {
	Days   []CostRow `json:"days,omitempty"`   // by the day of their end, as 2006-01-02
	Models []CostRow `json:"models,omitempty"` // an empty name: the model is not recorded
}

// CostsSince is what the runs cost that ended since a time; nil as zone is UTC.
func (t *Task) CostsSince(since time.Time, zone *time.Location) TaskCosts {
	days, models := map[string]CostRow{}, map[string]CostRow{}
	add := func(to map[string]CostRow, of string, spent Amount) {
		row := to[of]
		to[of] = CostRow{Of: of, Runs: row.Runs + 1, Spent: row.Spent.Add(spent)}
	}
	for _, r := range t.Runs {
		if !r.Ended || r.Fence == 0 || r.EndedAt.Before(since) {
			continue
		}
		add(days, r.EndedAt.In(cmp.Or(zone, time.UTC)).Format(time.DateOnly), r.Spent)
		rest := r.Spent
		for _, m := range r.Models {
			add(models, m.Model, m.Spent)
			rest = rest.Sub(m.Spent)
		}
		if rest != (Amount{}) || len(r.Models) == 0 {
			add(models, "", rest)
		}
	}
	sorted := func(rows map[string]CostRow) []CostRow {
		return slices.SortedFunc(maps.Values(rows), func(a, b CostRow) int { return strings.Compare(a.Of, b.Of) })
	}
	return TaskCosts{Days: sorted(days), Models: sorted(models)}
}

// HasOpenPull says whether the pull request that an archived task worked on is open.
func (s *State) HasOpenPull(p *PastTask) bool {
	lead := s.Past[cmp.Or(p.Lead, p.ID)]
	return lead != nil && lead.PR != nil && lead.PR.State == PROpen
}
