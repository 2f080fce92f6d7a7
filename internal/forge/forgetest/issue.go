package forgetest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Issue is an issue of the fake. It has its number in one row with pull requests.
type Issue struct {
	Number            int
	Title, Body, User string
	State             string // open (as if empty) | closed
	Page              string // the address that it has moved to; empty: its own
	ID                int64
	Created           time.Time

	comments []Comment
}

// AddIssue opens an issue as a person would, and returns its number.
func (s *Server) AddIssue(r *Repo, i Issue) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	i.Number, i.ID, i.Created, i.State = s.nextNumber(r), s.nextID(), s.nextTime(), cmp.Or(i.State, "open")
	r.issues = append(r.issues, &i)
	return i.Number
}

// CloseIssue closes an issue as a person would.
func (s *Server) CloseIssue(r *Repo, number int) {
	s.t.Helper()
	s.EditIssue(r, number, func(i *Issue) { i.State = "closed" })
}

// EditIssue changes an issue as a person would on the page.
func (s *Server) EditIssue(r *Repo, number int, change func(*Issue)) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := r.findIssue(number)
	if i == nil {
		s.t.Fatalf("there is no issue %d", number)
	}
	change(i)
}

func (r *Repo) findIssue(number int) *Issue {
	if at := slices.IndexFunc(r.issues, func(i *Issue) bool { return i.Number == number }); at >= 0 {
		return r.issues[at]
	}
	return nil
}

// discussionOf are the comments under a number; nil: there is none of that number.
func (r *Repo) discussionOf(number int) *[]Comment {
	if i := r.findIssue(number); i != nil {
		return &i.comments
	}
	if p := r.findPull(number); p != nil {
		return &p.comments
	}
	return nil
}

// issueOf is an issue, or a pull request as an issue; nil: there is none of that number.
func (r *Repo) issueOf(number int) (i *Issue, isPull bool) {
	if i := r.findIssue(number); i != nil {
		return i, false
	}
	if p := r.findPull(number); p != nil {
		return &Issue{Number: p.Number, Title: p.Title, Body: p.Body, User: p.User, State: p.State, ID: p.ID, Created: p.Created, comments: p.comments}, true
	}
	return nil, false
}

func (h *githubAPI) getIssue(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok != nil && refuseWithoutPermission(w, r, tok, "issues", "read") {
		return
	}
	i, isPull := repo.issueOf(parseNumber(r.PathValue("number"), 0))
	if i == nil {
		sendError(w, r, http.StatusNotFound, "Not Found")
		return
	}
	u := fmt.Sprintf("%s/api/v3/repos/%s/issues/%d", h.URL, repo.fullName(), i.Number)
	page := fmt.Sprintf("%s/%s/issues/%d", h.URL, repo.fullName(), i.Number)
	o := jsonObject{"id": i.ID, "node_id": fmt.Sprint("I_", i.ID), "url": u, "repository_url": h.URL + "/api/v3/repos/" + repo.fullName(), "labels_url": u + "/labels{/name}",
		"comments_url": u + "/comments", "events_url": u + "/events", "html_url": cmp.Or(i.Page, page), "number": i.Number, "state": i.State, "title": i.Title, "body": i.Body,
		"user": h.userJSON(i.User, false), "labels": []jsonObject{}, "assignee": nil, "milestone": nil, "locked": false, "comments": len(i.comments), "closed_at": nil,
		"created_at": formatTime(i.Created), "updated_at": formatTime(i.Created), "author_association": associationOf(repo, i.User)}
	if i.State == "closed" {
		o["closed_at"] = formatTime(i.Created)
	}
	if isPull {
		page = fmt.Sprintf("%s/%s/pull/%d", h.URL, repo.fullName(), i.Number)
		o["html_url"], o["pull_request"] = page, jsonObject{"url": u, "html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch"}
	}
	sendJSON(w, r, http.StatusOK, o)
}

func (h *githubAPI) listIssueComments(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	i := repo.findIssue(parseNumber(r.PathValue("number"), 0))
	if i == nil {
		h.withPull(h.listComments)(w, r, repo, tok)
		return
	}
	if tok != nil && refuseWithoutPermission(w, r, tok, "issues", "read") {
		return
	}
	h.sendComments(w, r, i.comments, func(c Comment) jsonObject { return h.commentJSON(repo, &Pull{Number: i.Number}, c) })
}

func (g *giteaAPI) getIssue(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	i, isPull := repo.issueOf(parseNumber(r.PathValue("number"), 0))
	if i == nil {
		g.sendError(w, r, http.StatusNotFound, "The target couldn't be found.")
		return
	}
	o := jsonObject{"id": i.ID, "url": g.URL, "html_url": fmt.Sprintf("%s/%s/issues/%d", g.URL, repo.fullName(), i.Number), "number": i.Number, "user": g.giteaUser(i.User),
		"original_author": "", "title": i.Title, "body": i.Body, "labels": []jsonObject{}, "state": i.State, "is_locked": false, "comments": len(i.comments),
		"created_at": formatTime(i.Created), "updated_at": formatTime(i.Created), "pull_request": nil,
		"repository": jsonObject{"id": repo.ID, "name": repo.Name, "owner": repo.Owner, "full_name": repo.fullName()}}
	if isPull {
		o["pull_request"] = jsonObject{"merged": false, "merged_at": nil, "draft": false}
	}
	sendJSON(w, r, http.StatusOK, o)
}
