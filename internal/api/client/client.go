package client

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"company/internal/agent"
	"company/internal/api"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/present/view"
	"company/internal/upkeep"
)

// Office is the client of an office. Do, Try, Follow, StreamTranscript, StreamRecord, Verify, Now
// and Close are methods of the embedded api.Client.
type Office struct {
	*api.Client

	mu     sync.Mutex
	server *api.ServerInfo // process that has the office; nil if it was never opened
}

// Reconnect sets connect to find the office again if a request gets no answer, like
// api.Client.Reconnect. o takes over the connection that connect returns.
func (o *Office) Reconnect(connect func(context.Context) (*Office, error)) {
	o.Client.Reconnect(func(ctx context.Context) (*api.Client, error) {
		again, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.server = again.server
		return again.Client, nil
	})
}

// Server describes the process that has the office, as it was when o connected to it. It is the zero
// value if the office was never opened.
func (o *Office) Server() api.ServerInfo {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.server == nil {
		return api.ServerInfo{}
	}
	return *o.server
}

// IsAtWork reports whether work had started in the office when o connected to it, or o has started it.
func (o *Office) IsAtWork() bool { return o.Server().AtWork }

// StartWork starts the work of the office, like api.Client.StartWork.
func (o *Office) StartWork(ctx context.Context) (paused []company.TaskID, err error) {
	paused, err = o.Client.StartWork(ctx)
	if err == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.server.AtWork = true
	}
	return paused, err
}

// IsMissing reports whether the office was never opened.
func (o *Office) IsMissing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.server == nil
}

// Overview returns the office and its tasks. With all it includes tasks that have ended.
func (o *Office) Overview(ctx context.Context, all bool) (view.Overview, error) {
	return api.Get[view.Overview](ctx, o.Client, "overview?all="+strconv.FormatBool(all))
}

// Work returns the progress of tasks: the given ones, or all unfinished ones.
func (o *Office) Work(ctx context.Context, ids ...company.TaskID) (view.Work, error) {
	q := url.Values{}
	for _, id := range ids {
		q.Add("task", string(id))
	}
	return api.Get[view.Work](ctx, o.Client, "work?"+q.Encode())
}

// TaskProgress returns the progress of one task. It returns ENotFound for an unknown task, and
// EUsage for an invalid id.
func (o *Office) TaskProgress(ctx context.Context, id string) (*view.Progress, error) {
	if !company.TaskID(id).Valid() {
		_, err := view.FindTask(nil, id)
		return nil, err
	}
	work, err := o.Work(ctx, company.TaskID(id))
	if err != nil {
		return nil, err
	}
	return &work.Tasks[0], nil
}

// Shown returns the task, subtask, run, approval or pull request with an id.
func (o *Office) Shown(ctx context.Context, id string) (view.Shown, error) {
	return getByID[view.Shown](ctx, o, "shown", id)
}

// Approval returns a question to the president.
func (o *Office) Approval(ctx context.Context, id company.ApprovalID) (view.Approval, error) {
	return getByID[view.Approval](ctx, o, "approvals", string(id))
}

// Budget returns the limits and the costs of a task.
func (o *Office) Budget(ctx context.Context, id string) (view.Budget, error) {
	return getByID[view.Budget](ctx, o, "costs", id)
}

// Range returns the two commits between which a task, a subtask or a run made its change.
func (o *Office) Range(ctx context.Context, id string) (view.Range, error) {
	return getByID[view.Range](ctx, o, "ranges", id)
}

// Summary returns the result of a task.
func (o *Office) Summary(ctx context.Context, id company.TaskID) (view.Summary, error) {
	return getByID[view.Summary](ctx, o, "summaries", string(id))
}

// Summaries returns the results of tasks. It reads them one after the other.
func (o *Office) Summaries(ctx context.Context, ids ...company.TaskID) ([]view.Summary, error) {
	var sums []view.Summary
	for _, id := range ids {
		sum, err := o.Summary(ctx, id)
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

// PullRequest returns a pull request by its number or its task.
func (o *Office) PullRequest(ctx context.Context, ref string) (view.PullRecord, error) {
	return getByID[view.PullRecord](ctx, o, "prs", ref)
}

// PullRequests returns all pull requests of the office.
func (o *Office) PullRequests(ctx context.Context) ([]view.PullRequest, error) {
	return api.Get[[]view.PullRequest](ctx, o.Client, "prs")
}

// Budgets returns the budgets of all tasks.
func (o *Office) Budgets(ctx context.Context) ([]view.Budget, error) {
	return api.Get[[]view.Budget](ctx, o.Client, "costs")
}

// OfficeBudgets returns the limits for all tasks together.
func (o *Office) OfficeBudgets(ctx context.Context) ([]view.OfficeBudget, error) {
	return api.Get[[]view.OfficeBudget](ctx, o.Client, "budgets")
}

// TaskList returns the newest tasks that match a filter.
func (o *Office) TaskList(ctx context.Context, f view.TaskFilter) (view.TaskList, error) {
	q := url.Values{"state": f.States, "priority": f.Priorities, "tag": f.Tags, "limit": {strconv.Itoa(f.Limit)}}
	return api.Get[view.TaskList](ctx, o.Client, "tasks?"+q.Encode())
}

// Spending returns the cost of the runs that ended after since. The zero time means all runs.
func (o *Office) Spending(ctx context.Context, since time.Time) (view.Spending, error) {
	q := url.Values{}
	if !since.IsZero() {
		q.Set("since", since.Format(time.RFC3339))
	}
	return api.Get[view.Spending](ctx, o.Client, "spending?"+q.Encode())
}

// TaskCosts returns the costs of a task, a ticket or a run.
func (o *Office) TaskCosts(ctx context.Context, id string, detail view.CostDetail) (view.TaskCosts, error) {
	return getByID[view.TaskCosts](ctx, o, "spending", id,
		fmt.Sprintf("requests=%t&dearest=%t", detail.Requests, detail.Dearest))
}

// Agents returns the agents and their current work.
func (o *Office) Agents(ctx context.Context) (view.Agents, error) {
	return api.Get[view.Agents](ctx, o.Client, "agents")
}

// Images returns the images that tasks use.
func (o *Office) Images(ctx context.Context) ([]view.TaskImage, error) {
	return api.Get[[]view.TaskImage](ctx, o.Client, "images")
}

// IDs returns the ids for completing a command line.
func (o *Office) IDs(ctx context.Context) (view.IDs, error) {
	return api.Get[view.IDs](ctx, o.Client, "ids")
}

// Leftovers lists the items of ended tasks that a cleanup would remove. With recent it covers all
// ended tasks, and with unmerged also work that was never merged.
func (o *Office) Leftovers(ctx context.Context, recent, unmerged bool) (upkeep.Report, error) {
	return api.Get[upkeep.Report](ctx, o.Client, fmt.Sprintf("leftovers?all=%t&unmerged=%t", recent, unmerged))
}

// CheckEvidence compares the claims of a task with what shows them.
func (o *Office) CheckEvidence(ctx context.Context, id string) (view.EvidenceCheck, error) {
	return getByID[view.EvidenceCheck](ctx, o, "evidence", id)
}

// Projects returns the projects of the office.
func (o *Office) Projects(ctx context.Context) (view.Projects, error) {
	return api.Get[view.Projects](ctx, o.Client, "projects")
}

// Prompt returns what an agent of a role would be sent now for a task or a subtask.
func (o *Office) Prompt(ctx context.Context, role company.Role, id string) (view.Prompt, error) {
	return getByID[view.Prompt](ctx, o, "prompts", id, url.Values{"role": {string(role)}}.Encode())
}

// getByID reads one resource of a kind, by its id.
func getByID[T any](ctx context.Context, office *Office, kind, id string, query ...string) (v T, err error) {
	if id == "" || id == "." || id == ".." {
		return v, company.E(company.EUsage, fmt.Sprintf("invalid id %q", id)).Fix("company status lists the ids")
	}
	return api.Get[T](ctx, office.Client, strings.Join(append([]string{kind + "/" + url.PathEscape(id)}, query...), "?"))
}

// ReadTranscript builds the transcript of a run from its journal, as far as it exists.
func (o *Office) ReadTranscript(ctx context.Context, run company.RunID) (agent.Transcript, error) {
	var transcript agent.Transcript
	err := o.StreamTranscript(ctx, run, false, func(e agent.TranscriptEntry) error {
		transcript.Add(e)
		return nil
	})
	return transcript, err
}

// ReadRecord reads the record from which a finished task is replayed. It returns EInvalid if the
// task cannot be replayed, and ENotFound if there is no such task.
func (o *Office) ReadRecord(ctx context.Context, id company.TaskID) (*replay.Record, error) {
	return replay.Read(ctx, id, func(fn func(replay.Entry) error) error { return o.StreamRecord(ctx, id, fn) })
}
