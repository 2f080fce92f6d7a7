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
	"company/internal/replay"
	"company/internal/upkeep"
	"company/internal/view"
)

// Office is the client of an office. Do, Try, Follow, StreamTranscript, StreamRecord, Verify,
// Now and Close are those of its connection.
type Office struct {
	*api.Client

	mu     sync.Mutex
	server *api.ServerInfo // of the process that serves it
	local  bool            // of this process
}

// Reconnect has connect reach the office anew where a request gets no answer, and makes
// that request once more: as api.Client's. The office that connect gives belongs to o then.
func (o *Office) Reconnect(connect func(context.Context) (*Office, error)) {
	o.Client.Reconnect(func(ctx context.Context) (*api.Client, error) {
		again, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.server, o.local = again.server, again.local
		return again.Client, nil
	})
}

// findHolder finds who has the office now: another process, this one, or neither.
func (o *Office) findHolder() (server *api.ServerInfo, local bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.server, o.local
}

// Server describes the process that has the office at work. ok is false where
// no other process does.
func (o *Office) Server() (info api.ServerInfo, ok bool) {
	server, _ := o.findHolder()
	if server == nil {
		return api.ServerInfo{}, false
	}
	return *server, true
}

// IsServed reports whether a company is at work in another process.
func (o *Office) IsServed() bool {
	_, ok := o.Server()
	return ok
}

// StaysServing says whether the office is held by a company that stays when its
// tasks have ended. Of no office it says no.
func (o *Office) StaysServing() bool {
	if o == nil {
		return false
	}
	info, _ := o.Server()
	return info.Serving
}

// IsMissing reports whether the office was never opened.
func (o *Office) IsMissing() bool {
	server, local := o.findHolder()
	return server == nil && !local
}

// Overview is the office and its tasks; all: those that have ended, too.
func (o *Office) Overview(ctx context.Context, all bool) (view.Overview, error) {
	return api.Get[view.Overview](ctx, o.Client, "overview?all="+strconv.FormatBool(all))
}

// Work is how far tasks are: those named, or all that have not ended.
func (o *Office) Work(ctx context.Context, ids ...company.TaskID) (view.Work, error) {
	q := url.Values{}
	for _, id := range ids {
		q.Add("task", string(id))
	}
	return api.Get[view.Work](ctx, o.Client, "work?"+q.Encode())
}

// TaskProgress is how far one task is. An unknown one is ENotFound, and EUsage where the id
// cannot be a task's name.
func (o *Office) TaskProgress(ctx context.Context, id string) (*view.Progress, error) {
	if !company.TaskID(id).Valid() {
		_, err := view.FindTask(nil, id)
		return nil, err
	}
	w, err := o.Work(ctx, company.TaskID(id))
	if err != nil {
		return nil, err
	}
	return &w.Tasks[0], nil
}

// Shown is a task, a subtask, a run, an approval or a pull request by its id.
func (o *Office) Shown(ctx context.Context, id string) (view.Shown, error) {
	return getByID[view.Shown](ctx, o, "shown", id)
}

// Approval is a question to the president.
func (o *Office) Approval(ctx context.Context, id company.ApprovalID) (view.Approval, error) {
	return getByID[view.Approval](ctx, o, "approvals", string(id))
}

// Budget is what a task may spend and has spent.
func (o *Office) Budget(ctx context.Context, id string) (view.Budget, error) {
	return getByID[view.Budget](ctx, o, "costs", id)
}

// Range is the commits that the change of a task, a subtask or a run lies between.
func (o *Office) Range(ctx context.Context, id string) (view.Range, error) {
	return getByID[view.Range](ctx, o, "ranges", id)
}

// Summary is what became of a task.
func (o *Office) Summary(ctx context.Context, id company.TaskID) (view.Summary, error) {
	return getByID[view.Summary](ctx, o, "summaries", string(id))
}

// Summaries are what became of tasks, one after the other.
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

// PullRequest is a pull request by its number or its task.
func (o *Office) PullRequest(ctx context.Context, ref string) (view.PullRecord, error) {
	return getByID[view.PullRecord](ctx, o, "prs", ref)
}

// PullRequests are all pull requests of the office.
func (o *Office) PullRequests(ctx context.Context) ([]view.PullRequest, error) {
	return api.Get[[]view.PullRequest](ctx, o.Client, "prs")
}

// Budgets are the budgets of all tasks.
func (o *Office) Budgets(ctx context.Context) ([]view.Budget, error) {
	return api.Get[[]view.Budget](ctx, o.Client, "costs")
}

// OfficeBudgets are the caps that hold for all tasks together.
func (o *Office) OfficeBudgets(ctx context.Context) ([]view.OfficeBudget, error) {
	return api.Get[[]view.OfficeBudget](ctx, o.Client, "budgets")
}

// TaskList is the newest tasks that a filter lets pass.
func (o *Office) TaskList(ctx context.Context, f view.TaskFilter) (view.TaskList, error) {
	q := url.Values{"state": f.States, "priority": f.Priorities, "tag": f.Tags, "limit": {strconv.Itoa(f.Limit)}}
	return api.Get[view.TaskList](ctx, o.Client, "tasks?"+q.Encode())
}

// Spending is what the runs cost that ended since then; the zero time: all of them.
func (o *Office) Spending(ctx context.Context, since time.Time) (view.Spending, error) {
	q := url.Values{}
	if !since.IsZero() {
		q.Set("since", since.Format(time.RFC3339))
	}
	return api.Get[view.Spending](ctx, o.Client, "spending?"+q.Encode())
}

// TaskCosts is what a task, a ticket or a run cost.
func (o *Office) TaskCosts(ctx context.Context, id string, detail view.CostDetail) (view.TaskCosts, error) {
	return getByID[view.TaskCosts](ctx, o, "spending", id, fmt.Sprintf("requests=%t&dearest=%t", detail.Requests, detail.Dearest))
}

// Planning is how well write sets were planned, over the newest tasks.
func (o *Office) Planning(ctx context.Context) (view.Planning, error) {
	return api.Get[view.Planning](ctx, o.Client, "planning")
}

// Agents are the agents and what each is doing.
func (o *Office) Agents(ctx context.Context) (view.Agents, error) {
	return api.Get[view.Agents](ctx, o.Client, "agents")
}

// Images are the images that tasks use.
func (o *Office) Images(ctx context.Context) ([]view.TaskImage, error) {
	return api.Get[[]view.TaskImage](ctx, o.Client, "images")
}

// IDs are the ids that can be named on a command line.
func (o *Office) IDs(ctx context.Context) (view.IDs, error) {
	return api.Get[view.IDs](ctx, o.Client, "ids")
}

// Leftovers is what a cleanup would remove of ended tasks: of all with recent, and with unmerged
// also work that was never merged.
func (o *Office) Leftovers(ctx context.Context, recent, unmerged bool) (upkeep.Report, error) {
	return api.Get[upkeep.Report](ctx, o.Client, fmt.Sprintf("leftovers?all=%t&unmerged=%t", recent, unmerged))
}

// Projects are the projects that the office knows.
func (o *Office) Projects(ctx context.Context) (view.Projects, error) {
	return api.Get[view.Projects](ctx, o.Client, "projects")
}

// getByID reads one resource of a kind.
func getByID[T any](ctx context.Context, o *Office, kind, id string, query ...string) (v T, err error) {
	if id == "" || id == "." || id == ".." {
		return v, company.E(company.EUsage, fmt.Sprintf("%q is no id", id)).Fix("company status lists what there is")
	}
	return api.Get[T](ctx, o.Client, strings.Join(append([]string{kind + "/" + url.PathEscape(id)}, query...), "?"))
}

// ReadTranscript makes the transcript of a run from its journal, as far as it goes.
func (o *Office) ReadTranscript(ctx context.Context, run company.RunID) (agent.Transcript, error) {
	var t agent.Transcript
	err := o.StreamTranscript(ctx, run, false, func(e agent.TranscriptEntry) error {
		t.Add(e)
		return nil
	})
	return t, err
}

// ReadRecord reads the record that a finished task is replayed from. EInvalid: the task
// cannot be replayed, with the reason. ENotFound: there is no such task.
func (o *Office) ReadRecord(ctx context.Context, id company.TaskID) (*replay.Record, error) {
	return replay.Read(ctx, id, func(fn func(replay.Entry) error) error { return o.StreamRecord(ctx, id, fn) })
}
