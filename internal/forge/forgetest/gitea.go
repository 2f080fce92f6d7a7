package forgetest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// NewGitea starts a fake Gitea below path, which may be empty, with its API at /api/v1. It differs from GitHub as
// Gitea does:
//
//   - 409 for a second pull request and 404 for a missing head
//   - drafts by title, labels by number
//   - comments without pages, line comments below reviews, no check runs
//   - token scopes
//   - "not mergeable" while it computes
//   - members of every team among the assignable people
//   - people's permissions only for administrators
//
// `make strangers/gitea` runs the same tests on a real Gitea.
func NewGitea(t testing.TB, path string) *Server {
	t.Helper()
	server := newServer(t)
	server.path = path
	g := &giteaAPI{githubAPI{server}}
	mux := http.NewServeMux()
	g.addRoutes(mux)
	server.start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.mu.Lock()
		defer server.mu.Unlock()
		if r.Header.Get("Authorization") != "" && g.requestToken(r) == nil {
			g.sendError(w, r, http.StatusUnauthorized, "user does not exist [uid: 0, name: ]")
			return
		}
		if need := scopeOf(r); g.requestToken(r) != nil && !g.requestToken(r).hasScope(need) {
			g.sendError(w, r, http.StatusForbidden,
				fmt.Sprintf("token does not have at least one of required scope(s), required=[%s], token scope=%s", need,
					strings.Join(g.requestToken(r).Scopes, ",")))
			return
		}
		mux.ServeHTTP(w, r)
	}))
	return server
}

// scopeOf returns the scope that Gitea requires for a request.
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
	return len(t.Scopes) == 0 || slices.Contains(t.Scopes, scope) ||
		slices.Contains(t.Scopes, strings.Replace(scope, "read:", "write:", 1))
}

// giteaAPI shares GitHub's logins and git, but has its own replies.
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
				g.sendError(w, r, http.StatusForbidden,
					"token does not have at least one of required scope(s), required=[write:repository], token scope=read:repository")
				return
			}
			f(w, r, repo, tok)
		}
	}
	on := func(f func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, p *Pull)) http.HandlerFunc {
		return in(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
			pull := repo.findPull(parseNumber(r.PathValue("number"), 0))
			if pull == nil && strings.HasSuffix(r.URL.Path, "/comments") {
				g.sendError(w, r, http.StatusInternalServerError, "") // as a real one does
				return
			}
			if pull == nil {
				g.sendError(w, r, http.StatusNotFound, "pull request does not exist")
				return
			}
			g.refreshHead(repo, pull)
			f(w, r, repo, tok, pull)
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
			out = append(
				out, jsonObject{"id": hashID(t), "name": t, "permission": "none",
					"units_map": jsonObject{"repo.code": repo.teamRoles[t], "repo.pulls": repo.teamRoles[t]}})
		}
		sendJSON(w, r, http.StatusOK, out)
	}))
	mux.HandleFunc("GET /api/v1/teams/{id}/members/{login}", func(w http.ResponseWriter, r *http.Request) {
		tok := g.requestToken(r)
		for _, repo := range g.repos {
			for _, t := range append([]string{"Owners"}, repo.teams...) {
				id, in := hashID(t), repo.memberRoles[r.PathValue("login")] != "" &&
					repo.teamRoles[t] == repo.memberRoles[r.PathValue("login")]
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
		sendJSON(
			w, r, http.StatusOK,
			jsonObject{"id": hashID(r.PathValue("org")), "username": r.PathValue("org"), "name": r.PathValue("org")})
	})
	mux.HandleFunc("GET "+repo+"/collaborators/{login}/permission",
		in(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
			login := r.PathValue("login")
			if tok == nil || repo.roleOf(tok.Login) != "admin" && !strings.EqualFold(tok.Login, login) {
				g.sendError(w, r, http.StatusForbidden,
					"Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query "+
						"only their own")
				return
			}
			role := repo.roles[login] // it does not include the permissions of a member's team
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
	mux.HandleFunc("GET "+repo+"/commits/{ref}/statuses",
		in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
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
	mux.HandleFunc("GET "+repo+"/pulls/{number}",
		on(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, p *Pull) {
			sendJSON(w, r, http.StatusOK, g.giteaPull(repo, p))
		}))
	mux.HandleFunc("PATCH "+repo+"/pulls/{number}", on(g.editGiteaPull))
	mux.HandleFunc("POST "+repo+"/pulls/{number}/merge", on(g.mergeGiteaPull))
	mux.HandleFunc("POST "+repo+"/pulls/{number}/requested_reviewers",
		on(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, pull *Pull) {
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
			pull.Reviewers, pull.Teams = append(pull.Reviewers, in.Reviewers...), append(pull.Teams, in.TeamReviewers...)
			sendJSON(w, r, http.StatusCreated, []jsonObject{})
		}))
	mux.HandleFunc("GET "+repo+"/pulls/{number}/reviews", on(g.listGiteaReviews))
	mux.HandleFunc("GET "+repo+"/pulls/{number}/reviews/{id}/comments",
		on(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token, pull *Pull) {
			out := []jsonObject{}
			for _, comment := range pull.lines {
				if fmt.Sprint(reviewIDOf(comment)) != r.PathValue("id") {
					continue
				}
				o := jsonObject{"id": comment.ID, "body": comment.Body, "user": g.giteaUser(comment.User), "resolver": nil,
					"path":     comment.Path,
					"position": comment.Line, "commit_id": comment.Commit,
					"created_at": formatTime(comment.At), "updated_at": formatTime(comment.At), "html_url": g.URL,
					"pull_request_review_id": reviewIDOf(comment)}
				if comment.Resolved != "" {
					o["resolver"] = g.giteaUser(comment.Resolved)
				}
				out = append(out, o)
			}
			sendJSON(w, r, http.StatusOK, out)
		}))
	mux.HandleFunc("GET "+repo+"/issues/{number}", in(g.getIssue))
	mux.HandleFunc("GET "+repo+"/issues/{number}/comments",
		in(func(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
			number := parseNumber(r.PathValue("number"), 0)
			comments := repo.discussionOf(number)
			if comments == nil {
				g.sendError(w, r, http.StatusInternalServerError, "") // as a real one does
				return
			}
			// all of them: this list has no pages
			out := shapeAll(*comments, func(c Comment) jsonObject { return g.giteaComment(repo, &Pull{Number: number}, c) })
			sendJSON(w, r, http.StatusOK, out)
		}))
	mux.HandleFunc("POST "+repo+"/issues/{number}/comments",
		on(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, pull *Pull) {
			var in struct{ Body string }
			if !decodeJSON(w, r, &in) {
				return
			}
			comment := Comment{ID: g.nextID(), User: tok.Login, Body: in.Body, At: g.nextTime()}
			pull.comments = append(pull.comments, comment)
			sendJSON(w, r, http.StatusCreated, g.giteaComment(repo, pull, comment))
		}))
	mux.HandleFunc("POST "+repo+"/issues/{number}/labels",
		on(func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token, pull *Pull) {
			var in struct{ Labels []int }
			if g.refuseReader(w, r, repo, tok) || !decodeJSON(w, r, &in) {
				return
			}
			pull.Labels = appendNew(pull.Labels,
				slices.DeleteFunc(slices.Clone(repo.labels), func(l string) bool { return !slices.Contains(in.Labels, hashID(l)) }))
			sendJSON(w, r, http.StatusOK, []jsonObject{})
		}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		g.sendError(w, r, http.StatusNotFound, "Not Found")
	})
}

func (g *giteaAPI) refuseReader(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) bool {
	if tok != nil && repo.hasRole(tok.Login, "write") {
		return false
	}
	g.sendError(w, r, http.StatusForbidden, "user should have permission to write")
	return true
}

func (g *giteaAPI) giteaUser(login string) jsonObject {
	return jsonObject{"id": hashID(login), "login": login, "full_name": "", "email": "", "avatar_url": "",
		"username": login}
}

func (g *giteaAPI) giteaLabel(name string) jsonObject {
	return jsonObject{"id": hashID(name), "name": name, "color": "ededed", "description": "", "url": g.URL}
}

func (g *giteaAPI) giteaRepo(repo *Repo, tok *Token) jsonObject {
	o := jsonObject{"id": repo.ID, "owner": g.giteaUser(repo.Owner), "name": repo.Name, "full_name": repo.fullName(),
		"private": repo.Private, "fork": repo.Parent != nil,
		"html_url": g.URL + "/" + repo.fullName(), "clone_url": g.CloneURL(repo), "default_branch": repo.Default,
		"archived":   false,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
	if tok != nil {
		o["permissions"] = jsonObject{"admin": repo.roleOf(tok.Login) == "admin", "push": repo.hasRole(tok.Login, "write"),
			"pull": repo.hasRole(tok.Login, "read")}
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
	f := &Repo{Owner: tok.Login, Name: repo.Name, Default: repo.Default, Parent: repo, ID: g.nextID(),
		roles: map[string]string{}}
	f.Dir = g.initRepo(f.fullName(), repo.Dir)
	g.repos[strings.ToLower(f.fullName())] = f
	sendJSON(w, r, http.StatusAccepted, g.giteaRepo(f, tok))
}
