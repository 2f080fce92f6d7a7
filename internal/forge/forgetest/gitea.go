package forgetest

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// NewGitea starts a fake Gitea below path (empty: at its host's root): its API
// is at /api/v1. It differs from GitHub where Gitea differs from GitHub: 409
// for a second pull request and 404 for a head that is not there, drafts by
// title, labels by number, comments without pages, line comments below reviews,
// no check runs, scopes of tokens, "not mergeable" while it works it out,
// members of every team among those who can be assigned, and people's
// permissions for administrators alone. A real one is held to the same tests by
// `make strangers/gitea`.
func NewGitea(t testing.TB, path string) *Server {
	t.Helper()
	s := newServer(t)
	s.path = path
	g := &giteaAPI{githubAPI{s}}
	mux := http.NewServeMux()
	g.addRoutes(mux)
	s.start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Header.Get("Authorization") != "" && g.requestToken(r) == nil {
			g.sendError(w, r, http.StatusUnauthorized, "user does not exist [uid: 0, name: ]")
			return
		}
		if need := scopeOf(r); g.requestToken(r) != nil && !g.requestToken(r).hasScope(need) {
			g.sendError(w, r, http.StatusForbidden, fmt.Sprintf("token does not have at least one of required scope(s), required=[%s], token scope=%s", need, strings.Join(g.requestToken(r).Scopes, ",")))
			return
		}
		mux.ServeHTTP(w, r)
	}))
	return s
}

// scopeOf is what a token needs for a request, as Gitea's routes have it.
func scopeOf(r *http.Request) string {
	category, level := "repository", "write:"
	switch rest := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/api/v1/"), "/", 5); {
	case rest[0] == "user":
		category = "user"
	case rest[0] == "orgs" || rest[0] == "teams":
		category = "organization"
	case len(rest) > 3 && (rest[3] == "issues" || rest[3] == "labels"):
		category = "issue"
	}
	if r.Method == http.MethodGet {
		level = "read:"
	}
	return level + category
}

func (t *Token) hasScope(scope string) bool {
	return len(t.Scopes) == 0 || slices.Contains(t.Scopes, scope) || slices.Contains(t.Scopes, strings.Replace(scope, "read:", "write:", 1))
}

// giteaAPI shares GitHub's logins and git, and has its own replies.
type giteaAPI struct{ githubAPI }

func (g *giteaAPI) sendError(w http.ResponseWriter, r *http.Request, code int, message string) {
	sendJSON(w, r, code, jsonObject{"message": message, "url": g.URL + "/api/swagger"})
}

func (g *giteaAPI) addRoutes(mux *http.ServeMux) {
	const repo = "/api/v1/repos/{owner}/{repo}"
	mux.HandleFunc("GET /api/v1/user", func(w http.ResponseWriter, r *http.Request) {
		if tok := g.requestToken(r); tok != nil {
			sendJSON(w, r, http.StatusOK, g.giteaUser(tok.Login))
			return
		}
		g.sendError(w, r, http.StatusUnauthorized, "token is required")
	})
	in := func(f repoHandler) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			tok := g.requestToken(r)
			repo := g.repos[strings.ToLower(r.PathValue("owner")+"/"+r.PathValue("repo"))]
			if repo == nil || repo.Private && (tok == nil || !repo.hasRole(tok.Login, "read")) {
				g.sendError(w, r, http.StatusNotFound, "The target couldn't be found.")
				return
			}
			if tok != nil && !tok.hasPermission("pull_requests") && r.Method != http.MethodGet {
				g.sendError(w, r, http.StatusForbidden, "token does not have at least one of required scope(s), required=[write:repository], token scope=read:repository")
				return
			}
			f(w, r, repo, tok)
		}
	}
	on := func(f func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull)) http.HandlerFunc {
		return in(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
			p := repo.findPull(parseNumber(r.PathValue("number"), 0))
			if p == nil && strings.HasSuffix(r.URL.Path, "/comments") {
				g.sendError(w, r, http.StatusInternalServerError, "") // as a real one does
				return
			}
			if p == nil {
				g.sendError(w, r, http.StatusNotFound, "pull request does not exist")
				return
			}
			g.refreshHead(repo, p)
			f(w, r, repo, tok, p)
		})
	}
	mux.HandleFunc("GET "+repo, in(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
		sendJSON(w, r, http.StatusOK, g.giteaRepo(repo, tok))
	}))
	mux.HandleFunc("GET "+repo+"/forks", in(g.listForks))
	mux.HandleFunc("POST "+repo+"/forks", in(g.createGiteaFork))
	mux.HandleFunc("GET "+repo+"/assignees", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		out := []jsonObject{g.giteaUser(repo.Owner)}
		for login := range repo.roles {
			if repo.hasRole(login, "write") {
				out = append(out, g.giteaUser(login))
			}
		}
		for login := range repo.memberRoles { // readers too: they may be assigned
			out = append(out, g.giteaUser(login))
		}
		sendJSON(w, r, http.StatusOK, out)
	}))
	mux.HandleFunc("GET "+repo+"/teams", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		out := []jsonObject{{"id": 1, "name": "Owners", "permission": "owner"}}
		for _, t := range repo.teams { // a team's rights are by unit
			out = append(out, jsonObject{"id": hashID(t), "name": t, "permission": "none", "units_map": jsonObject{"repo.code": repo.teamRoles[t], "repo.pulls": repo.teamRoles[t]}})
		}
		sendJSON(w, r, http.StatusOK, out)
	}))
	mux.HandleFunc("GET /api/v1/teams/{id}/members/{login}", func(w http.ResponseWriter, r *http.Request) {
		tok := g.requestToken(r)
		for _, repo := range g.repos {
			for _, t := range append([]string{"Owners"}, repo.teams...) {
				id, in := hashID(t), repo.memberRoles[r.PathValue("login")] != "" && repo.teamRoles[t] == repo.memberRoles[r.PathValue("login")]
				if t == "Owners" {
					id, in = 1, repo.roles[r.PathValue("login")] == "owner"
				}
				if fmt.Sprint(id) != r.PathValue("id") {
					continue
				}
				switch {
				case tok == nil || repo.roles[tok.Login] != "owner":
					g.sendError(w, r, http.StatusForbidden, "Must be a team member")
				case !in:
					g.sendError(w, r, http.StatusNotFound, "The target couldn't be found.")
				default:
					sendJSON(w, r, http.StatusOK, g.giteaUser(r.PathValue("login")))
				}
				return
			}
		}
		g.sendError(w, r, http.StatusNotFound, "The target couldn't be found.")
	})
	mux.HandleFunc("GET /api/v1/orgs/{org}", func(w http.ResponseWriter, r *http.Request) {
		sendJSON(w, r, http.StatusOK, jsonObject{"id": hashID(r.PathValue("org")), "username": r.PathValue("org"), "name": r.PathValue("org")})
	})
	mux.HandleFunc("GET "+repo+"/collaborators/{login}/permission", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
		login := r.PathValue("login")
		if tok == nil || repo.roleOf(tok.Login) != "admin" && !strings.EqualFold(tok.Login, login) {
			g.sendError(w, r, http.StatusForbidden, "Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own")
			return
		}
		role := repo.roles[login] // of a team's member it knows no more than of everybody
		switch {
		case login == repo.Owner:
			role = "owner"
		case role == "" && repo.Private:
			role = "none"
		case role == "":
			role = "read"
		}
		sendJSON(w, r, http.StatusOK, jsonObject{"permission": role, "role_name": role, "user": g.giteaUser(login)})
	}))
	mux.HandleFunc("GET "+repo+"/commits/{ref}/statuses", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		sendJSON(w, r, http.StatusOK, pageOf(w, r, g.Server, g.giteaStatuses(repo, r.PathValue("ref")), "limit", 50))
	}))
	mux.HandleFunc("GET "+repo+"/raw/{path...}", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		text, err := g.runGit(repo.Dir, "cat-file", "blob", r.URL.Query().Get("ref")+":"+r.PathValue("path"))
		if err != nil {
			g.sendError(w, r, http.StatusNotFound, "The target couldn't be found.")
			return
		}
		_, _ = io.WriteString(w, text+"\n")
	}))
	mux.HandleFunc("GET "+repo+"/labels", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		out := shapeAll(repo.labels, g.giteaLabel)
		sendJSON(w, r, http.StatusOK, pageOf(w, r, g.Server, out, "limit", 50))
	}))
	mux.HandleFunc("POST "+repo+"/labels", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
		var in struct{ Name, Color string }
		if !decodeJSON(w, r, &in) || g.refuseReader(w, r, repo, tok) {
			return
		}
		repo.labels = append(repo.labels, in.Name)
		sendJSON(w, r, http.StatusCreated, g.giteaLabel(in.Name))
	}))
	mux.HandleFunc("GET "+repo+"/commits/{ref}/status", in(g.serveStatuses))
	mux.HandleFunc("GET "+repo+"/pulls", in(g.listGiteaPulls))
	mux.HandleFunc("POST "+repo+"/pulls", in(g.createGiteaPull))
	mux.HandleFunc("GET "+repo+"/pulls/{number}", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
		sendJSON(w, r, http.StatusOK, g.giteaPull(repo, p))
	}))
	mux.HandleFunc("PATCH "+repo+"/pulls/{number}", on(g.editGiteaPull))
	mux.HandleFunc("POST "+repo+"/pulls/{number}/merge", on(g.mergeGiteaPull))
	mux.HandleFunc("POST "+repo+"/pulls/{number}/requested_reviewers", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
		var in struct {
			Reviewers     []string `json:"reviewers"`
			TeamReviewers []string `json:"team_reviewers"`
		}
		if !decodeJSON(w, r, &in) {
			return
		}
		for _, l := range in.Reviewers {
			if associationOf(repo, l) == "NONE" {
				g.sendError(w, r, http.StatusUnprocessableEntity, "reviewer has no read access")
				return
			}
		}
		for _, l := range in.TeamReviewers {
			if !slices.Contains(repo.teams, l) {
				g.sendError(w, r, http.StatusNotFound, "TeamNotExist")
				return
			}
		}
		p.Reviewers, p.Teams = append(p.Reviewers, in.Reviewers...), append(p.Teams, in.TeamReviewers...)
		sendJSON(w, r, http.StatusCreated, []jsonObject{})
	}))
	mux.HandleFunc("GET "+repo+"/pulls/{number}/reviews", on(g.listGiteaReviews))
	mux.HandleFunc("GET "+repo+"/pulls/{number}/reviews/{id}/comments", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
		out := []jsonObject{}
		for _, c := range p.lines {
			if fmt.Sprint(reviewIDOf(c)) != r.PathValue("id") {
				continue
			}
			o := jsonObject{"id": c.ID, "body": c.Body, "user": g.giteaUser(c.User), "resolver": nil, "path": c.Path, "position": c.Line, "commit_id": c.Commit,
				"created_at": formatTime(c.At), "updated_at": formatTime(c.At), "html_url": g.URL, "pull_request_review_id": reviewIDOf(c)}
			if c.Resolved != "" {
				o["resolver"] = g.giteaUser(c.Resolved)
			}
			out = append(out, o)
		}
		sendJSON(w, r, http.StatusOK, out)
	}))
	mux.HandleFunc("GET "+repo+"/issues/{number}", in(g.getIssue))
	mux.HandleFunc("GET "+repo+"/issues/{number}/comments", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		number := parseNumber(r.PathValue("number"), 0)
		comments := repo.discussionOf(number)
		if comments == nil {
			g.sendError(w, r, http.StatusInternalServerError, "") // as a real one does
			return
		}
		out := shapeAll(*comments, func(c Comment) jsonObject { return g.giteaComment(repo, &Pull{Number: number}, c) }) // all of them: this list has no pages
		sendJSON(w, r, http.StatusOK, out)
	}))
	mux.HandleFunc("POST "+repo+"/issues/{number}/comments", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
		var in struct{ Body string }
		if !decodeJSON(w, r, &in) {
			return
		}
		c := Comment{ID: g.nextID(), User: tok.Login, Body: in.Body, At: g.nextTime()}
		p.comments = append(p.comments, c)
		sendJSON(w, r, http.StatusCreated, g.giteaComment(repo, p, c))
	}))
	mux.HandleFunc("POST "+repo+"/issues/{number}/labels", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
		var in struct{ Labels []int }
		if g.refuseReader(w, r, repo, tok) || !decodeJSON(w, r, &in) {
			return
		}
		p.Labels = appendNew(p.Labels, slices.DeleteFunc(slices.Clone(repo.labels), func(l string) bool { return !slices.Contains(in.Labels, hashID(l)) }))
		sendJSON(w, r, http.StatusOK, []jsonObject{})
	}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { g.sendError(w, r, http.StatusNotFound, "Not Found") })
}

func (g *giteaAPI) refuseReader(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) bool {
	if tok != nil && repo.hasRole(tok.Login, "write") {
		return false
	}
	g.sendError(w, r, http.StatusForbidden, "user should have permission to write")
	return true
}

func (g *giteaAPI) giteaUser(login string) jsonObject {
	return jsonObject{"id": hashID(login), "login": login, "full_name": "", "email": "", "avatar_url": "", "username": login}
}

func (g *giteaAPI) giteaLabel(name string) jsonObject {
	return jsonObject{"id": hashID(name), "name": name, "color": "ededed", "description": "", "url": g.URL}
}

func (g *giteaAPI) giteaRepo(r *Repo, tok *Token) jsonObject {
	o := jsonObject{"id": r.ID, "owner": g.giteaUser(r.Owner), "name": r.Name, "full_name": r.fullName(), "private": r.Private, "fork": r.Parent != nil,
		"html_url": g.URL + "/" + r.fullName(), "clone_url": g.CloneURL(r), "default_branch": r.Default, "archived": false,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
	if tok != nil {
		o["permissions"] = jsonObject{"admin": r.roleOf(tok.Login) == "admin", "push": r.hasRole(tok.Login, "write"), "pull": r.hasRole(tok.Login, "read")}
	}
	return o
}

func (g *giteaAPI) listForks(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	out := []jsonObject{}
	for _, f := range g.repos {
		if f.Parent == repo {
			out = append(out, g.giteaRepo(f, tok))
		}
	}
	sendJSON(w, r, http.StatusOK, pageOf(w, r, g.Server, out, "limit", 50))
}

func (g *giteaAPI) createGiteaFork(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok == nil || g.repos[strings.ToLower(tok.Login+"/"+repo.Name)] != nil {
		g.sendError(w, r, http.StatusConflict, "The repository with the same name already exists.")
		return
	}
	f := &Repo{Owner: tok.Login, Name: repo.Name, Default: repo.Default, Parent: repo, ID: g.nextID(), roles: map[string]string{}}
	f.Dir = g.initRepo(f.fullName(), repo.Dir)
	g.repos[strings.ToLower(f.fullName())] = f
	sendJSON(w, r, http.StatusAccepted, g.giteaRepo(f, tok))
}

func (g *giteaAPI) giteaPull(r *Repo, p *Pull) jsonObject {
	side := func(ref, sha string, of *Repo) jsonObject {
		o := jsonObject{"label": ref, "ref": ref, "sha": sha, "repo_id": 0, "repo": nil}
		if of != nil {
			o["repo_id"], o["repo"] = of.ID, g.giteaRepo(of, nil)
		}
		return o
	}
	labels := shapeAll(p.Labels, g.giteaLabel)
	reviewers := shapeAll(p.Reviewers, g.giteaUser)
	draft := strings.HasPrefix(p.Title, "WIP: ")
	o := jsonObject{"id": p.ID, "number": p.Number, "title": p.Title, "body": p.Body, "state": p.State, "draft": draft, "user": g.giteaUser(p.User), "labels": labels,
		"url": g.URL, "html_url": fmt.Sprintf("%s/%s/pulls/%d", g.URL, r.fullName(), p.Number), "requested_reviewers": reviewers,
		"merged": p.Merged, "merge_commit_sha": nil, "mergeable": false, "head": side(p.HeadRef, p.HeadSHA, g.headRepo(r, p.HeadOwner)),
		"base": side(p.Base, g.branchSHA(r, p.Base), r), "created_at": formatTime(p.Created), "updated_at": formatTime(p.Updated)}
	if p.Merged {
		o["merge_commit_sha"], o["merged_at"] = p.MergeSHA, formatTime(p.Updated)
	}
	// Gitea says "not mergeable" too while it works it out, which is as long as
	// its queue is.
	if now := p.HeadSHA + g.branchSHA(r, p.Base); p.lookedAt != now {
		p.lookedAt, p.pendingLooks = now, g.mergeCheckLooks
	} else if p.pendingLooks > 0 {
		p.pendingLooks--
	} else if p.State == "open" && !draft {
		o["mergeable"] = g.mergesCleanly(r, p)
	}
	return o
}

func (g *giteaAPI) listGiteaPulls(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	out := []jsonObject{}
	for _, p := range newestFirst(repo.pulls) {
		g.refreshHead(repo, p)
		if s := r.URL.Query().Get("state"); s == "all" || s == p.State || s == "" && p.State == "open" {
			out = append(out, g.giteaPull(repo, p))
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
	// Looking for another and opening are two steps of the server: requests at
	// the same time all go through.
	var p *Pull
	for range 1 + g.duplicates {
		p = g.newPull(repo, Pull{Title: in.Title, Body: in.Body, HeadOwner: from.Owner, HeadRef: ref, Base: in.Base, User: tok.Login})
		repo.pulls = append(repo.pulls, p)
	}
	sendJSON(w, r, http.StatusCreated, g.giteaPull(repo, p))
}

func (g *giteaAPI) editGiteaPull(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
	var in struct {
		Title       string
		Body, State *string
	}
	if tok == nil || !decodeJSON(w, r, &in) {
		return
	}
	if in.Title != "" {
		p.Title = in.Title
	}
	if in.Body != nil {
		p.Body = *in.Body
	}
	if in.State != nil {
		p.State = *in.State
	}
	p.Updated = g.nextTime()
	sendJSON(w, r, http.StatusCreated, g.giteaPull(repo, p))
}

func (g *giteaAPI) giteaComment(r *Repo, p *Pull, c Comment) jsonObject {
	html := fmt.Sprintf("%s/%s/pulls/%d", g.URL, r.fullName(), p.Number)
	return jsonObject{"id": c.ID, "body": c.Body, "user": g.giteaUser(c.User), "html_url": fmt.Sprintf("%s#issuecomment-%d", html, c.ID), "pull_request_url": html,
		"issue_url": "", "created_at": formatTime(c.At), "updated_at": formatTime(c.At)}
}

// reviewIDOf is the review that a comment at a line is in: a reply is in the one
// of what it answers.
func reviewIDOf(c Comment) int64 {
	if c.ReplyTo != 0 {
		return c.ReplyTo + 1_000_000
	}
	return c.ID + 1_000_000
}

func (g *giteaAPI) listGiteaReviews(w http.ResponseWriter, r *http.Request, _ *Repo, _ *Token, p *Pull) {
	out := []jsonObject{}
	add := func(id int64, c Comment, state, body string, comments int) {
		out = append(out, jsonObject{"id": id, "user": g.giteaUser(c.User), "state": state, "body": body, "commit_id": c.Commit, "stale": false, "official": false,
			"dismissed": false, "comments_count": comments, "submitted_at": formatTime(c.At), "html_url": g.URL, "pull_request_url": g.URL})
	}
	for _, c := range p.lines {
		if c.ReplyTo == 0 {
			add(reviewIDOf(c), c, "COMMENT", "", 1)
		}
	}
	for _, c := range p.reviews {
		state := map[string]string{"APPROVED": "APPROVED", "CHANGES_REQUESTED": "REQUEST_CHANGES"}[c.State]
		state = cmp.Or(state, "COMMENT")
		add(c.ID, c, state, c.Body, 0)
	}
	sendJSON(w, r, http.StatusOK, pageOf(w, r, g.Server, out, "limit", 50))
}

func (g *giteaAPI) giteaStatuses(repo *Repo, sha string) []jsonObject {
	out := []jsonObject{}
	for _, c := range repo.status {
		if c.SHA == sha {
			out = append(out, jsonObject{"id": c.ID, "status": c.State, "context": c.Context, "description": c.Description, "target_url": c.URL, "url": g.URL,
				"created_at": formatTime(c.At), "updated_at": formatTime(c.At)})
		}
	}
	return out
}

func (g *giteaAPI) serveStatuses(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	out := g.giteaStatuses(repo, r.PathValue("ref"))
	sendJSON(w, r, http.StatusOK, jsonObject{"sha": r.PathValue("ref"), "state": "", "total_count": len(out), "statuses": pageOf(w, r, g.Server, out, "limit", 50)})
}
