package api

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"company/internal/company"
	"company/internal/view"
)

// look makes the answer to a request for a resource.
type look func(src view.Source, r *http.Request) (any, error)

// resources are what a GET below /api/v1/ may ask for.
var resources = map[string]look{
	"overview": func(src view.Source, r *http.Request) (any, error) {
		return src.Overview(r.URL.Query().Get("all") == "true")
	},
	"work": func(src view.Source, r *http.Request) (any, error) {
		var ids []company.TaskID
		for _, id := range r.URL.Query()["task"] {
			ids = append(ids, company.TaskID(id))
		}
		return src.Work(ids...)
	},
	"tasks/{id}":     showAs(func(v view.Shown) bool { return v.Task != nil }, "task"),
	"subtasks/{id}":  showAs(func(v view.Shown) bool { return v.Subtask != nil }, "subtask"),
	"runs/{id}":      showAs(func(v view.Shown) bool { return v.Run != nil }, "run"),
	"shown/{id}":     showAs(func(view.Shown) bool { return true }, "id"),
	"approvals/{id}": func(src view.Source, r *http.Request) (any, error) { return src.Question(r.PathValue("id")) },
	"summaries/{id}": findSummary,
	"ranges/{id}":    func(src view.Source, r *http.Request) (any, error) { return src.Range(r.PathValue("id")) },
	"agents":         func(src view.Source, _ *http.Request) (any, error) { return src.Agents(), nil },
	"costs":          func(src view.Source, _ *http.Request) (any, error) { return src.Budgets(), nil },
	"tasks": func(src view.Source, r *http.Request) (any, error) {
		limit, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("limit"), "0"))
		if err != nil || limit < 0 {
			return nil, company.E(company.EInvalid, "limit is a number of tasks")
		}
		q := r.URL.Query()
		return src.TaskList(view.TaskFilter{States: q["state"], Priorities: q["priority"], Tags: q["tag"], Limit: limit})
	},
	"spending": func(src view.Source, r *http.Request) (any, error) {
		since := time.Time{}
		if at := r.URL.Query().Get("since"); at != "" {
			var err error
			if since, err = time.Parse(time.RFC3339, at); err != nil {
				return nil, company.E(company.EInvalid, "since is a time such as 2026-03-01T00:00:00Z")
			}
		}
		return src.Spending(since)
	},
	"planning":   func(src view.Source, _ *http.Request) (any, error) { return src.Planning() },
	"budgets":    func(src view.Source, _ *http.Request) (any, error) { return src.OfficeBudgets(), nil },
	"costs/{id}": func(src view.Source, r *http.Request) (any, error) { return src.Budget(r.PathValue("id")) },
	"prs":        func(src view.Source, _ *http.Request) (any, error) { return src.PullRequests(), nil },
	"prs/{id}":   func(src view.Source, r *http.Request) (any, error) { return src.PullRecord(r.PathValue("id")) },
	"projects":   func(src view.Source, _ *http.Request) (any, error) { return src.Projects(), nil },
	"images":     func(src view.Source, _ *http.Request) (any, error) { return src.Images(), nil },
	"ids":        func(src view.Source, _ *http.Request) (any, error) { return src.IDs(), nil },
}

// showAs looks an id up that must name an object of one kind.
func showAs(fits func(view.Shown) bool, kind string) look {
	return func(src view.Source, r *http.Request) (any, error) {
		v, err := src.Show(r.PathValue("id"))
		if err == nil && !fits(v) {
			return nil, company.E(company.ENotFound, r.PathValue("id")+" is no "+kind)
		}
		return v, err
	}
}

func findSummary(src view.Source, r *http.Request) (any, error) {
	src, err := src.WithTarget(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	t, err := view.FindTask(src.State, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return src.Summary(t), nil
}
