package api

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"company/internal/company"
	"company/internal/present/view"
)

// look returns the resource for a request.
type look func(src view.Source, r *http.Request) (any, error)

// newResource returns the route of a resource that l answers.
func newResource(path, summary string, answer any, l look, query ...Parameter) Route {
	return Route{Method: http.MethodGet, Path: path, Summary: summary, Query: query, Answer: answer,
		serve: func(s *Server, w http.ResponseWriter, r *http.Request) {
			v, err := l(s.source(), r)
			if err != nil {
				writeError(w, err)
				return
			}
			writeResource(w, r, v)
		}}
}

// resources lists the resources below /api/v1/.
var resources = []Route{
	newResource("overview", "the office at a glance, as `status -o json`. What lies outside the state (disk, the wall "+
		"clock) is null", view.Overview{}, func(src view.Source, r *http.Request) (any, error) {
		return src.Overview(r.URL.Query().Get("all") == "true")
	}, Parameter{Name: "all", Type: "boolean", Doc: "include all finished tasks"}),
	newResource("work", "number of the newest event, open tasks, runs that are held; how far open tasks are, and what "+
		"they ask", view.Work{}, func(src view.Source, r *http.Request) (any, error) {
		var ids []company.TaskID
		for _, id := range r.URL.Query()["task"] {
			ids = append(ids, company.TaskID(id))
		}
		return src.Work(ids...)
	}, Parameter{Name: "task", Type: "string", Many: true, Doc: "this task instead of the open ones"}),
	newResource("tasks", "tasks, newest first", view.TaskList{}, listTasks,
		Parameter{Name: "state", Type: "string", Many: true, Doc: "in any of these states"},
		Parameter{Name: "priority", Type: "string", Many: true, Doc: "of any of these priorities"},
		Parameter{Name: "tag", Type: "string", Many: true, Doc: "with all of these tags"},
		Parameter{Name: "limit", Type: "integer", Doc: "maximum number (0 for all)"},
		Parameter{Name: "cursor", Type: "string", Doc: "the value of next from an earlier answer"}),
	newResource("tasks/{id}", "all details of a task, as `show -o json`", view.Shown{},
		showAs(func(v view.Shown) bool { return v.Task != nil }, "task")),
	newResource("subtasks/{id}", "all details of a subtask", view.Shown{},
		showAs(func(v view.Shown) bool { return v.Subtask != nil }, "subtask")),
	newResource("runs/{id}", "all details of a run", view.Shown{}, showAs(func(v view.Shown) bool { return v.Run != nil }, "run")),
	newResource("shown/{id}", "the same for any id, including questions", view.Shown{},
		showAs(func(view.Shown) bool { return true }, "id")),
	newResource("approvals/{id}", "a question, by its id or by a task with one open question", view.Approval{},
		func(src view.Source, r *http.Request) (any, error) { return src.Question(r.PathValue("id")) }),
	newResource("summaries/{id}", "the summary at the end of a submission", view.Summary{}, findSummary),
	newResource("ranges/{id}", "the two commits between which an id made changes", view.Range{},
		func(src view.Source, r *http.Request) (any, error) { return src.Range(r.PathValue("id")) }),
	newResource("agents", "agents and their current work; idle workers", view.Agents{},
		func(src view.Source, _ *http.Request) (any, error) { return src.Agents(), nil }),
	newResource("costs", "caps, spending and reservations of open tasks", []view.Budget{},
		func(src view.Source, _ *http.Request) (any, error) { return src.Budgets(), nil }),
	newResource("costs/{id}", "the same for one task", view.Budget{},
		func(src view.Source, r *http.Request) (any, error) { return src.Budget(r.PathValue("id")) }),
	newResource("budgets", "the caps of the day and of the office, and their use", []view.OfficeBudget{},
		func(src view.Source, _ *http.Request) (any, error) { return src.OfficeBudgets(), nil }),
	newResource("spending", "costs of finished runs, by day, model and task", view.Spending{}, sumSpending,
		Parameter{Name: "since", Type: "time", Doc: "only runs that ended since then"}),
	newResource("spending/{id}", "what a task, a ticket or a run cost, from the journals of its runs: by role and by "+
		"ticket; at most 2000 requests", view.TaskCosts{}, sumTaskCosts,
		Parameter{Name: "requests", Type: "boolean", Doc: "with the requests to models, the newest 2000 in order"},
		Parameter{Name: "dearest", Type: "boolean", Doc: "with the ten dearest requests, each with the parts of its input"}),
	newResource("prs", "the pull requests", []view.PullRequest{},
		func(src view.Source, _ *http.Request) (any, error) { return src.PullRequests(), nil }),
	newResource("prs/{id}", "one by its number or task, with the tasks that made it, as the ledger has them",
		view.PullRecord{}, func(src view.Source, r *http.Request) (any, error) { return src.PullRecord(r.PathValue("id")) }),
	newResource("projects", "the repositories of the office, most recently used first", view.Projects{},
		func(src view.Source, _ *http.Request) (any, error) { return src.Projects(), nil }),
	newResource("images", "the images that tasks use", []view.TaskImage{},
		func(src view.Source, _ *http.Request) (any, error) { return src.Images(), nil }),
	newResource("ids", "the ids that a command may name, for completion", view.IDs{},
		func(src view.Source, _ *http.Request) (any, error) { return src.IDs(), nil }),
}

func listTasks(src view.Source, r *http.Request) (any, error) {
	q := r.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(q.Get("limit"), "0"))
	if err != nil || limit < 0 {
		return nil, company.E(company.EInvalid, "limit must be a number of tasks")
	}
	taskFilter := view.TaskFilter{States: q["state"], Priorities: q["priority"], Tags: q["tag"], Limit: limit}
	if q.Has("cursor") {
		if taskFilter.Before, err = parseCursor(src.State, q.Get("cursor")); err != nil {
			return nil, err
		}
	}
	return src.TaskList(taskFilter)
}

// parseCursor parses the cursor of an earlier list.
func parseCursor(state *company.State, text string) (company.TaskID, error) {
	id := company.TaskID(text)
	if !id.Valid() || state.Tasks[id] == nil && state.Past[id] == nil {
		return "", company.E(company.EInvalid, "invalid cursor").
			Fix("start without a cursor; next of each answer is the cursor of the following one")
	}
	return id, nil
}

func sumSpending(src view.Source, r *http.Request) (any, error) {
	since := time.Time{}
	if at := r.URL.Query().Get("since"); at != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, at); err != nil {
			return nil, company.E(company.EInvalid, "since must be a time such as 2026-03-01T00:00:00Z")
		}
	}
	return src.Spending(since)
}

func sumTaskCosts(src view.Source, r *http.Request) (any, error) {
	q := r.URL.Query()
	return src.TaskCosts(r.Context(), r.PathValue("id"),
		view.CostDetail{Requests: q.Get("requests") == "true", Dearest: q.Get("dearest") == "true"})
}

// showAs returns a look that finds an id of one kind of object.
func showAs(fits func(view.Shown) bool, kind string) look {
	return func(src view.Source, r *http.Request) (any, error) {
		shown, err := src.Show(r.PathValue("id"))
		if err == nil && !fits(shown) {
			return nil, company.E(company.ENotFound, r.PathValue("id")+" is no "+kind)
		}
		return shown, err
	}
}

func findSummary(src view.Source, r *http.Request) (any, error) {
	src, err := src.WithTarget(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	task, err := view.FindTask(src.State, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return src.Summary(task), nil
}
