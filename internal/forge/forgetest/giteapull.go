package forgetest

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

func (g *giteaAPI) giteaPull(repo *Repo, pull *Pull) jsonObject {
	side := func(ref, sha string, of *Repo) jsonObject {
		o := jsonObject{"label": ref, "ref": ref, "sha": sha, "repo_id": 0, "repo": nil}
		if of != nil {
			o["repo_id"], o["repo"] = of.ID, g.giteaRepo(of, nil)
		}
		return o
	}
	labels := shapeAll(pull.Labels, g.giteaLabel)
	reviewers := shapeAll(pull.Reviewers, g.giteaUser)
	draft := strings.HasPrefix(pull.Title, "WIP: ")
	o := jsonObject{"id": pull.ID, "number": pull.Number, "title": pull.Title, "body": pull.Body, "state": pull.State,
		"draft": draft,
		"user":  g.giteaUser(pull.User), "labels": labels,
		"url": g.URL, "html_url": fmt.Sprintf("%s/%s/pulls/%d", g.URL, repo.fullName(), pull.Number),
		"requested_reviewers": reviewers,
		"merged":              pull.Merged, "merge_commit_sha": nil, "mergeable": false,
		"head": side(pull.HeadRef, pull.HeadSHA, g.headRepo(repo, pull.HeadOwner)),
		"base": side(pull.Base, g.branchSHA(repo, pull.Base), repo), "created_at": formatTime(pull.Created),
		"updated_at": formatTime(pull.Updated)}
	if pull.Merged {
		o["merge_commit_sha"], o["merged_at"] = pull.MergeSHA, formatTime(pull.Updated)
	}
	// Gitea also reports "not mergeable" while it computes, which depends on its queue.
	if now := pull.HeadSHA + g.branchSHA(repo, pull.Base); pull.lookedAt != now {
		pull.lookedAt, pull.pendingLooks = now, g.mergeCheckLooks
	} else if pull.pendingLooks > 0 {
		pull.pendingLooks--
	} else if pull.State == "open" && !draft {
		o["mergeable"] = g.mergesCleanly(repo, pull)
	}
	return o
}

func (g *giteaAPI) listGiteaPulls(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	out := []jsonObject{}
	for _, pull := range newestFirst(repo.pulls) {
		g.refreshHead(repo, pull)
		if s := r.URL.Query().Get("state"); s == "all" || s == pull.State || s == "" && pull.State == "open" {
			out = append(out, g.giteaPull(repo, pull))
		}
	}
	sendJSON(w, r, http.StatusOK, pageOf(w, r, g.Server, out, "limit", 50))
}

func (g *giteaAPI) createGiteaPull(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	var in struct{ Title, Body, Head, Base string }
	if !decodeJSON(w, r, &in) {
		return
	}
	owner, ref, from := g.parseHead(repo, in.Head)
	if tok == nil || from == nil || g.branchSHA(from, ref) == "" || g.branchSHA(repo, in.Base) == "" {
		g.sendError(w, r, http.StatusNotFound, "The target couldn't be found.")
		return
	}
	if len(in.Title) > 255 {
		g.sendError(w, r, http.StatusUnprocessableEntity, "title is too long")
		return
	}
	if p := repo.openPull(owner, ref, in.Base); p != nil {
		g.sendError(w, r, http.StatusConflict, fmt.Sprintf("pull request already exists for these targets [id: %d]", p.ID))
		return
	}
	// The server checks for another one and opens in two steps, so simultaneous requests all succeed.
	var pull *Pull
	for range 1 + g.duplicates {
		pull = g.newPull(
			repo, Pull{Title: in.Title, Body: in.Body, HeadOwner: from.Owner, HeadRef: ref, Base: in.Base, User: tok.Login})
		repo.pulls = append(repo.pulls, pull)
	}
	sendJSON(w, r, http.StatusCreated, g.giteaPull(repo, pull))
}

func (g *giteaAPI) editGiteaPull(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, pull *Pull) {
	var in struct {
		Title       string
		Body, State *string
	}
	if tok == nil || !decodeJSON(w, r, &in) {
		return
	}
	if in.Title != "" {
		pull.Title = in.Title
	}
	if in.Body != nil {
		pull.Body = *in.Body
	}
	if in.State != nil {
		pull.State = *in.State
	}
	pull.Updated = g.nextTime()
	sendJSON(w, r, http.StatusCreated, g.giteaPull(repo, pull))
}

func (g *giteaAPI) giteaComment(r *Repo, p *Pull, comment Comment) jsonObject {
	html := fmt.Sprintf("%s/%s/pulls/%d", g.URL, r.fullName(), p.Number)
	return jsonObject{"id": comment.ID, "body": comment.Body, "user": g.giteaUser(comment.User),
		"html_url": fmt.Sprintf("%s#issuecomment-%d", html, comment.ID), "pull_request_url": html,
		"issue_url": "", "created_at": formatTime(comment.At), "updated_at": formatTime(comment.At)}
}

// reviewIDOf returns the review of a line comment. A reply belongs to the review of the comment that it answers.
func reviewIDOf(comment Comment) int64 {
	if comment.ReplyTo != 0 {
		return comment.ReplyTo + 1_000_000
	}
	return comment.ID + 1_000_000
}

func (g *giteaAPI) listGiteaReviews(w http.ResponseWriter, r *http.Request, _ *Repo, _ *Token, pull *Pull) {
	out := []jsonObject{}
	add := func(id int64, comment Comment, state, body string, comments int) {
		out = append(
			out, jsonObject{"id": id, "user": g.giteaUser(comment.User), "state": state, "body": body,
				"commit_id": comment.Commit,
				"stale":     false, "official": false,
				"dismissed": false, "comments_count": comments, "submitted_at": formatTime(comment.At), "html_url": g.URL,
				"pull_request_url": g.URL})
	}
	for _, comment := range pull.lines {
		if comment.ReplyTo == 0 {
			add(reviewIDOf(comment), comment, "COMMENT", "", 1)
		}
	}
	for _, comment := range pull.reviews {
		state := map[string]string{"APPROVED": "APPROVED", "CHANGES_REQUESTED": "REQUEST_CHANGES"}[comment.State]
		state = cmp.Or(state, "COMMENT")
		add(comment.ID, comment, state, comment.Body, 0)
	}
	sendJSON(w, r, http.StatusOK, pageOf(w, r, g.Server, out, "limit", 50))
}

func (g *giteaAPI) giteaStatuses(repo *Repo, sha string) []jsonObject {
	out := []jsonObject{}
	for _, status := range repo.status {
		if status.SHA == sha {
			out = append(
				out, jsonObject{"id": status.ID, "status": status.State, "context": status.Context,
					"description": status.Description,
					"target_url":  status.URL, "url": g.URL,
					"created_at": formatTime(status.At), "updated_at": formatTime(status.At)})
		}
	}
	return out
}

func (g *giteaAPI) serveStatuses(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	out := g.giteaStatuses(repo, r.PathValue("ref"))
	sendJSON(
		w, r, http.StatusOK,
		jsonObject{"sha": r.PathValue("ref"), "state": "", "total_count": len(out),
			"statuses": pageOf(w, r, g.Server, out, "limit", 50)})
}
