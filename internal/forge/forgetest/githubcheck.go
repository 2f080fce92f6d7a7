package forgetest

import (
	"fmt"
	"io"
	"net/http"
)

func (h *githubAPI) listChecks(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok != nil && refuseWithoutPermission(w, r, tok, "checks", "read") {
		return
	}
	var found []jsonObject
	for _, c := range repo.checks {
		if c.SHA == r.PathValue("ref") {
			found = append(found, h.checkJSON(repo, c))
		}
	}
	total := len(found)
	sendJSON(w, r, http.StatusOK, jsonObject{"total_count": total, "check_runs": pageOf(w, r, h.Server, found, "per_page", 100)})
}

func (h *githubAPI) listAnnotations(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	for _, c := range repo.checks {
		if fmt.Sprint(c.ID) != r.PathValue("id") {
			continue
		}
		out := []jsonObject{}
		for _, n := range c.Annotations {
			out = append(out, jsonObject{"path": n.Path, "start_line": n.Line, "end_line": n.Line, "start_column": nil, "end_column": nil, "annotation_level": "failure",
				"title": nil, "message": n.Message, "raw_details": nil, "blob_href": h.URL})
		}
		sendJSON(w, r, http.StatusOK, pageOf(w, r, h.Server, out, "per_page", 100))
		return
	}
	sendError(w, r, http.StatusNotFound, "Not Found")
}

func (h *githubAPI) redirectToLog(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	for _, c := range repo.checks {
		if fmt.Sprint(c.ID) == r.PathValue("id") && c.Log != "" {
			w.Header().Set("Location", h.URL+"/api/v3/download/"+r.PathValue("id"))
			w.WriteHeader(http.StatusFound)
			return
		}
	}
	sendError(w, r, http.StatusNotFound, "Not Found")
}

// serveLog is where logs are: elsewhere, signed, and without a login.
func (h *githubAPI) serveLog(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, repo := range h.repos {
		for _, c := range repo.checks {
			if fmt.Sprint(c.ID) == r.PathValue("id") {
				w.Header().Set("Content-Type", "text/plain")
				_, _ = io.WriteString(w, c.Log)
				return
			}
		}
	}
	http.NotFound(w, r)
}

func (h *githubAPI) serveStatus(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok != nil && refuseWithoutPermission(w, r, tok, "statuses", "read") {
		return
	}
	sha, state := r.PathValue("ref"), "success"
	u := h.URL + "/api/v3/repos/" + repo.fullName()
	var found []jsonObject
	for _, c := range repo.status {
		if c.SHA != sha {
			continue
		}
		if c.State != "success" {
			state = c.State
		}
		found = append(found, jsonObject{"id": c.ID, "node_id": fmt.Sprint("SC_", c.ID), "state": c.State, "context": c.Context, "description": c.Description, "target_url": c.URL,
			"avatar_url": nil, "url": u, "created_at": formatTime(c.At), "updated_at": formatTime(c.At)})
	}
	if len(found) == 0 {
		state = "pending"
	}
	if state == "error" {
		state = "failure"
	}
	total := len(found)
	sendJSON(w, r, http.StatusOK, jsonObject{"state": state, "sha": sha, "total_count": total, "statuses": pageOf(w, r, h.Server, found, "per_page", 100),
		"repository": h.repoJSON(repo, nil), "commit_url": u + "/commits/" + sha, "url": u + "/status"})
}
