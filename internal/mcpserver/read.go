package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"company/internal/client"
	"company/internal/company"
	"company/internal/feed"
	"company/internal/safetext"
	"company/internal/view"
)

const (
	// waitUsually is how long wait waits unasked: many clients give up on a call after 60 s.
	waitUsually = 45 * time.Second
	// waitMost is how long wait may be asked to wait.
	waitMost = 10 * time.Minute
	// feedUsually is how many items feed gives unasked, and feedMost how many at most.
	feedUsually, feedMost = 40, 500
	// listUsually and listMost are the same for the tasks of list.
	listUsually, listMost = 30, 500
)

type idArguments struct {
	ID   string `json:"id" jsonschema:"id of a task (t12), a subtask (t12-03), a run (t12-03.2) or a question (a7)"`
	JSON bool   `json:"json,omitempty" jsonschema:"answer in JSON, as company -o json prints it, instead of text"`
}

type statusArguments struct {
	All  bool `json:"all,omitempty" jsonschema:"also tasks that have ended"`
	JSON bool `json:"json,omitempty" jsonschema:"answer in JSON instead of text"`
}

type listArguments struct {
	States     []string `json:"states,omitempty" jsonschema:"only tasks in one of these states"`
	Priorities []string `json:"priorities,omitempty" jsonschema:"only tasks of one of these priorities"`
	Tags       []string `json:"tags,omitempty" jsonschema:"only tasks with all of these tags"`
	Limit      int      `json:"limit,omitempty" jsonschema:"how many at most (default 30)"`
	JSON       bool     `json:"json,omitempty" jsonschema:"answer in JSON instead of text"`
}

type feedArguments struct {
	Task  string `json:"task,omitempty" jsonschema:"only of this task"`
	From  uint64 `json:"from,omitempty" jsonschema:"number of the first event; left out: the newest ones"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many at most (default 40)"`
}

type waitArguments struct {
	Tasks   []string `json:"tasks" jsonschema:"ids of the tasks"`
	Seconds int      `json:"timeout_seconds,omitempty" jsonschema:"how long at most (default 45); the work goes on either way"`
}

type diffArguments struct {
	ID     string `json:"id" jsonschema:"id of a task, a subtask or a run, or #7 for a pull request"`
	Cursor string `json:"cursor,omitempty" jsonschema:"of the next page, from the answer before"`
}

type logArguments struct {
	ID     string `json:"id" jsonschema:"id of a task, a subtask or a run"`
	Cursor string `json:"cursor,omitempty" jsonschema:"of the next page, from the answer before"`
}

type costArguments struct {
	ID   string `json:"id,omitempty" jsonschema:"id of a task, a ticket or a run; left out: all of the office"`
	By   string `json:"by,omitempty" jsonschema:"of one id: the rows; left out: role"`
	Why  bool   `json:"why,omitempty" jsonschema:"of one id: what its ten dearest requests read"`
	Days int    `json:"days,omitempty" jsonschema:"without an id: only of the last so many days, today included; left out: all"`
	JSON bool   `json:"json,omitempty" jsonschema:"answer in JSON instead of text"`
}

type pullArguments struct {
	PullRequest string `json:"pull_request" jsonschema:"number of a pull request, or the id of its task"`
}

type noArguments struct{}

// limitID bounds an id: longer ones are none.
func limitID(p *jsonschema.Schema) { p.MinLength, p.MaxLength = jsonschema.Ptr(1), jsonschema.Ptr(80) }

// limitNumber bounds a number.
func limitNumber(low, high float64) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) { p.Minimum, p.Maximum = jsonschema.Ptr(low), jsonschema.Ptr(high) }
}

// limitList bounds a list, and the length of each entry.
func limitList(low, high, length int, enum ...string) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) {
		p.MinItems, p.MaxItems = jsonschema.Ptr(low), jsonschema.Ptr(high)
		p.Items.MaxLength = jsonschema.Ptr(length)
		for _, word := range enum {
			p.Items.Enum = append(p.Items.Enum, word)
		}
	}
}

// limitValues bounds a text to a list of values.
func limitValues(values []string) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) {
		for _, word := range values {
			p.Enum = append(p.Enum, word)
		}
	}
}

// limitText bounds a text.
func limitText(low, high int) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) { p.MinLength, p.MaxLength = jsonschema.Ptr(low), jsonschema.Ptr(high) }
}

func (s toolset) addReadingTools() {
	addTool(s, reads, "status", "What needs the president, what runs, what it cost, and which tasks there are.", nil, s.readStatus)
	addTool(s, reads, "list", "List the tasks of the office, the newest first.",
		bounds{"states": limitList(0, 20, 40, view.TaskStates...), "priorities": limitList(0, 3, 10, "low", "medium", "high"), "tags": limitList(0, 20, 100), "limit": limitNumber(1, listMost)}, s.readList)
	addTool(s, reads, "show", "Show all that is known of a task, a subtask, a run or a question: plan, gates, findings, evidence, what comes next.", bounds{"id": limitID}, s.readShown)
	addTool(s, reads, "feed", "What happened in the office or in a task, one line an event.", bounds{"task": limitID, "limit": limitNumber(1, feedMost)}, s.readFeed)
	addTool(s, reads, "wait", "Wait until tasks have ended or wait for the president, and say what became of them. It starts and answers nothing.",
		bounds{"tasks": limitList(1, 20, 80), "timeout_seconds": limitNumber(1, waitMost.Seconds())}, s.readEnd)
	addTool(s, reads, "diff", "What a task, a subtask, a run or a pull request changed, as a unified diff in pages.", bounds{"id": limitID, "cursor": limitText(0, 200)}, s.readDiff)
	addTool(s, reads, "logs", "The conversation of a run, in pages: of a subtask its newest run, of a task the newest of all.", bounds{"id": limitID, "cursor": limitText(0, 200)}, s.readLog)
	addTool(s, reads, "costs", "What the work cost, by day, model and task; of one task by role, ticket or turn.",
		bounds{"id": limitText(0, 80), "by": limitValues(view.CostsBy), "days": limitNumber(0, 3650)}, s.readCosts)
	addTool(s, reads, "pr_list", "List the pull requests of the office.", nil, s.listPulls)
	addTool(s, reads, "pr_show", "Show a pull request with its evidence, and what comes next.", bounds{"pull_request": limitID}, s.readPull)
}

func (s *Server) readStatus(ctx context.Context, in statusArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		v, err := o.Overview(ctx, in.All || in.JSON)
		if err != nil {
			return err
		}
		if info, ok := o.Server(); ok {
			v.PID = info.PID
		}
		r, err = answerView(in.JSON, v, v.RenderText, "list with a state or a limit is shorter")
		return err
	})
	return r, err
}

// answerView is a view as its reader asks for it. hint says how to see less of it.
func answerView(asJSON bool, v any, text func() string, hint string) (*mcp.CallToolResult, error) {
	if asJSON {
		return jsonAnswer(v, hint)
	}
	return textAnswer(text(), hint), nil
}

func (s *Server) readList(ctx context.Context, in listArguments) (r *mcp.CallToolResult, err error) {
	f := view.TaskFilter{States: in.States, Priorities: in.Priorities, Tags: in.Tags, Limit: in.Limit}
	if f.Limit == 0 {
		f.Limit = listUsually
	}
	err = s.withOffice(ctx, func(o *client.Office) error {
		v, err := o.TaskList(ctx, f)
		if err != nil {
			return err
		}
		r, err = answerView(in.JSON, v, func() string { return v.Render(feed.Style{}) }, "a lower limit is shorter")
		return err
	})
	return r, err
}

func (s *Server) readShown(ctx context.Context, in idArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		v, err := o.Shown(ctx, in.ID)
		if err != nil {
			return err
		}
		r, err = answerView(in.JSON, v.Printed(), func() string { return v.Render(feed.Style{}) }, "show a subtask or a run of it by itself")
		return err
	})
	return r, err
}

func (s *Server) readFeed(ctx context.Context, in feedArguments) (r *mcp.CallToolResult, err error) {
	task, limit := company.TaskID(in.Task), in.Limit
	if limit == 0 {
		limit = feedUsually
	}
	if task != "" && !task.Valid() {
		_, err := view.FindTask(nil, in.Task)
		return nil, err
	}
	err = s.withOffice(ctx, func(o *client.Office) error {
		var named []company.TaskID
		if task != "" {
			named = append(named, task)
		}
		w, err := o.Work(ctx, named...)
		if err != nil {
			return err
		}
		lines, next := []string{}, w.Seq+1
		full := errors.New("enough")
		if max(in.From, 1) <= w.Seq {
			err = o.Follow(ctx, feed.Range{From: max(in.From, 1), Until: w.Seq, Task: task}, func(it feed.Item) error {
				if it.Quiet {
					return nil
				}
				if len(lines) == limit {
					if in.From > 0 {
						next = it.Seq
						return full
					}
					lines = slices.Delete(lines, 0, 1)
				}
				lines = append(lines, safetext.Cut(it.Render(feed.Style{}), 2<<10))
				return nil
			})
		}
		if err != nil && !errors.Is(err, full) {
			return err
		}
		if len(lines) == 0 {
			lines = []string{"nothing has happened since"}
		}
		r = textAnswer(strings.Join(lines, "\n"), "a lower limit is shorter")
		r.Content = append(r.Content, &mcp.TextContent{Text: fmt.Sprintf("What comes next: from %d.", next)})
		return nil
	})
	return r, err
}

// errWaitedLong ends a wait whose time is up.
var errWaitedLong = errors.New("the time of the wait is up")

func (s *Server) readEnd(ctx context.Context, in waitArguments) (r *mcp.CallToolResult, err error) {
	var ids []company.TaskID
	for _, id := range in.Tasks {
		if !company.TaskID(id).Valid() {
			_, err := view.FindTask(nil, id)
			return nil, err
		}
		ids = append(ids, company.TaskID(id))
	}
	patience := waitUsually
	if in.Seconds > 0 {
		patience = time.Duration(in.Seconds) * time.Second
	}
	wctx, cancel := context.WithTimeoutCause(ctx, patience, errWaitedLong)
	defer cancel()
	wctx, leave := context.WithCancelCause(wctx)
	defer leave(nil)
	defer context.AfterFunc(s.gone, func() { leave(context.Cause(s.gone)) })()
	err = s.host.Wait(wctx, ids)
	over := errors.Is(err, errWaitedLong)
	if err != nil && !over {
		return nil, err
	}
	err = s.withOffice(ctx, func(o *client.Office) error {
		sums, err := o.Summaries(ctx, ids...)
		if err != nil {
			return err
		}
		var text []string
		for _, sum := range sums {
			text = append(text, sum.RenderText())
		}
		if over {
			text = append(text, "The time of the wait is up, and the work goes on: call wait again.")
		}
		r = textAnswer(strings.Join(text, "\n"), "wait for fewer tasks at once")
		return nil
	})
	return r, err
}

// findRange is the range of a task, a subtask, a run, or a pull request.
func findRange(ctx context.Context, o *client.Office, id string) (view.Range, error) {
	if !strings.HasPrefix(id, "#") {
		return o.Range(ctx, id)
	}
	r, err := o.PullRequest(ctx, id)
	if err != nil {
		return view.Range{}, err
	}
	return view.PullRange(r.Task()), nil
}

func (s *Server) readDiff(ctx context.Context, in diffArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		of, err := findRange(ctx, o, in.ID)
		if err != nil {
			return err
		}
		p, err := s.host.Patch(ctx, of)
		if err != nil {
			return err
		}
		page, next, err := cutPage(safetext.Escape(p.Text), string(of.From.Short()+"-"+of.To.Short()), in.Cursor)
		if err != nil {
			return err
		}
		head := fmt.Sprintf("%s: %s, from %s to %s", safetext.EscapeLine(of.Of, 80), p.Stat, of.From.Short(), of.To.Short())
		if notes := strings.Join(p.Notes, "\n"); notes != "" && next == "" {
			head += "\n" + safetext.EscapeLine(notes, 1000)
		}
		r = pageAnswer(head, page, next)
		return nil
	})
	return r, err
}

func (s *Server) readLog(ctx context.Context, in logArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		run, text, err := s.host.Log(ctx, o, in.ID)
		if err != nil {
			return err
		}
		page, next, err := cutPage(safetext.Escape(text), string(run), in.Cursor)
		if err != nil {
			return err
		}
		r = pageAnswer("run "+string(run), page, next)
		return nil
	})
	return r, err
}

func (s *Server) readCosts(ctx context.Context, in costArguments) (r *mcp.CallToolResult, err error) {
	q := view.CostQuery{ID: in.ID, By: in.By, Why: in.Why, Days: in.Days}
	if err := q.Check(); err != nil {
		return nil, err
	}
	err = s.withOffice(ctx, func(o *client.Office) error {
		if q.ID != "" {
			v, err := o.TaskCosts(ctx, q.ID, q.Detail())
			if err == nil {
				r, err = answerView(in.JSON, v, func() string { return v.Render(q, feed.Style{}) }, "costs of one ticket or run are shorter")
			}
			return err
		}
		v, err := o.Spending(ctx, q.Since(o.Now()))
		if err != nil {
			return err
		}
		r, err = answerView(in.JSON, v, v.RenderText, "fewer days are shorter")
		return err
	})
	return r, err
}

func (s *Server) listPulls(ctx context.Context, _ noArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		v, err := o.PullRequests(ctx)
		if err != nil {
			return err
		}
		r = textAnswer(view.PullRequestsText(v, feed.Style{}), "pr_show shows one")
		return nil
	})
	return r, err
}

func (s *Server) readPull(ctx context.Context, in pullArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		pull, err := o.PullRequest(ctx, in.PullRequest)
		if err != nil {
			return err
		}
		page, err := s.host.PullPage(ctx, pull)
		if err != nil {
			return err
		}
		r = textAnswer(page.Text, "show its task, and diff, have the parts")
		return nil
	})
	return r, err
}
