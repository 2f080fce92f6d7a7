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
	for _, check := range repo.checks {
		if check.SHA == r.PathValue("ref") {
			found = append(found, h.checkJSON(repo, check))
		}
	}
	total := len(found)
	sendJSON(
		w, r, http.StatusOK, jsonObject{"total_count": total, "check_runs": pageOf(w, r, h.Server, found, "per_page", 100)})
}

func (h *githubAPI) listAnnotations(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	for _, check := range repo.checks {
		if fmt.Sprint(check.ID) != r.PathValue("id") {
			continue
		}
		out := []jsonObject{}
		for _, annotation := range check.Annotations {
			out = append(
				out, jsonObject{"path": annotation.Path, "start_line": annotation.Line, "end_line": annotation.Line,
					"start_column": nil, "end_column": nil,
					"annotation_level": "failure",
					"title":            nil, "message": annotation.Message, "raw_details": nil, "blob_href": h.URL})
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

// serveLog serves a job's log at its redirect address, without a login.
func (h *githubAPI) serveLog(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, repo := range h.repos {
		for _, check := range repo.checks {
			if fmt.Sprint(check.ID) == r.PathValue("id") {
				w.Header().Set("Content-Type", "text/plain")
				_, _ = io.WriteString(w, check.Log)
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
	for _, status := range repo.status {
		if status.SHA != sha {
			continue
		}
		if status.State != "success" {
			state = status.State
		}
		found = append(
			found, jsonObject{"id": status.ID, "node_id": fmt.Sprint("SC_", status.ID), "state": status.State,
				"context":     status.Context,
				"description": status.Description, "target_url": status.URL,
				"avatar_url": nil, "url": u, "created_at": formatTime(status.At), "updated_at": formatTime(status.At)})
	}
	if len(found) == 0 {
		state = "pending"
	}
	if state == "error" {
		state = "failure"
	}
	total := len(found)
	sendJSON(
		w, r, http.StatusOK,
		jsonObject{"state": state, "sha": sha, "total_count": total,
			"statuses":   pageOf(w, r, h.Server, found, "per_page", 100),
			"repository": h.repoJSON(repo, nil), "commit_url": u + "/commits/" + sha, "url": u + "/status"})
}
