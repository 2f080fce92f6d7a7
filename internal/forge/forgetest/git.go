package forgetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runGit runs git on a repository of the fake, without this machine's settings.
func (s *Server) runGit(dir string, args ...string) (string, error) {
	return runGit(s.dir, dir, args...)
}

func runGit(home, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, gitEnv(home)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimRight(string(out), "\n"), nil
}

// Commit commits one file on a branch of a repository, starting at from.
func (s *Server) Commit(repo *Repo, branch, from, file, text string) string {
	s.t.Helper()
	return pushCommit(s.t, s.dir, repo.Dir, branch, from, file, text)
}

// pushCommit clones, changes one file and pushes.
func pushCommit(t testing.TB, home, remote, branch, from, file, text string) string {
	t.Helper()
	work := filepath.Join(t.TempDir(), "work")
	run := func(dir string, args ...string) string {
		t.Helper()
		out, err := runGit(home, dir, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	run(home, "clone", "-q", "--no-hardlinks", remote, work)
	run(work, "checkout", "-q", "-B", branch, from)
	p := filepath.Join(work, file)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run(work, "add", "-A")
	run(work, "commit", "-q", "-m", "change "+file)
	run(work, "push", "-q", "-f", "origin", branch)
	return run(work, "rev-parse", "HEAD")
}

// Head returns the commit of a branch, or "" if there is none.
func (s *Server) Head(r *Repo, branch string) string { return s.branchSHA(r, branch) }

// PushAs pushes HEAD of a checkout to a branch with a login.
func (s *Server) PushAs(r *Repo, user, secret, dir, branch string) error {
	at := strings.Replace(s.CloneURL(r), "https://", "https://"+user+":"+secret+"@", 1)
	_, err := s.runGit(dir, "-c", "http.sslCAInfo="+s.CAFile, "-c", "core.askPass=true", "push", "-q", at,
		"HEAD:refs/heads/"+branch)
	return err
}

func gitEnv(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=forge", "GIT_AUTHOR_EMAIL=forge@example.com", "GIT_COMMITTER_NAME=forge",
		"GIT_COMMITTER_EMAIL=forge@example.com",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}
}

func (s *Server) initRepo(full, src string) string {
	s.t.Helper()
	dir := filepath.Join(s.dir, "repos", strings.ToLower(full)+".git")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.runGit(s.dir, "clone", "-q", "--bare", "--no-hardlinks", src, dir); err != nil {
		s.t.Fatal(err)
	}
	for _, kv := range [][2]string{{"http.receivepack", "true"}, {"uploadpack.allowAnySHA1InWant", "true"}} {
		if _, err := s.runGit(dir, "config", kv[0], kv[1]); err != nil {
			s.t.Fatal(err)
		}
	}
	return dir
}

// branchSHA returns the commit of a branch, or "".
func (s *Server) branchSHA(r *Repo, branch string) string {
	out, err := s.runGit(r.Dir, "rev-parse", "--verify", "--quiet", "--end-of-options", "refs/heads/"+branch)
	if err != nil {
		return ""
	}
	return out
}

// headRepo returns the repository of a pull request's head: the repository itself or a fork, or nil.
func (s *Server) headRepo(repo *Repo, owner string) *Repo {
	if strings.EqualFold(owner, repo.Owner) {
		return repo
	}
	for _, f := range s.repos {
		if f.Parent == repo && strings.EqualFold(f.Owner, owner) {
			return f
		}
	}
	return nil
}

// refreshHead reads a pull request's head from git. It fetches the commits of a fork, as forges do.
func (s *Server) refreshHead(repo *Repo, pull *Pull) {
	h := s.headRepo(repo, pull.HeadOwner)
	if h == nil || pull.Merged {
		return
	}
	sha := s.branchSHA(h, pull.HeadRef)
	if sha == "" || sha == pull.HeadSHA {
		return
	}
	if h != repo {
		if _, err := s.runGit(repo.Dir, "fetch", "-q", h.Dir,
			fmt.Sprintf("+refs/heads/%s:refs/pull/%d/head", pull.HeadRef, pull.Number)); err != nil {
			s.t.Errorf("fetch a fork's branch: %v", err)
			return
		}
	}
	pull.HeadSHA = sha
}

// mergesCleanly reports whether git merges a pull request into its base without conflicts.
func (s *Server) mergesCleanly(repo *Repo, pull *Pull) bool {
	base := s.branchSHA(repo, pull.Base)
	if base == "" || pull.HeadSHA == "" {
		return false
	}
	_, err := s.runGit(repo.Dir, "merge-tree", "--write-tree", base, pull.HeadSHA)
	return err == nil
}

func (s *Server) mergeHead(repo *Repo, pull *Pull) string {
	s.t.Helper()
	base := s.branchSHA(repo, pull.Base)
	tree, err := s.runGit(repo.Dir, "merge-tree", "--write-tree", base, pull.HeadSHA)
	if err != nil {
		s.t.Fatalf("it does not merge: %v", err)
	}
	commit, err := s.runGit(repo.Dir, "commit-tree", "-p", base, "-p", pull.HeadSHA, "-m",
		fmt.Sprintf("Merge pull request #%d", pull.Number), strings.Fields(tree)[0])
	if err == nil {
		_, err = s.runGit(repo.Dir, "update-ref", "refs/heads/"+pull.Base, commit, base)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return commit
}

// serveGit serves git over HTTP with a token as password, as forges do.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	full := strings.ToLower(r.PathValue("owner") + "/" + strings.TrimSuffix(r.PathValue("repo"), ".git"))
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	push := strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack"
	s.mu.Lock()
	repo := s.repos[full]
	user, pass, given := r.BasicAuth()
	tok := s.tokens[pass]
	expired := tok != nil && !tok.Expires.IsZero() && s.currentTime().After(tok.Expires)
	s.mu.Unlock()
	role := "read"
	if push {
		role = "write"
	}
	switch {
	case !given && (push || repo == nil || repo.Private), given && (tok == nil || expired || user == ""):
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "login needed", http.StatusUnauthorized)
		return
	case repo == nil || repo.Private && (tok == nil || !repo.hasRole(tok.Login, "read")):
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return
	case push && tok.app != nil && tok.app != repo, push && tok.app == nil && !repo.hasRole(tok.Login, role),
		push && !tok.hasPermission("contents"):
		http.Error(w, "Permission to "+repo.fullName()+" denied.", http.StatusForbidden)
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.TransferEncoding = nil
	h := cgi.Handler{Path: s.backend, Dir: s.dir, Stderr: io.Discard,
		Root: "/" + r.PathValue("owner") + "/" + r.PathValue("repo"),
		Env:  append(gitEnv(s.dir), "GIT_PROJECT_ROOT="+repo.Dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x")}
	h.ServeHTTP(w, r)
}
