package forgetest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Gitea starts a fake Gitea below path (empty: at its host's root): its API is
// at /api/v1. It differs from GitHub where Gitea does: 409 for a second pull
// request and 404 for a head that is not there, drafts by title, labels by
// number, comments without pages, line comments below reviews, no check runs,
// scopes of tokens, "not mergeable" while it works it out, members of every
// team among those who can be assigned, and people's permissions for
// administrators alone. A real one is held to the same tests by
// `make strangers/gitea`.
func Gitea(t testing.TB, path string) *Server {
	t.Helper()
	s := newServer(t)
	s.path = path
	g := &tea{hub{s}}
	mux := http.NewServeMux()
	g.routes(mux)
	s.start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Header.Get("Authorization") != "" && g.token(r) == nil {
			g.refuse(w, r, http.StatusUnauthorized, "user does not exist [uid: 0, name: ]")
			return
		}
		if need := scopeOf(r); g.token(r) != nil && !g.token(r).within(need) {
			g.refuse(w, r, http.StatusForbidden, fmt.Sprintf("token does not have at least one of required scope(s), required=[%s], token scope=%s", need, strings.Join(g.token(r).Scopes, ",")))
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

func (t *Token) within(scope string) bool {
	return len(t.Scopes) == 0 || slices.Contains(t.Scopes, scope) || slices.Contains(t.Scopes, strings.Replace(scope, "read:", "write:", 1))
}

// tea shares GitHub's logins and git, and has its own replies.
type tea struct{ hub }

func (g *tea) refuse(w http.ResponseWriter, r *http.Request, code int, message string) {
	send(w, r, code, object{"message": message, "url": g.URL + "/api/swagger"})
}

func (g *tea) routes(mux *http.ServeMux) {
	const repo = "/api/v1/repos/{owner}/{repo}"
	mux.HandleFunc("GET /api/v1/user", func(w http.ResponseWriter, r *http.Request) {
		if tok := g.token(r); tok != nil {
			send(w, r, http.StatusOK, g.person(tok.Login))
			return
		}
		g.refuse(w, r, http.StatusUnauthorized, "token is required")
	})
	in := func(f handler) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			tok := g.token(r)
			repo := g.repos[strings.ToLower(r.PathValue("owner")+"/"+r.PathValue("repo"))]
			if repo == nil || repo.Private && (tok == nil || !repo.may(tok.Login, "read")) {
				g.refuse(w, r, http.StatusNotFound, "The target couldn't be found.")
				return
			}
			if tok != nil && !tok.can("pull_requests") && r.Method != http.MethodGet {
				g.refuse(w, r, http.StatusForbidden, "token does not have at least one of required scope(s), required=[write:repository], token scope=read:repository")
				return
			}
			f(w, r, repo, tok)
		}
	}
	on := func(f func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull)) http.HandlerFunc {
		return in(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
			p := repo.pull(number(r.PathValue("number"), 0))
			if p == nil && strings.HasSuffix(r.URL.Path, "/comments") {
				g.refuse(w, r, http.StatusInternalServerError, "") // as a real one does
				return
			}
			if p == nil {
				g.refuse(w, r, http.StatusNotFound, "pull request does not exist")
				return
			}
			g.refresh(repo, p)
			f(w, r, repo, tok, p)
		})
	}
	mux.HandleFunc("GET "+repo, in(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
		send(w, r, http.StatusOK, g.repo(repo, tok))
	}))
	mux.HandleFunc("GET "+repo+"/forks", in(g.forks))
	mux.HandleFunc("POST "+repo+"/forks", in(g.makeFork))
	mux.HandleFunc("GET "+repo+"/assignees", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		out := []object{g.person(repo.Owner)}
		for login := range repo.roles {
			if repo.may(login, "write") {
				out = append(out, g.person(login))
			}
		}
		for login := range repo.member { // readers too: they may be assigned
			out = append(out, g.person(login))
		}
		send(w, r, http.StatusOK, out)
	}))
	mux.HandleFunc("GET "+repo+"/teams", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		out := []object{{"id": 1, "name": "Owners", "permission": "owner"}}
		for _, t := range repo.teams { // a team's rights are by unit
			out = append(out, object{"id": idOf(t), "name": t, "permission": "none", "units_map": object{"repo.code": repo.gives[t], "repo.pulls": repo.gives[t]}})
		}
		send(w, r, http.StatusOK, out)
	}))
	mux.HandleFunc("GET /api/v1/teams/{id}/members/{login}", func(w http.ResponseWriter, r *http.Request) {
		tok := g.token(r)
		for _, repo := range g.repos {
			for _, t := range append([]string{"Owners"}, repo.teams...) {
				id, in := idOf(t), repo.member[r.PathValue("login")] != "" && repo.gives[t] == repo.member[r.PathValue("login")]
				if t == "Owners" {
					id, in = 1, repo.roles[r.PathValue("login")] == "owner"
				}
				if fmt.Sprint(id) != r.PathValue("id") {
					continue
				}
				switch {
				case tok == nil || repo.roles[tok.Login] != "owner":
					g.refuse(w, r, http.StatusForbidden, "Must be a team member")
				case !in:
					g.refuse(w, r, http.StatusNotFound, "The target couldn't be found.")
				default:
					send(w, r, http.StatusOK, g.person(r.PathValue("login")))
				}
				return
			}
		}
		g.refuse(w, r, http.StatusNotFound, "The target couldn't be found.")
	})
	mux.HandleFunc("GET /api/v1/orgs/{org}", func(w http.ResponseWriter, r *http.Request) {
		send(w, r, http.StatusOK, object{"id": idOf(r.PathValue("org")), "username": r.PathValue("org"), "name": r.PathValue("org")})
	})
	mux.HandleFunc("GET "+repo+"/collaborators/{login}/permission", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
		login := r.PathValue("login")
		if tok == nil || repo.role(tok.Login) != "admin" && !strings.EqualFold(tok.Login, login) {
			g.refuse(w, r, http.StatusForbidden, "Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own")
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
		send(w, r, http.StatusOK, object{"permission": role, "role_name": role, "user": g.person(login)})
	}))
	mux.HandleFunc("GET "+repo+"/commits/{ref}/statuses", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		send(w, r, http.StatusOK, append([]object{}, page(w, r, g.Server, g.statusesOf(repo, r.PathValue("ref")), "limit", 50)...))
	}))
	mux.HandleFunc("GET "+repo+"/raw/{path...}", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		text, err := g.git(repo.Dir, "cat-file", "blob", r.URL.Query().Get("ref")+":"+r.PathValue("path"))
		if err != nil {
			g.refuse(w, r, http.StatusNotFound, "The target couldn't be found.")
			return
		}
		_, _ = io.WriteString(w, text+"\n")
	}))
	mux.HandleFunc("GET "+repo+"/labels", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
		out := []object{}
		for _, l := range repo.labels {
			out = append(out, g.label(l))
		}
		send(w, r, http.StatusOK, append([]object{}, page(w, r, g.Server, out, "limit", 50)...))
	}))
	mux.HandleFunc("POST "+repo+"/labels", in(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
		var in struct{ Name, Color string }
		if !decode(w, r, &in) || g.mayNot(w, r, repo, tok) {
			return
		}
		repo.labels = append(repo.labels, in.Name)
		send(w, r, http.StatusCreated, g.label(in.Name))
	}))
	mux.HandleFunc("GET "+repo+"/commits/{ref}/status", in(g.statuses))
	mux.HandleFunc("GET "+repo+"/pulls", in(g.list))
	mux.HandleFunc("POST "+repo+"/pulls", in(g.create))
	mux.HandleFunc("GET "+repo+"/pulls/{number}", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
		send(w, r, http.StatusOK, g.pull(repo, p))
	}))
	mux.HandleFunc("PATCH "+repo+"/pulls/{number}", on(g.edit))
	mux.HandleFunc("POST "+repo+"/pulls/{number}/requested_reviewers", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
		var in struct {
			Reviewers     []string `json:"reviewers"`
			TeamReviewers []string `json:"team_reviewers"`
		}
		if !decode(w, r, &in) {
			return
		}
		for _, l := range in.Reviewers {
			if association(repo, l) == "NONE" {
				g.refuse(w, r, http.StatusUnprocessableEntity, "reviewer has no read access")
				return
			}
		}
		for _, l := range in.TeamReviewers {
			if !slices.Contains(repo.teams, l) {
				g.refuse(w, r, http.StatusNotFound, "TeamNotExist")
				return
			}
		}
		p.Reviewers, p.Teams = append(p.Reviewers, in.Reviewers...), append(p.Teams, in.TeamReviewers...)
		send(w, r, http.StatusCreated, []object{})
	}))
	mux.HandleFunc("GET "+repo+"/pulls/{number}/reviews", on(g.reviewList))
	mux.HandleFunc("GET "+repo+"/pulls/{number}/reviews/{id}/comments", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
		out := []object{}
		for _, c := range p.lines {
			if fmt.Sprint(reviewOf(c)) != r.PathValue("id") {
				continue
			}
			o := object{"id": c.ID, "body": c.Body, "user": g.person(c.User), "resolver": nil, "path": c.Path, "position": c.Line, "commit_id": c.Commit,
				"created_at": stamp(c.At), "updated_at": stamp(c.At), "html_url": g.URL, "pull_request_review_id": reviewOf(c)}
			if c.Resolved != "" {
				o["resolver"] = g.person(c.Resolved)
			}
			out = append(out, o)
		}
		send(w, r, http.StatusOK, out)
	}))
	mux.HandleFunc("GET "+repo+"/issues/{number}/comments", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
		out := []object{} // all of them: this list has no pages
		for _, c := range p.comments {
			out = append(out, g.said(repo, p, c))
		}
		send(w, r, http.StatusOK, out)
	}))
	mux.HandleFunc("POST "+repo+"/issues/{number}/comments", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
		var in struct{ Body string }
		if !decode(w, r, &in) {
			return
		}
		c := Said{ID: g.id(), User: tok.Login, Body: in.Body, At: g.tick()}
		p.comments = append(p.comments, c)
		send(w, r, http.StatusCreated, g.said(repo, p, c))
	}))
	mux.HandleFunc("POST "+repo+"/issues/{number}/labels", on(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
		var in struct{ Labels []int }
		if g.mayNot(w, r, repo, tok) || !decode(w, r, &in) {
			return
		}
		for _, id := range in.Labels {
			for _, l := range repo.labels {
				if idOf(l) == id && !slices.Contains(p.Labels, l) {
					p.Labels = append(p.Labels, l)
				}
			}
		}
		send(w, r, http.StatusOK, []object{})
	}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { g.refuse(w, r, http.StatusNotFound, "Not Found") })
}

func (g *tea) mayNot(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) bool {
	if tok != nil && repo.may(tok.Login, "write") {
		return false
	}
	g.refuse(w, r, http.StatusForbidden, "user should have permission to write")
	return true
}

func (g *tea) person(login string) object {
	return object{"id": idOf(login), "login": login, "full_name": "", "email": "", "avatar_url": "", "username": login}
}

func (g *tea) label(name string) object {
	return object{"id": idOf(name), "name": name, "color": "ededed", "description": "", "url": g.URL}
}

func (g *tea) repo(r *Repo, tok *Token) object {
	o := object{"id": r.ID, "owner": g.person(r.Owner), "name": r.Name, "full_name": r.full(), "private": r.Private, "fork": r.Parent != nil,
		"html_url": g.URL + "/" + r.full(), "clone_url": g.CloneURL(r), "default_branch": r.Default, "archived": false,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
	if tok != nil {
		o["permissions"] = object{"admin": r.role(tok.Login) == "admin", "push": r.may(tok.Login, "write"), "pull": r.may(tok.Login, "read")}
	}
	return o
}

func (g *tea) forks(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	out := []object{}
	for _, f := range g.repos {
		if f.Parent == repo {
			out = append(out, g.repo(f, tok))
		}
	}
	send(w, r, http.StatusOK, append([]object{}, page(w, r, g.Server, out, "limit", 50)...))
}

func (g *tea) makeFork(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok == nil || g.repos[strings.ToLower(tok.Login+"/"+repo.Name)] != nil {
		g.refuse(w, r, http.StatusConflict, "The repository with the same name already exists.")
		return
	}
	f := &Repo{Owner: tok.Login, Name: repo.Name, Default: repo.Default, Parent: repo, ID: g.id(), roles: map[string]string{}}
	f.Dir = g.initRepo(f.full(), repo.Dir)
	g.repos[strings.ToLower(f.full())] = f
	send(w, r, http.StatusAccepted, g.repo(f, tok))
}

func (g *tea) pull(r *Repo, p *Pull) object {
	side := func(ref, sha string, of *Repo) object {
		o := object{"label": ref, "ref": ref, "sha": sha, "repo_id": 0, "repo": nil}
		if of != nil {
			o["repo_id"], o["repo"] = of.ID, g.repo(of, nil)
		}
		return o
	}
	labels := []object{}
	for _, l := range p.Labels {
		labels = append(labels, g.label(l))
	}
	reviewers := []object{}
	for _, l := range p.Reviewers {
		reviewers = append(reviewers, g.person(l))
	}
	draft := strings.HasPrefix(p.Title, "WIP: ")
	o := object{"id": p.ID, "number": p.Number, "title": p.Title, "body": p.Body, "state": p.State, "draft": draft, "user": g.person(p.User), "labels": labels,
		"url": g.URL, "html_url": fmt.Sprintf("%s/%s/pulls/%d", g.URL, r.full(), p.Number), "requested_reviewers": reviewers,
		"merged": p.Merged, "merge_commit_sha": nil, "mergeable": false, "head": side(p.HeadRef, p.HeadSHA, g.headRepo(r, p.HeadOwner)),
		"base": side(p.Base, g.sha(r, p.Base), r), "created_at": stamp(p.Created), "updated_at": stamp(p.Updated)}
	if p.Merged {
		o["merge_commit_sha"], o["merged_at"] = p.MergeSHA, stamp(p.Updated)
	}
	// Gitea says "not mergeable" too while it works it out, which is as long as
	// its queue is.
	if now := p.HeadSHA + g.sha(r, p.Base); p.lookedAt != now {
		p.lookedAt, p.checking = now, g.queue
	} else if p.checking > 0 {
		p.checking--
	} else if p.State == "open" && !draft {
		o["mergeable"] = g.merges(r, p)
	}
	return o
}

func (g *tea) list(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	out := []object{}
	for _, p := range sorted(repo.pulls) {
		g.refresh(repo, p)
		if s := r.URL.Query().Get("state"); s == "all" || s == p.State || s == "" && p.State == "open" {
			out = append(out, g.pull(repo, p))
		}
	}
	send(w, r, http.StatusOK, append([]object{}, page(w, r, g.Server, out, "limit", 50)...))
}

func (g *tea) create(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	var in struct{ Title, Body, Head, Base string }
	if !decode(w, r, &in) {
		return
	}
	owner, ref, other := strings.Cut(in.Head, ":")
	if !other {
		owner, ref = repo.Owner, in.Head
	}
	from := g.headRepo(repo, owner)
	if tok == nil || from == nil || g.sha(from, ref) == "" || g.sha(repo, in.Base) == "" {
		g.refuse(w, r, http.StatusNotFound, "The target couldn't be found.")
		return
	}
	if len(in.Title) > 255 {
		g.refuse(w, r, http.StatusUnprocessableEntity, "title is too long")
		return
	}
	for _, p := range repo.pulls {
		if p.State == "open" && strings.EqualFold(p.HeadOwner, owner) && p.HeadRef == ref && p.Base == in.Base {
			g.refuse(w, r, http.StatusConflict, fmt.Sprintf("pull request already exists for these targets [id: %d]", p.ID))
			return
		}
	}
	// Looking for another and opening are two steps of the server: requests at
	// the same time all go through.
	var p *Pull
	for range 1 + g.twins {
		p = &Pull{Number: g.number(repo), ID: g.id(), Title: in.Title, Body: in.Body, HeadOwner: from.Owner, HeadRef: ref, Base: in.Base, User: tok.Login, State: "open"}
		g.refresh(repo, p)
		p.Created = g.tick()
		p.Updated = p.Created
		repo.pulls = append(repo.pulls, p)
	}
	send(w, r, http.StatusCreated, g.pull(repo, p))
}

func (g *tea) edit(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull) {
	var in struct {
		Title       string
		Body, State *string
	}
	if tok == nil || !decode(w, r, &in) {
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
	p.Updated = g.tick()
	send(w, r, http.StatusCreated, g.pull(repo, p))
}

func (g *tea) said(r *Repo, p *Pull, c Said) object {
	html := fmt.Sprintf("%s/%s/pulls/%d", g.URL, r.full(), p.Number)
	return object{"id": c.ID, "body": c.Body, "user": g.person(c.User), "html_url": fmt.Sprintf("%s#issuecomment-%d", html, c.ID), "pull_request_url": html,
		"issue_url": "", "created_at": stamp(c.At), "updated_at": stamp(c.At)}
}

// reviewOf is the review that a comment at a line is in: a reply is in the one
// of what it answers.
func reviewOf(c Said) int64 {
	if c.ReplyTo != 0 {
		return c.ReplyTo + 1_000_000
	}
	return c.ID + 1_000_000
}

func (g *tea) reviewList(w http.ResponseWriter, r *http.Request, _ *Repo, _ *Token, p *Pull) {
	out := []object{}
	add := func(id int64, c Said, state, body string, comments int) {
		out = append(out, object{"id": id, "user": g.person(c.User), "state": state, "body": body, "commit_id": c.Commit, "stale": false, "official": false,
			"dismissed": false, "comments_count": comments, "submitted_at": stamp(c.At), "html_url": g.URL, "pull_request_url": g.URL})
	}
	for _, c := range p.lines {
		if c.ReplyTo == 0 {
			add(reviewOf(c), c, "COMMENT", "", 1)
		}
	}
	for _, c := range p.reviews {
		state := map[string]string{"APPROVED": "APPROVED", "CHANGES_REQUESTED": "REQUEST_CHANGES"}[c.State]
		if state == "" {
			state = "COMMENT"
		}
		add(c.ID, c, state, c.Body, 0)
	}
	send(w, r, http.StatusOK, append([]object{}, page(w, r, g.Server, out, "limit", 50)...))
}

func (g *tea) statusesOf(repo *Repo, sha string) []object {
	out := []object{}
	for _, c := range repo.status {
		if c.SHA == sha {
			out = append(out, object{"id": c.ID, "status": c.State, "context": c.Context, "description": c.Describes, "target_url": c.URL, "url": g.URL,
				"created_at": stamp(c.At), "updated_at": stamp(c.At)})
		}
	}
	return out
}

func (g *tea) statuses(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	out := g.statusesOf(repo, r.PathValue("ref"))
	send(w, r, http.StatusOK, object{"sha": r.PathValue("ref"), "state": "", "total_count": len(out), "statuses": page(w, r, g.Server, out, "limit", 50)})
}
