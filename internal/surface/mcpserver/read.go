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

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/feed"
	"company/internal/present/view"
)

const (
	// waitUsually is the default timeout of the tool wait. Many clients cancel a call after 60 s.
	waitUsually = 45 * time.Second
	// waitMost is the maximum timeout of the tool wait.
	waitMost = 10 * time.Minute
	// feedUsually is the default number of feed items, and feedMost is the maximum.
	feedUsually, feedMost = 40, 500
	// listUsually and listMost are the same limits for the tasks of list.
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
	Limit      int      `json:"limit,omitempty" jsonschema:"maximum number (default 30)"`
	JSON       bool     `json:"json,omitempty" jsonschema:"answer in JSON instead of text"`
}

type feedArguments struct {
	Task  string `json:"task,omitempty" jsonschema:"only of this task"`
	From  uint64 `json:"from,omitempty" jsonschema:"number of the first event (default: the newest ones)"`
	Limit int    `json:"limit,omitempty" jsonschema:"maximum number (default 40)"`
}

type waitArguments struct {
	Tasks   []string `json:"tasks" jsonschema:"ids of the tasks"`
	Seconds int      `json:"timeout_seconds,omitempty" jsonschema:"how long to wait (default 45); the work continues either way"`
}

type diffArguments struct {
	ID     string `json:"id" jsonschema:"id of a task, a subtask or a run, or #7 for a pull request"`
	Cursor string `json:"cursor,omitempty" jsonschema:"cursor of the next page, from the previous answer"`
}

type logArguments struct {
	ID     string `json:"id" jsonschema:"id of a task, a subtask or a run"`
	Full   bool   `json:"full,omitempty" jsonschema:"include tool calls with their results"`
	Cursor string `json:"cursor,omitempty" jsonschema:"cursor of the next page, from the previous answer"`
}

type costArguments struct {
	ID   string `json:"id,omitempty" jsonschema:"id of a task, a ticket or a run (default: the whole office)"`
	By   string `json:"by,omitempty" jsonschema:"for one id: grouping (default: role)"`
	Why  bool   `json:"why,omitempty" jsonschema:"for one id: explain its ten most expensive requests"`
	Days int    `json:"days,omitempty" jsonschema:"without an id: only the last n days, including today (default: all)"`
	JSON bool   `json:"json,omitempty" jsonschema:"answer in JSON instead of text"`
}

type pullArguments struct {
	PullRequest string `json:"pull_request" jsonschema:"number of a pull request, or the id of its task"`
}

type noArguments struct{}

// limitID limits the length of an id. Longer ids cannot exist.
func limitID(p *jsonschema.Schema) { p.MinLength, p.MaxLength = jsonschema.Ptr(1), jsonschema.Ptr(80) }

// limitNumber limits the range of a number.
func limitNumber(low, high float64) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) { p.Minimum, p.Maximum = jsonschema.Ptr(low), jsonschema.Ptr(high) }
}

// limitList limits the length of a list and of its entries.
func limitList(low, high, length int, enum ...string) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) {
		p.MinItems, p.MaxItems = jsonschema.Ptr(low), jsonschema.Ptr(high)
		p.Items.MaxLength = jsonschema.Ptr(length)
		for _, word := range enum {
			p.Items.Enum = append(p.Items.Enum, word)
		}
	}
}

// limitValues restricts a text to a list of values.
func limitValues(values []string) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) {
		for _, word := range values {
			p.Enum = append(p.Enum, word)
		}
	}
}

// limitText limits the length of a text.
func limitText(low, high int) func(*jsonschema.Schema) {
	return func(p *jsonschema.Schema) { p.MinLength, p.MaxLength = jsonschema.Ptr(low), jsonschema.Ptr(high) }
}

func (s toolset) addReadingTools() {
	addTool(s, reads, "status", "Show what needs the president, what is running, costs and tasks.", nil,
		s.readStatus)
	addTool(s, reads, "list", "List tasks, newest first.",
		bounds{"states": limitList(0, 20, 40, view.TaskStates...), "priorities": limitList(0, 3, 10, "low", "medium", "high"),
			"tags": limitList(0, 20, 100), "limit": limitNumber(1, listMost)}, s.readList)
	addTool(s, reads, "show",
		"Show details of a task, subtask, run or question: plan, gates, findings, evidence, next step.",
		bounds{"id": limitID}, s.readShown)
	addTool(s, reads, "feed", "Show the events of the office or of a task, one line each.",
		bounds{"task": limitID, "limit": limitNumber(1, feedMost)}, s.readFeed)
	addTool(s, reads, "wait",
		"Wait until tasks end or need the president, and return their results. It starts and answers nothing.",
		bounds{"tasks": limitList(1, 20, 80), "timeout_seconds": limitNumber(1, waitMost.Seconds())}, s.readEnd)
	addTool(s, reads, "diff", "Show the changes of a task, subtask, run or pull request as a unified diff, in pages.",
		bounds{"id": limitID, "cursor": limitText(0, 200)}, s.readDiff)
	addTool(s, reads, "logs",
		"Show the conversation of a run, in pages. For a task or subtask, this is its newest run.",
		bounds{"id": limitID, "cursor": limitText(0, 200)}, s.readLog)
	addTool(s, reads, "costs", "Show costs by day, model and task, or by role, ticket or turn of one task.",
		bounds{"id": limitText(0, 80), "by": limitValues(view.CostsBy), "days": limitNumber(0, 3650)}, s.readCosts)
	addTool(s, reads, "pr_list", "List pull requests.", nil, s.listPulls)
	addTool(s, reads, "pr_show", "Show a pull request with its evidence and the next step.",
		bounds{"pull_request": limitID}, s.readPull)
}

func (s *Server) readStatus(ctx context.Context, arguments statusArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(office *client.Office) error {
		overview, err := office.Overview(ctx, arguments.All || arguments.JSON)
		if err != nil {
			return err
		}
		if overview.Open {
			overview.PID = office.Server().PID
		}
		r, err = answerView(arguments.JSON, overview, overview.RenderText, "list with a state or a limit is shorter")
		return err
	})
	return r, err
}

// answerView returns a view as JSON or text. hint explains how to get less of it.
func answerView(asJSON bool, v any, text func() string, hint string) (*mcp.CallToolResult, error) {
	if asJSON {
		return jsonAnswer(v, hint)
	}
	return textAnswer(text(), hint), nil
}

func (s *Server) readList(ctx context.Context, arguments listArguments) (r *mcp.CallToolResult, err error) {
	taskFilter := view.TaskFilter{States: arguments.States, Priorities: arguments.Priorities, Tags: arguments.Tags,
		Limit: arguments.Limit}
	if taskFilter.Limit == 0 {
		taskFilter.Limit = listUsually
	}
	err = s.withOffice(ctx, func(o *client.Office) error {
		taskList, err := o.TaskList(ctx, taskFilter)
		if err != nil {
			return err
		}
		r, err = answerView(arguments.JSON, taskList, func() string { return taskList.Render(feed.Style{}) },
			"a lower limit is shorter")
		return err
	})
	return r, err
}

func (s *Server) readShown(ctx context.Context, in idArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		shown, err := o.Shown(ctx, in.ID)
		if err != nil {
			return err
		}
		r, err = answerView(in.JSON, shown.Printed(), func() string { return shown.Render(feed.Style{}) },
			"show a subtask or a run of it by itself")
		return err
	})
	return r, err
}

func (s *Server) readFeed(ctx context.Context, arguments feedArguments) (r *mcp.CallToolResult, err error) {
	task, limit := company.TaskID(arguments.Task), arguments.Limit
	if limit == 0 {
		limit = feedUsually
	}
	if task != "" && !task.Valid() {
		_, err := view.FindTask(nil, arguments.Task)
		return nil, err
	}
	err = s.withOffice(ctx, func(office *client.Office) error {
		var named []company.TaskID
		if task != "" {
			named = append(named, task)
		}
		work, err := office.Work(ctx, named...)
		if err != nil {
			return err
		}
		lines, next := []string{}, work.Seq+1
		full := errors.New("enough")
		if max(arguments.From, 1) <= work.Seq {
			err = office.Follow(ctx, feed.Range{From: max(arguments.From, 1), Until: work.Seq, Task: task},
				func(item feed.Item) error {
					if item.Quiet {
						return nil
					}
					if len(lines) == limit {
						if arguments.From > 0 {
							next = item.Seq
							return full
						}
						lines = slices.Delete(lines, 0, 1)
					}
					lines = append(lines, safetext.Cut(item.Render(feed.Style{}), 2<<10))
					return nil
				})
		}
		if err != nil && !errors.Is(err, full) {
			return err
		}
		if len(lines) == 0 {
			lines = []string{"no new events"}
		}
		r = textAnswer(strings.Join(lines, "\n"), "a lower limit is shorter")
		r.Content = append(r.Content, &mcp.TextContent{Text: fmt.Sprintf("Next events: from %d.", next)})
		return nil
	})
	return r, err
}

// errWaitedLong is the cause of a wait that timed out.
var errWaitedLong = errors.New("wait timed out")

func (s *Server) readEnd(ctx context.Context, arguments waitArguments) (r *mcp.CallToolResult, err error) {
	var ids []company.TaskID
	for _, id := range arguments.Tasks {
		if !company.TaskID(id).Valid() {
			_, err := view.FindTask(nil, id)
			return nil, err
		}
		ids = append(ids, company.TaskID(id))
	}
	patience := waitUsually
	if arguments.Seconds > 0 {
		patience = time.Duration(arguments.Seconds) * time.Second
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
			text = append(text, "The wait timed out and the work continues: call wait again.")
		}
		r = textAnswer(strings.Join(text, "\n"), "wait for fewer tasks at once")
		return nil
	})
	return r, err
}

// findRange returns the commit range of a task, a subtask, a run or a pull request.
func findRange(ctx context.Context, office *client.Office, id string) (view.Range, error) {
	if !strings.HasPrefix(id, "#") {
		return office.Range(ctx, id)
	}
	pullRecord, err := office.PullRequest(ctx, id)
	if err != nil {
		return view.Range{}, err
	}
	return view.PullRange(pullRecord.Task()), nil
}

func (s *Server) readDiff(ctx context.Context, arguments diffArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		of, err := findRange(ctx, o, arguments.ID)
		if err != nil {
			return err
		}
		patch, err := s.host.Patch(ctx, of)
		if err != nil {
			return err
		}
		page, next, err := cutPage(safetext.Escape(patch.Text), string(of.From.Short()+"-"+of.To.Short()), arguments.Cursor)
		if err != nil {
			return err
		}
		head := fmt.Sprintf("%s: %s, from %s to %s", safetext.EscapeLine(of.Of, 80), patch.Stat, of.From.Short(),
			of.To.Short())
		if notes := strings.Join(patch.Notes, "\n"); notes != "" && next == "" {
			head += "\n" + safetext.EscapeLine(notes, 1000)
		}
		r = pageAnswer(head, page, next)
		return nil
	})
	return r, err
}

func (s *Server) readLog(ctx context.Context, in logArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		run, text, err := s.host.Log(ctx, o, in.ID, in.Full)
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

func (s *Server) readCosts(ctx context.Context, arguments costArguments) (r *mcp.CallToolResult, err error) {
	costQuery := view.CostQuery{ID: arguments.ID, By: arguments.By, Why: arguments.Why, Days: arguments.Days}
	if err := costQuery.Check(); err != nil {
		return nil, err
	}
	err = s.withOffice(ctx, func(office *client.Office) error {
		if costQuery.ID != "" {
			taskCosts, err := office.TaskCosts(ctx, costQuery.ID, costQuery.Detail())
			if err == nil {
				r, err = answerView(arguments.JSON, taskCosts, func() string { return taskCosts.Render(costQuery, feed.Style{}) },
					"costs of one ticket or run are shorter")
			}
			return err
		}
		spending, err := office.Spending(ctx, costQuery.Since(office.Now()))
		if err != nil {
			return err
		}
		r, err = answerView(arguments.JSON, spending, spending.RenderText, "fewer days are shorter")
		return err
	})
	return r, err
}

func (s *Server) listPulls(ctx context.Context, _ noArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		pullRequests, err := o.PullRequests(ctx)
		if err != nil {
			return err
		}
		r = textAnswer(view.PullRequestsText(pullRequests, feed.Style{}), "pr_show shows one")
		return nil
	})
	return r, err
}

func (s *Server) readPull(ctx context.Context, arguments pullArguments) (r *mcp.CallToolResult, err error) {
	err = s.withOffice(ctx, func(o *client.Office) error {
		pull, err := o.PullRequest(ctx, arguments.PullRequest)
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
