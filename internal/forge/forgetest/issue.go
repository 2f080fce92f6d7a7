package forgetest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Issue is an issue of the fake. Issues and pull requests share one sequence of numbers.
type Issue struct {
	Number            int
	Title, Body, User string
	State             string // open (also if empty) | closed
	Page              string // the address that it was moved to; may be empty
	ID                int64
	Created           time.Time

	comments []Comment
}

// AddIssue opens an issue as a person would, and returns its number.
func (s *Server) AddIssue(repo *Repo, issue Issue) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	issue.Number = s.nextNumber(repo)
	issue.ID = s.nextID()
	issue.Created = s.nextTime()
	issue.State = cmp.Or(issue.State, "open")
	repo.issues = append(repo.issues, &issue)
	return issue.Number
}

// CloseIssue closes an issue as a person would.
func (s *Server) CloseIssue(repo *Repo, number int) {
	s.t.Helper()
	s.EditIssue(repo, number, func(i *Issue) { i.State = "closed" })
}

// EditIssue changes an issue as a person would on the page.
func (s *Server) EditIssue(repo *Repo, number int, change func(*Issue)) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	issue := repo.findIssue(number)
	if issue == nil {
		s.t.Fatalf("there is no issue %d", number)
	}
	change(issue)
}

func (r *Repo) findIssue(number int) *Issue {
	if index := slices.IndexFunc(r.issues, func(i *Issue) bool { return i.Number == number }); index >= 0 {
		return r.issues[index]
	}
	return nil
}

// discussionOf returns the comments of an issue or pull request, or nil if the number does not exist.
func (r *Repo) discussionOf(number int) *[]Comment {
	if i := r.findIssue(number); i != nil {
		return &i.comments
	}
	if p := r.findPull(number); p != nil {
		return &p.comments
	}
	return nil
}

// issueOf returns an issue, or a pull request as an issue, or nil if the number does not exist.
func (r *Repo) issueOf(number int) (i *Issue, isPull bool) {
	if i := r.findIssue(number); i != nil {
		return i, false
	}
	if pull := r.findPull(number); pull != nil {
		return &Issue{Number: pull.Number, Title: pull.Title, Body: pull.Body, User: pull.User, State: pull.State,
			ID:      pull.ID,
			Created: pull.Created, comments: pull.comments}, true
	}
	return nil, false
}

func (h *githubAPI) getIssue(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok != nil && refuseWithoutPermission(w, r, tok, "issues", "read") {
		return
	}
	issue, isPull := repo.issueOf(parseNumber(r.PathValue("number"), 0))
	if issue == nil {
		sendError(w, r, http.StatusNotFound, "Not Found")
		return
	}
	u := fmt.Sprintf("%s/api/v3/repos/%s/issues/%d", h.URL, repo.fullName(), issue.Number)
	page := fmt.Sprintf("%s/%s/issues/%d", h.URL, repo.fullName(), issue.Number)
	o := jsonObject{"id": issue.ID, "node_id": fmt.Sprint("I_", issue.ID), "url": u,
		"repository_url": h.URL + "/api/v3/repos/" + repo.fullName(), "labels_url": u + "/labels{/name}",
		"comments_url": u + "/comments", "events_url": u + "/events", "html_url": cmp.Or(issue.Page, page),
		"number": issue.Number,
		"state":  issue.State, "title": issue.Title, "body": issue.Body,
		"user": h.userJSON(issue.User, false), "labels": []jsonObject{}, "assignee": nil, "milestone": nil, "locked": false,
		"comments": len(issue.comments), "closed_at": nil,
		"created_at": formatTime(issue.Created), "updated_at": formatTime(issue.Created),
		"author_association": associationOf(repo, issue.User)}
	if issue.State == "closed" {
		o["closed_at"] = formatTime(issue.Created)
	}
	if isPull {
		page = fmt.Sprintf("%s/%s/pull/%d", h.URL, repo.fullName(), issue.Number)
		o["html_url"], o["pull_request"] = page,
			jsonObject{"url": u, "html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch"}
	}
	sendJSON(w, r, http.StatusOK, o)
}

func (h *githubAPI) listIssueComments(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	issue := repo.findIssue(parseNumber(r.PathValue("number"), 0))
	if issue == nil {
		h.withPull(h.listComments)(w, r, repo, tok)
		return
	}
	if tok != nil && refuseWithoutPermission(w, r, tok, "issues", "read") {
		return
	}
	h.sendComments(w, r, issue.comments,
		func(c Comment) jsonObject { return h.commentJSON(repo, &Pull{Number: issue.Number}, c) })
}

func (g *giteaAPI) getIssue(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	issue, isPull := repo.issueOf(parseNumber(r.PathValue("number"), 0))
	if issue == nil {
		g.sendError(w, r, http.StatusNotFound, "The target couldn't be found.")
		return
	}
	o := jsonObject{"id": issue.ID, "url": g.URL,
		"html_url": fmt.Sprintf("%s/%s/issues/%d", g.URL, repo.fullName(), issue.Number),
		"number":   issue.Number, "user": g.giteaUser(issue.User),
		"original_author": "", "title": issue.Title, "body": issue.Body, "labels": []jsonObject{}, "state": issue.State,
		"is_locked": false, "comments": len(issue.comments),
		"created_at": formatTime(issue.Created), "updated_at": formatTime(issue.Created), "pull_request": nil,
		"repository": jsonObject{"id": repo.ID, "name": repo.Name, "owner": repo.Owner, "full_name": repo.fullName()}}
	if isPull {
		o["pull_request"] = jsonObject{"merged": false, "merged_at": nil, "draft": false}
	}
	sendJSON(w, r, http.StatusOK, o)
}
