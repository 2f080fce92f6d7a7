package forgetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// GitHub starts a fake GitHub Enterprise: its API is at /api/v3 and
// /api/graphql. Whatever passes it is held to GitHub's description; what does
// not fit fails the test.
func GitHub(t testing.TB) *Server {
	t.Helper()
	c, err := GitHubContract()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t)
	h := &hub{s}
	mux := http.NewServeMux()
	h.routes(mux)
	api := http.NewServeMux()
	api.HandleFunc("POST /api/graphql", h.graphql)
	api.HandleFunc("GET /api/v3/download/{id}", h.download)
	api.Handle("/api/v3/", c.Handler("/api/v3", h.guarded(mux), func(err error) { t.Errorf("GitHub's description: %v", err) }))
	s.start(api)
	return s
}

type hub struct{ *Server }

const docs = "https://docs.github.com/rest"

func refuse(w http.ResponseWriter, r *http.Request, code int, message string) {
	send(w, r, code, object{"message": message, "documentation_url": docs, "status": fmt.Sprint(code)})
}

func invalid(w http.ResponseWriter, r *http.Request, field, code, message string) {
	e := object{"resource": "PullRequest", "code": code}
	if field != "" {
		e["field"] = field
	}
	if message != "" {
		e["message"] = message
	}
	send(w, r, http.StatusUnprocessableEntity, object{"message": "Validation Failed", "errors": []object{e}, "documentation_url": docs, "status": "422"})
}

// handler answers for one repository that the token may see, under the lock.
type handler func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token)

func (h *hub) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v3/user", h.user)
	mux.HandleFunc("POST /api/v3/app/installations/{id}/access_tokens", h.installationToken)
	const repo = "/api/v3/repos/{owner}/{repo}"
	for pattern, f := range map[string]handler{
		"GET " + repo: h.repository,
		"GET " + repo + "/collaborators/{login}/permission":    h.permission,
		"GET " + repo + "/commits/{ref}/check-runs":            h.checks,
		"GET " + repo + "/commits/{ref}/status":                h.status,
		"GET " + repo + "/check-runs/{id}/annotations":         h.annotations,
		"GET " + repo + "/actions/jobs/{id}/logs":              h.logs,
		"GET " + repo + "/contents/{path...}":                  h.contents,
		"POST " + repo + "/forks":                              h.fork,
		"GET " + repo + "/git/ref/{ref...}":                    h.ref,
		"GET " + repo + "/pulls":                               h.listPulls,
		"POST " + repo + "/pulls":                              h.createPull,
		"GET " + repo + "/pulls/{number}":                      h.onPull(h.getPull),
		"PATCH " + repo + "/pulls/{number}":                    h.onPull(h.patchPull),
		"GET " + repo + "/pulls/{number}/comments":             h.onPull(h.lines),
		"GET " + repo + "/pulls/{number}/reviews":              h.onPull(h.reviews),
		"GET " + repo + "/pulls/{number}/requested_reviewers":  h.onPull(h.requested),
		"POST " + repo + "/pulls/{number}/requested_reviewers": h.onPull(h.request),
		"GET " + repo + "/issues/{number}/comments":            h.onPull(h.comments),
		"POST " + repo + "/issues/{number}/comments":           h.onPull(h.comment),
		"GET " + repo + "/issues/{number}/labels":              h.onPull(h.labels),
		"POST " + repo + "/issues/{number}/labels":             h.onPull(h.addLabels),
	} {
		mux.HandleFunc(pattern, h.inRepo(f))
	}
	mux.HandleFunc("GET "+repo+"/installation", h.installation)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { refuse(w, r, http.StatusNotFound, "Not Found") })
}

// token is the login of a request: nil when there is none or it is not known.
func (h *hub) token(r *http.Request) *Token {
	_, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	t := h.tokens[secret]
	if t == nil || !t.Expires.IsZero() && h.now().After(t.Expires) {
		return nil
	}
	return t
}

// guarded checks logins and rate limits.
func (h *hub) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") == "" {
			refuse(w, r, http.StatusForbidden, "Request forbidden by administrative rules.")
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		isApp := strings.Contains(r.URL.Path, "/app/installations/") || strings.HasSuffix(r.URL.Path, "/installation")
		tok := h.token(r)
		if r.Header.Get("Authorization") != "" && tok == nil && !isApp {
			refuse(w, r, http.StatusUnauthorized, "Bad credentials")
			return
		}
		if tok != nil && !tok.Reset.IsZero() {
			if h.now().After(tok.Reset) {
				tok.Left, tok.Reset = 5000, h.now().Add(time.Hour)
			}
			if tok.Left > 0 {
				tok.Left--
			} else {
				w.Header().Set("X-RateLimit-Limit", "5000")
				w.Header().Set("X-RateLimit-Remaining", "0")
				w.Header().Set("X-RateLimit-Reset", fmt.Sprint(tok.Reset.Unix()))
				refuse(w, r, http.StatusForbidden, "API rate limit exceeded for user ID 1.")
				return
			}
			w.Header().Set("X-RateLimit-Limit", "5000")
			w.Header().Set("X-RateLimit-Remaining", fmt.Sprint(tok.Left))
			w.Header().Set("X-RateLimit-Reset", fmt.Sprint(tok.Reset.Unix()))
		}
		next.ServeHTTP(w, r)
	})
}

// inRepo finds the repository; one that the token may not see is not there.
func (h *hub) inRepo(f handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tok := h.token(r)
		repo := h.repos[strings.ToLower(r.PathValue("owner")+"/"+r.PathValue("repo"))]
		if repo != nil && repo.notYet > 0 {
			repo.notYet--
			repo = nil
		}
		if repo == nil || repo.Private && (tok == nil || tok.app != repo && !repo.may(tok.Login, "read")) || tok != nil && tok.app != nil && tok.app != repo {
			refuse(w, r, http.StatusNotFound, "Not Found")
			return
		}
		f(w, r, repo, tok)
	}
}

// lacks refuses a token without a permission, as GitHub does it.
func lacks(w http.ResponseWriter, r *http.Request, tok *Token, permission, level string) bool {
	if tok != nil && tok.can(permission) {
		return false
	}
	if tok == nil {
		refuse(w, r, http.StatusUnauthorized, "Requires authentication")
		return true
	}
	w.Header().Set("X-Accepted-GitHub-Permissions", permission+"="+level)
	refuse(w, r, http.StatusForbidden, "Resource not accessible by personal access token")
	return true
}

func (h *hub) user(w http.ResponseWriter, r *http.Request) {
	tok := h.token(r)
	switch {
	case tok == nil:
		refuse(w, r, http.StatusUnauthorized, "Requires authentication")
		return
	case tok.app != nil:
		refuse(w, r, http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	o := h.userJSON(tok.Login, false)
	for _, k := range []string{"bio", "blog", "company", "email", "hireable", "location", "name"} {
		o[k] = nil
	}
	for _, k := range []string{"followers", "following", "public_gists", "public_repos", "collaborators", "disk_usage", "owned_private_repos", "private_gists", "total_private_repos"} {
		o[k] = 0
	}
	o["two_factor_authentication"], o["created_at"], o["updated_at"], o["user_view_type"] = true, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "private"
	send(w, r, http.StatusOK, o)
}

func (h *hub) repository(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	o := h.repoJSON(repo, tok)
	if repo.Parent != nil {
		o["parent"], o["source"] = h.repoJSON(repo.Parent, nil), h.repoJSON(repo.Parent, nil)
	}
	send(w, r, http.StatusOK, o)
}

// permission is told to those who may push.
func (h *hub) permission(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok == nil || tok.app == nil && !repo.may(tok.Login, "write") {
		refuse(w, r, http.StatusForbidden, "Must have push access to view collaborator permission.")
		return
	}
	role := repo.role(r.PathValue("login"))
	if role == "" {
		role = "none"
		if !repo.Private {
			role = "read"
		}
	}
	who := h.userJSON(r.PathValue("login"), false)
	who["role_name"] = role
	send(w, r, http.StatusOK, object{"permission": role, "role_name": role, "user": who})
}

func (h *hub) fork(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if lacks(w, r, tok, "administration", "write") {
		return
	}
	var made *Repo
	for _, f := range h.repos {
		if f.Parent == repo && f.Owner == tok.Login {
			made = f
		}
	}
	if made == nil {
		name := repo.Name
		for n := 1; h.repos[strings.ToLower(tok.Login+"/"+name)] != nil; n++ {
			name = fmt.Sprintf("%s-%d", repo.Name, n)
		}
		made = &Repo{Owner: tok.Login, Name: name, Default: repo.Default, Parent: repo, ID: h.id(), roles: map[string]string{}, notYet: 2}
		made.Dir = h.initRepo(made.full(), repo.Dir)
		h.repos[strings.ToLower(made.full())] = made
	}
	o := h.repoJSON(made, tok)
	o["parent"], o["source"] = h.repoJSON(repo, nil), h.repoJSON(repo, nil)
	send(w, r, http.StatusAccepted, o)
}

func (h *hub) ref(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	branch, ok := strings.CutPrefix(r.PathValue("ref"), "heads/")
	sha := h.sha(repo, branch)
	if !ok || sha == "" {
		refuse(w, r, http.StatusNotFound, "Not Found")
		return
	}
	u := h.URL + "/api/v3/repos/" + repo.full() + "/git/"
	send(w, r, http.StatusOK, object{"ref": "refs/heads/" + branch, "node_id": "REF_" + branch, "url": u + "refs/heads/" + branch,
		"object": object{"type": "commit", "sha": sha, "url": u + "commits/" + sha}})
}

func (h *hub) contents(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok != nil && lacks(w, r, tok, "contents", "read") {
		return
	}
	ref, file := r.URL.Query().Get("ref"), r.PathValue("path")
	if ref == "" {
		ref = repo.Default
	}
	text, err := h.git(repo.Dir, "cat-file", "blob", ref+":"+file)
	if err != nil {
		refuse(w, r, http.StatusNotFound, "Not Found")
		return
	}
	text += "\n"
	u := h.URL + "/api/v3/repos/" + repo.full() + "/contents/" + file
	send(w, r, http.StatusOK, object{"type": "file", "encoding": "base64", "size": len(text), "name": path.Base(file), "path": file, "sha": "0",
		"content": base64.StdEncoding.EncodeToString([]byte(text)), "url": u, "git_url": nil, "html_url": nil, "download_url": nil,
		"_links": object{"self": u, "git": nil, "html": nil}})
}

func (h *hub) listPulls(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok != nil && lacks(w, r, tok, "pull_requests", "read") {
		return
	}
	q := r.URL.Query()
	state := q.Get("state")
	if state == "" {
		state = "open"
	}
	owner, ref, hasHead := strings.Cut(q.Get("head"), ":")
	var found []object
	for _, p := range sorted(repo.pulls) {
		h.refresh(repo, p)
		if state != "all" && p.State != state || hasHead && (!strings.EqualFold(p.HeadOwner, owner) || p.HeadRef != ref) || q.Get("base") != "" && p.Base != q.Get("base") {
			continue
		}
		found = append(found, h.pullJSON(repo, p, false))
	}
	send(w, r, http.StatusOK, append([]object{}, page(w, r, h.Server, found, "per_page", 100)...))
}

func decode(w http.ResponseWriter, r *http.Request, v any) bool {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, v)
	}
	if err != nil {
		refuse(w, r, http.StatusBadRequest, "Problems parsing JSON")
	}
	return err == nil
}

func (h *hub) createPull(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if lacks(w, r, tok, "pull_requests", "write") {
		return
	}
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	if !decode(w, r, &in) {
		return
	}
	owner, ref, other := strings.Cut(in.Head, ":")
	if !other {
		owner, ref = repo.Owner, in.Head
	}
	from := h.headRepo(repo, owner)
	switch {
	case len([]rune(in.Title)) > 256:
		invalid(w, r, "title", "custom", "title is too long (maximum is 256 characters)")
		return
	case len([]rune(in.Body)) > 65536:
		invalid(w, r, "body", "custom", "body is too long (maximum is 65536 characters)")
		return
	case from == nil || h.sha(from, ref) == "":
		invalid(w, r, "head", "invalid", "")
		return
	case h.sha(repo, in.Base) == "":
		invalid(w, r, "base", "invalid", "")
		return
	}
	for _, p := range repo.pulls {
		if p.State == "open" && strings.EqualFold(p.HeadOwner, owner) && p.HeadRef == ref && p.Base == in.Base {
			invalid(w, r, "", "custom", fmt.Sprintf("A pull request already exists for %s:%s.", owner, ref))
			return
		}
	}
	p := &Pull{Number: h.number(repo), ID: h.id(), Title: in.Title, Body: in.Body, HeadOwner: from.Owner, HeadRef: ref, Base: in.Base, User: tok.Login, State: "open", Draft: in.Draft}
	h.refresh(repo, p)
	if out, err := h.git(repo.Dir, "rev-list", "--count", h.sha(repo, in.Base)+".."+p.HeadSHA); err == nil && out == "0" {
		invalid(w, r, "", "custom", fmt.Sprintf("No commits between %s and %s", in.Base, ref))
		return
	}
	p.Created = h.tick()
	p.Updated = p.Created
	repo.pulls = append(repo.pulls, p)
	send(w, r, http.StatusCreated, h.pullJSON(repo, p, true))
}

func (h *hub) onPull(f func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull)) handler {
	return func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
		p := repo.pull(number(r.PathValue("number"), 0))
		if p == nil {
			refuse(w, r, http.StatusNotFound, "Not Found")
			return
		}
		h.refresh(repo, p)
		f(w, r, repo, tok, p)
	}
}

func (h *hub) getPull(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
	send(w, r, http.StatusOK, h.pullJSON(repo, p, true))
}

func (h *hub) patchPull(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
	if lacks(w, r, tok, "pull_requests", "write") {
		return
	}
	var in struct{ Title, Body, State, Base *string }
	if !decode(w, r, &in) {
		return
	}
	set := func(to, from *string) {
		if from != nil {
			*to = *from
		}
	}
	if p.Merged && in.State != nil && *in.State == "open" {
		invalid(w, r, "state", "invalid", "")
		return
	}
	set(&p.Title, in.Title)
	set(&p.Body, in.Body)
	set(&p.State, in.State)
	set(&p.Base, in.Base)
	p.Updated = h.tick()
	send(w, r, http.StatusOK, h.pullJSON(repo, p, true))
}

func (h *hub) requested(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
	users, teams := []object{}, []object{}
	for _, l := range p.Reviewers {
		users = append(users, h.userJSON(l, false))
	}
	for _, l := range p.Teams {
		teams = append(teams, h.teamJSON(repo, l))
	}
	send(w, r, http.StatusOK, object{"users": users, "teams": teams})
}

func (h *hub) request(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
	if lacks(w, r, tok, "pull_requests", "write") {
		return
	}
	var in struct {
		Reviewers     []string `json:"reviewers"`
		TeamReviewers []string `json:"team_reviewers"`
	}
	if !decode(w, r, &in) {
		return
	}
	for _, l := range in.Reviewers {
		if l == p.User {
			refuse(w, r, http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
			return
		}
		if association(repo, l) == "NONE" {
			refuse(w, r, http.StatusUnprocessableEntity, "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the "+repo.full()+" repository.")
			return
		}
	}
	for _, l := range in.TeamReviewers {
		if !slices.Contains(repo.teams, l) {
			refuse(w, r, http.StatusUnprocessableEntity, "Could not resolve to a node with the global id of 'T'.")
			return
		}
	}
	merge := func(to *[]string, more []string) {
		for _, m := range more {
			if !slices.Contains(*to, m) {
				*to = append(*to, m)
			}
		}
	}
	merge(&p.Reviewers, in.Reviewers)
	merge(&p.Teams, in.TeamReviewers)
	send(w, r, http.StatusCreated, h.pullJSON(repo, p, false))
}

func (h *hub) listSaid(w http.ResponseWriter, r *http.Request, said []Said, shape func(Said) object) {
	out := []object{}
	for _, c := range said {
		out = append(out, shape(c))
	}
	send(w, r, http.StatusOK, append([]object{}, page(w, r, h.Server, out, "per_page", 100)...))
}

func (h *hub) comments(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
	if tok != nil && lacks(w, r, tok, "pull_requests", "read") {
		return
	}
	h.listSaid(w, r, p.comments, func(c Said) object { return h.commentJSON(repo, p, c) })
}

func (h *hub) comment(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
	if lacks(w, r, tok, "pull_requests", "write") {
		return
	}
	var in struct{ Body string }
	if !decode(w, r, &in) {
		return
	}
	c := Said{ID: h.id(), User: tok.Login, Bot: tok.app != nil, Body: in.Body, At: h.tick()}
	p.comments = append(p.comments, c)
	send(w, r, http.StatusCreated, h.commentJSON(repo, p, c))
}

func (h *hub) lines(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
	h.listSaid(w, r, p.lines, func(c Said) object { return h.lineJSON(repo, p, c) })
}

func (h *hub) reviews(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
	h.listSaid(w, r, p.reviews, func(c Said) object { return h.reviewJSON(repo, p, c) })
}

func (h *hub) labels(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
	out := []object{}
	for _, l := range p.Labels {
		out = append(out, h.labelJSON(repo, l))
	}
	send(w, r, http.StatusOK, append([]object{}, page(w, r, h.Server, out, "per_page", 100)...))
}

func (h *hub) addLabels(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
	// Labels need the right to triage; whoever comes from outside has it not.
	if lacks(w, r, tok, "issues", "write") {
		return
	}
	if tok.app == nil && !repo.may(tok.Login, "write") {
		refuse(w, r, http.StatusForbidden, "Must have triage rights to Repository.")
		return
	}
	var in []string
	if !decode(w, r, &in) {
		return
	}
	out := []object{}
	for _, l := range in {
		if !slices.Contains(p.Labels, l) {
			p.Labels = append(p.Labels, l)
		}
	}
	for _, l := range p.Labels {
		out = append(out, h.labelJSON(repo, l))
	}
	send(w, r, http.StatusOK, out)
}

func (h *hub) checks(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok != nil && lacks(w, r, tok, "checks", "read") {
		return
	}
	var found []object
	for _, c := range repo.checks {
		if c.SHA == r.PathValue("ref") {
			found = append(found, h.checkJSON(repo, c))
		}
	}
	total := len(found)
	send(w, r, http.StatusOK, object{"total_count": total, "check_runs": append([]object{}, page(w, r, h.Server, found, "per_page", 100)...)})
}

func (h *hub) annotations(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	for _, c := range repo.checks {
		if fmt.Sprint(c.ID) != r.PathValue("id") {
			continue
		}
		out := []object{}
		for _, n := range c.Notes {
			out = append(out, object{"path": n.Path, "start_line": n.Line, "end_line": n.Line, "start_column": nil, "end_column": nil, "annotation_level": "failure",
				"title": nil, "message": n.Message, "raw_details": nil, "blob_href": h.URL})
		}
		send(w, r, http.StatusOK, append([]object{}, page(w, r, h.Server, out, "per_page", 100)...))
		return
	}
	refuse(w, r, http.StatusNotFound, "Not Found")
}

func (h *hub) logs(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	for _, c := range repo.checks {
		if fmt.Sprint(c.ID) == r.PathValue("id") && c.Log != "" {
			w.Header().Set("Location", h.URL+"/api/v3/download/"+r.PathValue("id"))
			w.WriteHeader(http.StatusFound)
			return
		}
	}
	refuse(w, r, http.StatusNotFound, "Not Found")
}

// download is where logs are: elsewhere, signed, and without a login.
func (h *hub) download(w http.ResponseWriter, r *http.Request) {
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

func (h *hub) status(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok != nil && lacks(w, r, tok, "statuses", "read") {
		return
	}
	sha, state := r.PathValue("ref"), "success"
	u := h.URL + "/api/v3/repos/" + repo.full()
	var found []object
	for _, c := range repo.status {
		if c.SHA != sha {
			continue
		}
		if c.State != "success" {
			state = c.State
		}
		found = append(found, object{"id": c.ID, "node_id": fmt.Sprint("SC_", c.ID), "state": c.State, "context": c.Context, "description": c.Describes, "target_url": c.URL,
			"avatar_url": nil, "url": u, "created_at": stamp(c.At), "updated_at": stamp(c.At)})
	}
	if len(found) == 0 {
		state = "pending"
	}
	if state == "error" {
		state = "failure"
	}
	total := len(found)
	send(w, r, http.StatusOK, object{"state": state, "sha": sha, "total_count": total, "statuses": append([]object{}, page(w, r, h.Server, found, "per_page", 100)...),
		"repository": h.repoJSON(repo, nil), "commit_url": u + "/commits/" + sha, "url": u + "/status"})
}

// graphql knows what REST has not: a draft made ready, and which conversations
// are resolved.
func (h *hub) graphql(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	tok := h.token(r)
	if tok == nil {
		refuse(w, r, http.StatusUnauthorized, "Bad credentials")
		return
	}
	var in struct {
		Query     string
		Variables map[string]any
	}
	if !decode(w, r, &in) {
		return
	}
	id, _ := in.Variables["id"].(string)
	fail := func(kind, message string) {
		send(w, r, http.StatusOK, object{"data": nil, "errors": []object{{"type": kind, "message": message}}})
	}
	threads := strings.Contains(in.Query, "node(id: $id) { ... on PullRequest { reviewThreads(first: 100, after: $after)")
	if !threads && !strings.Contains(in.Query, "markPullRequestReadyForReview(input: {pullRequestId: $id})") {
		fail("undefinedField", "Field doesn't exist on type 'Mutation'")
		return
	}
	for _, repo := range h.repos {
		for _, p := range repo.pulls {
			if fmt.Sprint("PR_", p.ID) != id {
				continue
			}
			if !tok.can("pull_requests") {
				fail("FORBIDDEN", "Resource not accessible by personal access token")
				return
			}
			if threads {
				after, _ := in.Variables["after"].(string)
				send(w, r, http.StatusOK, object{"data": object{"node": object{"reviewThreads": h.threads(p, number(after, 0))}}})
				return
			}
			p.Draft = false
			p.Updated = h.tick()
			send(w, r, http.StatusOK, object{"data": object{"markPullRequestReadyForReview": object{"pullRequest": object{"isDraft": false}}}})
			return
		}
	}
	fail("NOT_FOUND", "Could not resolve to a node with the global id of '"+id+"'")
}

// threads are a hundred conversations at lines of a pull request.
func (h *hub) threads(p *Pull, after int) object {
	var all []object
	for _, c := range p.lines {
		if c.ReplyTo == 0 {
			all = append(all, object{"isResolved": c.Resolved != "", "comments": object{"nodes": []object{{"fullDatabaseId": fmt.Sprint(c.ID)}}}})
		}
	}
	end := min(after+100, len(all))
	return object{"pageInfo": object{"hasNextPage": end < len(all), "endCursor": fmt.Sprint(end)}, "nodes": append([]object{}, all[min(after, len(all)):end]...)}
}
