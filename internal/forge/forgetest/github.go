package forgetest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"
)

// NewGitHub starts a fake GitHub Enterprise with its API at /api/v3 and /api/graphql. All requests and replies are
// validated against GitHub's API description. A violation fails the test.
func NewGitHub(t testing.TB) *Server {
	t.Helper()
	contract, err := GitHubContract()
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t)
	h := &githubAPI{server}
	mux := http.NewServeMux()
	h.addRoutes(mux)
	api := http.NewServeMux()
	api.HandleFunc("POST /api/graphql", h.serveGraphQL)
	api.HandleFunc("GET /api/v3/download/{id}", h.serveLog)
	api.Handle(
		"/api/v3/",
		contract.Handler("/api/v3", h.guardHandler(mux), func(err error) { t.Errorf("GitHub's description: %v", err) }))
	server.start(api)
	return server
}

type githubAPI struct{ *Server }

const docs = "https://docs.github.com/rest"

func sendError(w http.ResponseWriter, r *http.Request, code int, message string) {
	sendJSON(w, r, code, jsonObject{"message": message, "documentation_url": docs, "status": fmt.Sprint(code)})
}

func sendInvalid(w http.ResponseWriter, r *http.Request, field, code, message string) {
	e := jsonObject{"resource": "PullRequest", "code": code}
	if field != "" {
		e["field"] = field
	}
	if message != "" {
		e["message"] = message
	}
	sendJSON(w, r, http.StatusUnprocessableEntity,
		jsonObject{"message": "Validation Failed", "errors": []jsonObject{e}, "documentation_url": docs, "status": "422"})
}

// repoHandler serves a request for one repository that the token may read. The lock is held.
type repoHandler func(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token)

func (h *githubAPI) addRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v3/user", h.serveUser)
	mux.HandleFunc("POST /api/v3/app/installations/{id}/access_tokens", h.createInstallationToken)
	const repo = "/api/v3/repos/{owner}/{repo}"
	for pattern, f := range map[string]repoHandler{
		"GET " + repo: h.serveRepository,
		"GET " + repo + "/collaborators/{login}/permission":    h.servePermission,
		"GET " + repo + "/commits/{ref}/check-runs":            h.listChecks,
		"GET " + repo + "/commits/{ref}/status":                h.serveStatus,
		"GET " + repo + "/check-runs/{id}/annotations":         h.listAnnotations,
		"GET " + repo + "/actions/jobs/{id}/logs":              h.redirectToLog,
		"GET " + repo + "/contents/{path...}":                  h.serveContents,
		"POST " + repo + "/forks":                              h.createFork,
		"GET " + repo + "/git/ref/{ref...}":                    h.serveRef,
		"GET " + repo + "/pulls":                               h.listPulls,
		"POST " + repo + "/pulls":                              h.createPull,
		"GET " + repo + "/pulls/{number}":                      h.withPull(h.getPull),
		"PATCH " + repo + "/pulls/{number}":                    h.withPull(h.patchPull),
		"PUT " + repo + "/pulls/{number}/merge":                h.withPull(h.mergePull),
		"GET " + repo + "/pulls/{number}/comments":             h.withPull(h.listLineComments),
		"GET " + repo + "/pulls/{number}/reviews":              h.withPull(h.listReviews),
		"GET " + repo + "/pulls/{number}/requested_reviewers":  h.withPull(h.listReviewers),
		"POST " + repo + "/pulls/{number}/requested_reviewers": h.withPull(h.requestReviewers),
		"GET " + repo + "/issues/{number}":                     h.getIssue,
		"GET " + repo + "/issues/{number}/comments":            h.listIssueComments,
		"POST " + repo + "/issues/{number}/comments":           h.withPull(h.createComment),
		"GET " + repo + "/issues/{number}/labels":              h.withPull(h.listLabels),
		"POST " + repo + "/issues/{number}/labels":             h.withPull(h.addLabels),
	} {
		mux.HandleFunc(pattern, h.withRepo(f))
	}
	mux.HandleFunc("GET "+repo+"/installation", h.serveInstallation)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { sendError(w, r, http.StatusNotFound, "Not Found") })
}

// requestToken returns the login of a request, or nil if there is none or it is unknown or expired.
func (h *githubAPI) requestToken(r *http.Request) *Token {
	_, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token := h.tokens[secret]
	if token == nil || !token.Expires.IsZero() && h.currentTime().After(token.Expires) {
		return nil
	}
	return token
}

// guardHandler checks logins and rate limits.
func (h *githubAPI) guardHandler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") == "" {
			sendError(w, r, http.StatusForbidden, "Request forbidden by administrative rules.")
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		isApp := strings.Contains(r.URL.Path, "/app/installations/") || strings.HasSuffix(r.URL.Path, "/installation")
		tok := h.requestToken(r)
		if r.Header.Get("Authorization") != "" && tok == nil && !isApp {
			sendError(w, r, http.StatusUnauthorized, "Bad credentials")
			return
		}
		if tok != nil && !tok.Reset.IsZero() {
			if h.currentTime().After(tok.Reset) {
				tok.Remaining, tok.Reset = 5000, h.currentTime().Add(time.Hour)
			}
			if tok.Remaining > 0 {
				tok.Remaining--
			} else {
				w.Header().Set("X-RateLimit-Limit", "5000")
				w.Header().Set("X-RateLimit-Remaining", "0")
				w.Header().Set("X-RateLimit-Reset", fmt.Sprint(tok.Reset.Unix()))
				sendError(w, r, http.StatusForbidden, "API rate limit exceeded for user ID 1.")
				return
			}
			w.Header().Set("X-RateLimit-Limit", "5000")
			w.Header().Set("X-RateLimit-Remaining", fmt.Sprint(tok.Remaining))
			w.Header().Set("X-RateLimit-Reset", fmt.Sprint(tok.Reset.Unix()))
		}
		next.ServeHTTP(w, r)
	})
}

// withRepo finds the repository. If the token may not read it, the answer is 404.
func (h *githubAPI) withRepo(f repoHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tok := h.requestToken(r)
		repo := h.repos[strings.ToLower(r.PathValue("owner")+"/"+r.PathValue("repo"))]
		if repo != nil && repo.pendingLooks > 0 {
			repo.pendingLooks--
			repo = nil
		}
		if repo == nil || repo.Private && (tok == nil || tok.app != repo && !repo.hasRole(tok.Login, "read")) ||
			tok != nil && tok.app != nil && tok.app != repo {
			sendError(w, r, http.StatusNotFound, "Not Found")
			return
		}
		f(w, r, repo, tok)
	}
}

// refuseWithoutPermission refuses a token without a permission, as GitHub does. It reports whether it refused.
func refuseWithoutPermission(w http.ResponseWriter, r *http.Request, tok *Token, permission, level string) bool {
	if tok != nil && tok.hasPermission(permission) {
		return false
	}
	if tok == nil {
		sendError(w, r, http.StatusUnauthorized, "Requires authentication")
		return true
	}
	w.Header().Set("X-Accepted-GitHub-Permissions", permission+"="+level)
	sendError(w, r, http.StatusForbidden, "Resource not accessible by personal access token")
	return true
}

func (h *githubAPI) serveUser(w http.ResponseWriter, r *http.Request) {
	tok := h.requestToken(r)
	switch {
	case tok == nil:
		sendError(w, r, http.StatusUnauthorized, "Requires authentication")
		return
	case tok.app != nil:
		sendError(w, r, http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	o := h.userJSON(tok.Login, false)
	for _, k := range []string{"bio", "blog", "company", "email", "hireable", "location", "name"} {
		o[k] = nil
	}
	for _, k := range []string{"followers", "following", "public_gists", "public_repos", "collaborators", "disk_usage",
		"owned_private_repos", "private_gists", "total_private_repos"} {
		o[k] = 0
	}
	o["two_factor_authentication"] = true
	o["created_at"] = "2026-01-01T00:00:00Z"
	o["updated_at"] = "2026-01-01T00:00:00Z"
	o["user_view_type"] = "private"
	sendJSON(w, r, http.StatusOK, o)
}

func (h *githubAPI) serveRepository(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	o := h.repoJSON(repo, tok)
	if repo.Parent != nil {
		o["parent"], o["source"] = h.repoJSON(repo.Parent, nil), h.repoJSON(repo.Parent, nil)
	}
	sendJSON(w, r, http.StatusOK, o)
}

// servePermission answers only logins that may push.
func (h *githubAPI) servePermission(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok == nil || tok.app == nil && !repo.hasRole(tok.Login, "write") {
		sendError(w, r, http.StatusForbidden, "Must have push access to view collaborator permission.")
		return
	}
	role := repo.roleOf(r.PathValue("login"))
	if role == "" {
		role = "none"
		if !repo.Private {
			role = "read"
		}
	}
	who := h.userJSON(r.PathValue("login"), false)
	who["role_name"] = role
	sendJSON(w, r, http.StatusOK, jsonObject{"permission": role, "role_name": role, "user": who})
}

func (h *githubAPI) createFork(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if refuseWithoutPermission(w, r, tok, "administration", "write") {
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
		made = &Repo{Owner: tok.Login, Name: name, Default: repo.Default, Parent: repo, ID: h.nextID(),
			roles: map[string]string{}, pendingLooks: 2}
		made.Dir = h.initRepo(made.fullName(), repo.Dir)
		h.repos[strings.ToLower(made.fullName())] = made
	}
	o := h.repoJSON(made, tok)
	o["parent"], o["source"] = h.repoJSON(repo, nil), h.repoJSON(repo, nil)
	sendJSON(w, r, http.StatusAccepted, o)
}

func (h *githubAPI) serveRef(w http.ResponseWriter, r *http.Request, repo *Repo, _ *Token) {
	branch, ok := strings.CutPrefix(r.PathValue("ref"), "heads/")
	sha := h.branchSHA(repo, branch)
	if !ok || sha == "" {
		sendError(w, r, http.StatusNotFound, "Not Found")
		return
	}
	u := h.URL + "/api/v3/repos/" + repo.fullName() + "/git/"
	sendJSON(
		w, r, http.StatusOK,
		jsonObject{"ref": "refs/heads/" + branch, "node_id": "REF_" + branch, "url": u + "refs/heads/" + branch,
			"object": jsonObject{"type": "commit", "sha": sha, "url": u + "commits/" + sha}})
}

func (h *githubAPI) serveContents(w http.ResponseWriter, r *http.Request, repo *Repo, tok *Token) {
	if tok != nil && refuseWithoutPermission(w, r, tok, "contents", "read") {
		return
	}
	ref, file := r.URL.Query().Get("ref"), r.PathValue("path")
	ref = cmp.Or(ref, repo.Default)
	text, err := h.runGit(repo.Dir, "cat-file", "blob", ref+":"+file)
	if err != nil {
		sendError(w, r, http.StatusNotFound, "Not Found")
		return
	}
	text += "\n"
	u := h.URL + "/api/v3/repos/" + repo.fullName() + "/contents/" + file
	sendJSON(
		w, r, http.StatusOK,
		jsonObject{"type": "file", "encoding": "base64", "size": len(text), "name": path.Base(file), "path": file, "sha": "0",
			"content": base64.StdEncoding.EncodeToString([]byte(text)), "url": u, "git_url": nil, "html_url": nil,
			"download_url": nil,
			"_links":       jsonObject{"self": u, "git": nil, "html": nil}})
}

func decodeJSON(w http.ResponseWriter, r *http.Request, v any) bool {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, v)
	}
	if err != nil {
		sendError(w, r, http.StatusBadRequest, "Problems parsing JSON")
	}
	return err == nil
}

// serveGraphQL implements two features that REST lacks: marking a draft as ready, and reading which conversations are
// resolved.
func (h *githubAPI) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	tok := h.requestToken(r)
	if tok == nil {
		sendError(w, r, http.StatusUnauthorized, "Bad credentials")
		return
	}
	var in struct {
		Query     string
		Variables map[string]any
	}
	if !decodeJSON(w, r, &in) {
		return
	}
	id, _ := in.Variables["id"].(string)
	fail := func(kind, message string) {
		sendJSON(w, r, http.StatusOK, jsonObject{"data": nil, "errors": []jsonObject{{"type": kind, "message": message}}})
	}
	threads := strings.Contains(in.Query, "node(id: $id) { ... on PullRequest { reviewThreads(first: 100, after: $after)")
	if !threads && !strings.Contains(in.Query, "markPullRequestReadyForReview(input: {pullRequestId: $id})") {
		fail("undefinedField", "Field doesn't exist on type 'Mutation'")
		return
	}
	for _, repo := range h.repos {
		for _, pull := range repo.pulls {
			if fmt.Sprint("PR_", pull.ID) != id {
				continue
			}
			if !tok.hasPermission("pull_requests") {
				fail("FORBIDDEN", "Resource not accessible by personal access token")
				return
			}
			if threads {
				after, _ := in.Variables["after"].(string)
				sendJSON(
					w, r, http.StatusOK,
					jsonObject{"data": jsonObject{"node": jsonObject{"reviewThreads": h.threadPage(pull, parseNumber(after, 0))}}})
				return
			}
			pull.Draft = false
			pull.Updated = h.nextTime()
			sendJSON(
				w, r, http.StatusOK,
				jsonObject{
					"data": jsonObject{"markPullRequestReadyForReview": jsonObject{"pullRequest": jsonObject{"isDraft": false}}}})
			return
		}
	}
	fail("NOT_FOUND", "Could not resolve to a node with the global id of '"+id+"'")
}

// threadPage returns up to a hundred line conversations of a pull request.
func (h *githubAPI) threadPage(pull *Pull, after int) jsonObject {
	var all []jsonObject
	for _, comment := range pull.lines {
		if comment.ReplyTo == 0 {
			all = append(
				all, jsonObject{"isResolved": comment.Resolved != "",
					"comments": jsonObject{"nodes": []jsonObject{{"fullDatabaseId": fmt.Sprint(comment.ID)}}}})
		}
	}
	end := min(after+100, len(all))
	return jsonObject{"pageInfo": jsonObject{"hasNextPage": end < len(all), "endCursor": fmt.Sprint(end)},
		"nodes": append([]jsonObject{}, all[min(after, len(all)):end]...)}
}
