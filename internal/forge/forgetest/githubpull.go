package forgetest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func (h *githubAPI) listPulls(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok != nil && refuseWithoutPermission(w, r, tok, "pull_requests", "read") {
		return
	}
	q := r.URL.Query()
	state := q.Get("state")
	state = cmp.Or(state, "open")
	owner, ref, hasHead := strings.Cut(q.Get("head"), ":")
	var found []jsonObject
	for _, pull := range newestFirst(repo.pulls) {
		h.refreshHead(repo, pull)
		if state != "all" && pull.State != state ||
			hasHead && (!strings.EqualFold(pull.HeadOwner, owner) || pull.HeadRef != ref) ||
			q.Get("base") != "" && pull.Base != q.Get("base") {
			continue
		}
		found = append(found, h.pullJSON(repo, pull, false))
	}
	sendJSON(w, r, http.StatusOK, pageOf(w, r, h.Server, found, "per_page", 100))
}

func (h *githubAPI) createPull(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if refuseWithoutPermission(w, r, tok, "pull_requests", "write") {
		return
	}
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	if !decodeJSON(w, r, &in) {
		return
	}
	owner, ref, from := h.parseHead(repo, in.Head)
	switch {
	case len([]rune(in.Title)) > 256:
		sendInvalid(w, r, "title", "custom", "title is too long (maximum is 256 characters)")
		return
	case len([]rune(in.Body)) > 65536:
		sendInvalid(w, r, "body", "custom", "body is too long (maximum is 65536 characters)")
		return
	case from == nil || h.branchSHA(from, ref) == "":
		sendInvalid(w, r, "head", "invalid", "")
		return
	case h.branchSHA(repo, in.Base) == "":
		sendInvalid(w, r, "base", "invalid", "")
		return
	}
	if repo.openPull(owner, ref, in.Base) != nil {
		sendInvalid(w, r, "", "custom", fmt.Sprintf("A pull request already exists for %s:%s.", owner, ref))
		return
	}
	pull := h.newPull(
		repo, Pull{Title: in.Title, Body: in.Body, HeadOwner: from.Owner, HeadRef: ref, Base: in.Base, User: tok.Login,
			Draft: in.Draft})
	if out, err := h.runGit(repo.Dir, "rev-list", "--count", h.branchSHA(repo, in.Base)+".."+pull.HeadSHA); err == nil &&
		out == "0" {
		sendInvalid(w, r, "", "custom", fmt.Sprintf("No commits between %s and %s", in.Base, ref))
		return
	}
	repo.pulls = append(repo.pulls, pull)
	sendJSON(w, r, http.StatusCreated, h.pullJSON(repo, pull, true))
}

func (h *githubAPI) withPull(
	f func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull),
) repoHandler {
	return func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
		pull := repo.findPull(parseNumber(r.PathValue("number"), 0))
		if pull == nil {
			sendError(w, r, http.StatusNotFound, "Not Found")
			return
		}
		h.refreshHead(repo, pull)
		f(w, r, repo, tok, pull)
	}
}

func (h *githubAPI) getPull(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
	sendJSON(w, r, http.StatusOK, h.pullJSON(repo, p, true))
}

func (h *githubAPI) patchPull(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, pull *Pull) {
	if refuseWithoutPermission(w, r, tok, "pull_requests", "write") {
		return
	}
	var in struct{ Title, Body, State, Base *string }
	if !decodeJSON(w, r, &in) {
		return
	}
	set := func(to, from *string) {
		if from != nil {
			*to = *from
		}
	}
	if pull.Merged && in.State != nil && *in.State == "open" {
		sendInvalid(w, r, "state", "invalid", "")
		return
	}
	set(&pull.Title, in.Title)
	set(&pull.Body, in.Body)
	set(&pull.State, in.State)
	set(&pull.Base, in.Base)
	pull.Updated = h.nextTime()
	sendJSON(w, r, http.StatusOK, h.pullJSON(repo, pull, true))
}

// appendNew adds the strings that a list lacks.
func appendNew(to, more []string) []string {
	for _, m := range more {
		if !slices.Contains(to, m) {
			to = append(to, m)
		}
	}
	return to
}

func (h *githubAPI) listReviewers(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, pull *Pull) {
	users := shapeAll(pull.Reviewers, func(l string) jsonObject { return h.userJSON(l, false) })
	teams := shapeAll(pull.Teams, func(l string) jsonObject { return h.teamJSON(repo, l) })
	sendJSON(w, r, http.StatusOK, jsonObject{"users": users, "teams": teams})
}

func (h *githubAPI) requestReviewers(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, pull *Pull) {
	if refuseWithoutPermission(w, r, tok, "pull_requests", "write") {
		return
	}
	var in struct {
		Reviewers     []string `json:"reviewers"`
		TeamReviewers []string `json:"team_reviewers"`
	}
	if !decodeJSON(w, r, &in) {
		return
	}
	for _, l := range in.Reviewers {
		if l == pull.User {
			sendError(w, r, http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
			return
		}
		if associationOf(repo, l) == "NONE" {
			sendError(w, r, http.StatusUnprocessableEntity,
				"Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a "+
					"collaborator of the "+repo.fullName()+" repository.")
			return
		}
	}
	for _, l := range in.TeamReviewers {
		if !slices.Contains(repo.teams, l) {
			sendError(w, r, http.StatusUnprocessableEntity, "Could not resolve to a node with the global id of 'T'.")
			return
		}
	}
	pull.Reviewers, pull.Teams = appendNew(pull.Reviewers, in.Reviewers), appendNew(pull.Teams, in.TeamReviewers)
	sendJSON(w, r, http.StatusCreated, h.pullJSON(repo, pull, false))
}

func (h *githubAPI) sendComments(
	w http.ResponseWriter, r *http.Request, said []Comment, shape func(Comment) jsonObject,
) {
	sendJSON(w, r, http.StatusOK, pageOf(w, r, h.Server, shapeAll(said, shape), "per_page", 100))
}

func (h *githubAPI) listComments(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, pull *Pull) {
	if tok != nil && refuseWithoutPermission(w, r, tok, "pull_requests", "read") {
		return
	}
	h.sendComments(w, r, pull.comments, func(c Comment) jsonObject { return h.commentJSON(repo, pull, c) })
}

func (h *githubAPI) createComment(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, pull *Pull) {
	if refuseWithoutPermission(w, r, tok, "pull_requests", "write") {
		return
	}
	var in struct{ Body string }
	if !decodeJSON(w, r, &in) {
		return
	}
	comment := Comment{ID: h.nextID(), User: tok.Login, Bot: tok.app != nil, Body: in.Body, At: h.nextTime()}
	pull.comments = append(pull.comments, comment)
	sendJSON(w, r, http.StatusCreated, h.commentJSON(repo, pull, comment))
}

func (h *githubAPI) listLineComments(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
	h.sendComments(w, r, p.lines, func(c Comment) jsonObject { return h.lineJSON(repo, p, c) })
}

func (h *githubAPI) listReviews(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
	h.sendComments(w, r, p.reviews, func(c Comment) jsonObject { return h.reviewJSON(repo, p, c) })
}

func (h *githubAPI) listLabels(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
	out := shapeAll(p.Labels, func(l string) jsonObject { return h.labelJSON(repo, l) })
	sendJSON(w, r, http.StatusOK, pageOf(w, r, h.Server, out, "per_page", 100))
}

func (h *githubAPI) addLabels(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, pull *Pull) {
	// Labels need triage permission, which outside people lack.
	if refuseWithoutPermission(w, r, tok, "issues", "write") {
		return
	}
	if tok.app == nil && !repo.hasRole(tok.Login, "write") {
		sendError(w, r, http.StatusForbidden, "Must have triage rights to Repository.")
		return
	}
	var in []string
	if !decodeJSON(w, r, &in) {
		return
	}
	pull.Labels = appendNew(pull.Labels, in)
	sendJSON(w, r, http.StatusOK, shapeAll(pull.Labels, func(l string) jsonObject { return h.labelJSON(repo, l) }))
}

func (h *githubAPI) mergePull(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, pull *Pull) {
	if refuseWithoutPermission(w, r, tok, "contents", "write") {
		return
	}
	var in struct {
		SHA         string
		MergeMethod string `json:"merge_method"`
	}
	switch {
	case !decodeJSON(w, r, &in):
	case pull.State != "open" || pull.Draft || !h.mergesCleanly(repo, pull):
		sendError(w, r, http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case in.SHA != "" && in.SHA != pull.HeadSHA:
		sendError(w, r, http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	default:
		h.completeMerge(repo, pull)
		sendJSON(
			w, r, http.StatusOK, jsonObject{"sha": pull.MergeSHA, "merged": true, "message": "Pull Request successfully merged"})
	}
}
