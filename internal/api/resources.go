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
			s.writeResource(w, r, v)
		}}
}

// resources lists the resources below /api/v1/.
var resources = []Route{
	newResource("overview", "overview of the office, like `company status`", view.Overview{},
		func(src view.Source, r *http.Request) (any, error) {
			return src.Overview(r.URL.Query().Get("all") == "true")
		}, Parameter{Name: "all", Type: "boolean", Doc: "include all finished tasks"}),
	newResource("work", "newest event, open tasks, active runs and questions", view.Work{},
		func(src view.Source, r *http.Request) (any, error) {
			var ids []company.TaskID
			for _, id := range r.URL.Query()["task"] {
				ids = append(ids, company.TaskID(id))
			}
			return src.Work(ids...)
		}, Parameter{Name: "task", Type: "string", Many: true, Doc: "only this task"}),
	newResource("tasks", "tasks, newest first", view.TaskList{}, listTasks,
		Parameter{Name: "state", Type: "string", Many: true, Doc: "filter by state"},
		Parameter{Name: "priority", Type: "string", Many: true, Doc: "filter by priority"},
		Parameter{Name: "tag", Type: "string", Many: true, Doc: "filter by tag"},
		Parameter{Name: "limit", Type: "integer", Doc: "maximum number (0: all)"},
		Parameter{Name: "cursor", Type: "string", Doc: "`next` of the previous page"}),
	newResource("tasks/{id}", "task", view.Shown{},
		showAs(func(v view.Shown) bool { return v.Task != nil }, "task")),
	newResource("subtasks/{id}", "subtask", view.Shown{},
		showAs(func(v view.Shown) bool { return v.Subtask != nil }, "subtask")),
	newResource("runs/{id}", "run", view.Shown{}, showAs(func(v view.Shown) bool { return v.Run != nil }, "run")),
	newResource("shown/{id}", "task, subtask, run or question", view.Shown{},
		showAs(func(view.Shown) bool { return true }, "id")),
	newResource("approvals/{id}", "question, by its id or its task", view.Approval{},
		func(src view.Source, r *http.Request) (any, error) { return src.Question(r.PathValue("id")) }),
	newResource("summaries/{id}", "result of a submission", view.Summary{}, findSummary),
	newResource("ranges/{id}", "base and head commit of a change", view.Range{},
		func(src view.Source, r *http.Request) (any, error) { return src.Range(r.PathValue("id")) }),
	newResource("agents", "agents and their current work", view.Agents{},
		func(src view.Source, _ *http.Request) (any, error) { return src.Agents(), nil }),
	newResource("costs", "caps and spending of open tasks", []view.Budget{},
		func(src view.Source, _ *http.Request) (any, error) { return src.Budgets(), nil }),
	newResource("costs/{id}", "caps and spending of a task", view.Budget{},
		func(src view.Source, r *http.Request) (any, error) { return src.Budget(r.PathValue("id")) }),
	newResource("budgets", "daily and total caps of the office, and spending", []view.OfficeBudget{},
		func(src view.Source, _ *http.Request) (any, error) { return src.OfficeBudgets(), nil }),
	newResource("spending", "cost of finished runs, by day, model and task", view.Spending{}, sumSpending,
		Parameter{Name: "since", Type: "time", Doc: "only runs that ended later"}),
	newResource("spending/{id}", "cost of a task, subtask or run", view.TaskCosts{}, sumTaskCosts,
		Parameter{Name: "requests", Type: "boolean", Doc: "include the newest 2,000 model requests"},
		Parameter{Name: "dearest", Type: "boolean", Doc: "include the ten most expensive ones"}),
	newResource("prompts/{id}", "prompt that an agent would be sent now", view.Prompt{},
		func(src view.Source, r *http.Request) (any, error) {
			return src.Prompt(r.Context(), company.Role(r.URL.Query().Get("role")), r.PathValue("id"))
		}, Parameter{Name: "role", Type: "string", Doc: "manager, worker, reviewer or merger"}),
	newResource("prs", "pull requests", []view.PullRequest{},
		func(src view.Source, _ *http.Request) (any, error) { return src.PullRequests(), nil }),
	newResource("prs/{id}", "pull request, by its number or task",
		view.PullRecord{}, func(src view.Source, r *http.Request) (any, error) { return src.PullRecord(r.PathValue("id")) }),
	newResource("projects", "projects, most recently used first", view.Projects{},
		func(src view.Source, _ *http.Request) (any, error) { return src.Projects(), nil }),
	newResource("images", "images in use", []view.TaskImage{},
		func(src view.Source, _ *http.Request) (any, error) { return src.Images(), nil }),
	newResource("ids", "ids for shell completion", view.IDs{},
		func(src view.Source, _ *http.Request) (any, error) { return src.IDs(), nil }),
}

func listTasks(src view.Source, r *http.Request) (any, error) {
	q := r.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(q.Get("limit"), "0"))
	if err != nil || limit < 0 {
		return nil, company.E(company.EInvalid, "limit is a number of tasks")
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
		return "", company.E(company.EInvalid, "there is no place in the list that this cursor names").
			Fix("begin without a cursor; next of each answer is the cursor of the one behind it")
	}
	return id, nil
}

func sumSpending(src view.Source, r *http.Request) (any, error) {
	since := time.Time{}
	if at := r.URL.Query().Get("since"); at != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, at); err != nil {
			return nil, company.E(company.EInvalid, "since is a time such as 2026-03-01T00:00:00Z")
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
