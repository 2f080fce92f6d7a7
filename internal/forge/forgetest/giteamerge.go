package forgetest

import "net/http"

func (g *giteaAPI) mergeGiteaPull(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, pull *Pull) {
	var in struct {
		Do           string
		HeadCommitID string `json:"head_commit_id"`
	}
	switch {
	case g.refuseReader(w, r, repo, tok), !decodeJSON(w, r, &in):
	case pull.State != "open" || !g.mergesCleanly(repo, pull):
		g.sendError(w, r, http.StatusMethodNotAllowed, "Please try again later")
	case in.HeadCommitID != "" && in.HeadCommitID != pull.HeadSHA:
		g.sendError(w, r, http.StatusConflict, "head out of date")
	default:
		g.completeMerge(repo, pull)
		w.WriteHeader(http.StatusOK)
	}
}
