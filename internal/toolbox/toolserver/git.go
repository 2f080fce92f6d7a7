package toolserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"company/internal/lib/blocklist"
	"company/internal/lib/charset"
	"company/internal/toolbox/toolproto"
)

// repo holds the state of the repository since Prepare. Hold its lock to change refs or the index on the host's
// behalf.
type repo struct {
	mu       sync.Mutex
	branch   string
	signoff  string                     // the trailer of each commit, if any
	identity atomic.Pointer[[]string]   // GIT_AUTHOR_NAME=… and the like
	head     string                     // the commit that the work started from
	origin   string                     // the URL of the clone; the agent may change the remote of this name
	last     toolproto.CheckpointResult // the latest checkpoint, or the state that Prepare made
	lastOf   string                     // the commit whose tree is in last, as long as last names no checkpoint
	lastText string                     // the commit message of last
	lastHead string                     // the commit that last was made on
}

// gitLimit is the timeout of a git command. The slowest is the clone of a large repository.
const gitLimit = 10 * time.Minute

// drainDelay is how long to wait for git's output after it ended. On a busy machine the last of it may come late, and
// git leaves no process behind that would keep the output open.
const drainDelay = 30 * time.Second

// gitFailed is the error of a git command that ran and failed.
type gitFailed struct {
	args   []string
	code   int
	stderr string
}

func (e *gitFailed) Error() string {
	return fmt.Sprintf("git %s: %s (exit code %d)", e.args[0], strings.TrimSpace(e.stderr), e.code)
}

// toRefusal returns git's own message as a refusal for the model.
func (e *gitFailed) toRefusal(after string) *toolproto.Refusal {
	text := strings.TrimSpace(e.stderr)
	if len(text) > 4<<10 {
		text = strings.ToValidUTF8(text[:4<<10], "") + "…"
	}
	if after != "" {
		after = "; " + after
	}
	return toolproto.Refuse(toolproto.KindGit, "git %s refused: %s%s", e.args[0], text, after)
}

// gitRun holds the environment and the input of a git command.
type gitRun struct {
	env   []string
	stdin string
}

// runGit runs git in the workspace and returns its stdout. The error is a *gitFailed if git ran and failed.
func (s *Server) runGit(ctx context.Context, r *gitRun, args ...string) (string, error) {
	if r == nil {
		r = &gitRun{}
	}
	if blocked, ok := blocklist.FindCommand("git", args); ok {
		return "", refuseDestructive(blocked)
	}
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	path, err := findProgram("git", s.env)
	if err != nil {
		return "", fmt.Errorf("find git: %w", err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = s.dir
	cmd.Stdout = &stdout
	cmd.Stderr = &stderr
	cmd.Env = append(append([]string(nil), s.env...), r.env...)
	if identity := s.repo.identity.Load(); identity != nil {
		cmd.Env = append(cmd.Env, *identity...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = drainDelay
	if r.stdin != "" {
		cmd.Stdin = strings.NewReader(r.stdin)
	}
	if err := s.children.start(cmd); err != nil {
		return "", fmt.Errorf("start git: %w", err)
	}
	err = s.children.wait(cmd)
	if ctx.Err() != nil {
		return "", fmt.Errorf("git %s: %w", args[0], context.Cause(ctx))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 0 {
		return "", toolproto.Refuse(toolproto.KindGit, "git %s was killed before it could answer; try again", args[0])
	}
	if errors.As(err, &exit) {
		return stdout.String(), &gitFailed{args, exit.ExitCode(), stderr.String()}
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return stdout.String(), nil
}

// gitLine runs git and returns its output without surrounding white space.
func (s *Server) gitLine(ctx context.Context, args ...string) (string, error) {
	out, err := s.runGit(ctx, nil, args...)
	return strings.TrimSpace(out), err
}

func (s *Server) commitOf(ctx context.Context, rev string) (string, error) {
	out, err := s.gitLine(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	return out, err
}

// findCommit returns the commit that a revision names, or "" if it names none. It returns an error if git did not
// answer.
func (s *Server) findCommit(ctx context.Context, rev string) (string, error) {
	oid, err := s.commitOf(ctx, rev)
	if gitRefused(err) {
		return "", nil
	}
	return oid, err
}

// headRef returns the ref that HEAD points to, or "" if HEAD is detached.
func (s *Server) headRef(ctx context.Context) (string, error) {
	ref, err := s.gitLine(ctx, "symbolic-ref", "--quiet", "HEAD")
	if gitRefused(err) {
		return "", nil
	}
	return ref, err
}

// isAncestor reports whether commit a is an ancestor of b, or b itself.
func (s *Server) isAncestor(ctx context.Context, a, b string) (bool, error) {
	_, err := s.runGit(ctx, nil, "merge-base", "--is-ancestor", a, b)
	if gitRefused(err) {
		return false, nil
	}
	return err == nil, err
}

// gitRefused reports whether git ran to its end and failed. A git that did not start or was killed gave no answer.
func gitRefused(err error) bool {
	var said *gitFailed
	return errors.As(err, &said)
}

func (s *Server) checkPrepared() error {
	if s.repo.branch == "" {
		return toolproto.Refuse(toolproto.KindGit, "the workspace is not prepared yet")
	}
	return nil
}

const maxStatus = 500

func (s *Server) gitStatus(ctx context.Context, _ toolproto.Empty) (toolproto.GitStatusResult, error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	var none toolproto.GitStatusResult
	if err := s.checkPrepared(); err != nil {
		return none, err
	}
	out, err := s.runGit(ctx, nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
	if err != nil {
		return none, asRefusal(err, "")
	}
	head, err := s.commitOf(ctx, "HEAD")
	if err != nil {
		return none, asRefusal(err, "HEAD names no commit")
	}
	result := toolproto.GitStatusResult{Head: head, Files: []toolproto.FileState{}}
	ref, err := s.headRef(ctx)
	if err != nil {
		return none, err
	}
	result.Branch = strings.TrimPrefix(ref, "refs/heads/")
	for line := range strings.SplitSeq(out, "\x00") {
		if len(line) < 4 {
			continue
		}
		if len(result.Files) == maxStatus {
			result.Truncated = true
			break
		}
		result.Files = append(result.Files, toolproto.FileState{Status: line[:2], Path: charset.ShowBytes(line[3:])})
	}
	result.Clean = len(result.Files) == 0
	if result.Ignored, err = s.listIgnored(ctx); err != nil {
		return none, err
	}
	since, err := s.lastPushed(ctx)
	if err != nil {
		return none, err
	}
	count, err := s.gitLine(ctx, "rev-list", "--count", since+"..HEAD")
	if err != nil {
		return none, asRefusal(err, "")
	}
	_, err = fmt.Sscan(count, &result.Unpushed)
	return result, err
}

func (s *Server) gitCommit(ctx context.Context, request toolproto.GitCommitRequest) (toolproto.GitCommitResult, error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	var none toolproto.GitCommitResult
	if err := s.checkPrepared(); err != nil {
		return none, err
	}
	message := strings.TrimSpace(request.Message)
	if message == "" || strings.ContainsRune(message, 0) || len(message) > 16<<10 {
		return none, toolproto.Refuse(toolproto.KindArgument, "message must be 1 to 16384 bytes of text")
	}
	if request.Join {
		if err := s.undoCommits(ctx); err != nil {
			return none, err
		}
	}
	if err := s.onBranch(ctx); err != nil {
		return none, err
	}
	add := []string{"add", "--sparse", "--all", "--"}
	if len(request.Paths) == 0 {
		add = append(add, ".")
	}
	for _, p := range request.Paths {
		rel, err := s.commitPath(p)
		if err != nil {
			return none, err
		}
		add = append(add, rel)
	}
	_, err := s.runGit(ctx, &gitRun{env: literalPaths}, add...)
	if nested := s.refuseNestedRepos(ctx, gitRefused(err), add[3:]); nested != nil {
		return none, nested
	}
	if err != nil {
		return none, asRefusal(err, s.adviseIgnored(ctx, ""))
	}
	if err := s.commitStaged(ctx, message, request.When); err != nil {
		return none, err
	}
	head, err := s.commitOf(ctx, "HEAD")
	if err != nil {
		return none, asRefusal(err, "HEAD names no commit")
	}
	// List the changed files while the commit is pushed.
	var changed string
	var ignored []toolproto.IgnoredFile
	var asked, notListed error
	var asking sync.WaitGroup
	asking.Go(func() { ignored, notListed = s.listIgnored(ctx) })
	asking.Go(func() {
		changed, asked = s.runGit(ctx, nil, "diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-status",
			"--no-renames", "--no-ext-diff", "--no-textconv", "-m", "--first-parent", head)
	})
	err = s.pushBranch(ctx, head)
	asking.Wait()
	if err = cmp.Or(err, asRefusal(asked, ""), notListed); err != nil {
		return none, err
	}
	result := toolproto.GitCommitResult{Commit: head, Branch: s.repo.branch, Files: []toolproto.FileState{},
		Ignored: ignored}
	fields := strings.Split(changed, "\x00")
	for i := 0; i+1 < len(fields) && len(result.Files) < maxStatus; i += 2 {
		result.Files = append(result.Files, toolproto.FileState{Status: fields[i], Path: charset.ShowBytes(fields[i+1])})
	}
	return result, nil
}

// undoCommits goes back to the last push on the run's branch, and leaves the files as they are.
func (s *Server) undoCommits(ctx context.Context) error {
	since, err := s.lastPushed(ctx)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"symbolic-ref", "HEAD", "refs/heads/" + s.repo.branch}, {"reset", "--quiet", "--mixed", since},
	} {
		if _, err := s.runGit(ctx, nil, args...); err != nil {
			return asRefusal(err, "")
		}
	}
	return nil
}

// commitStaged commits the index. It also succeeds if the index has no changes but the branch has an unpushed commit:
// the model may have committed itself, or an earlier push was refused.
func (s *Server) commitStaged(ctx context.Context, message string, when int64) error {
	commit := []string{"commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace", "--file=-"}
	if s.repo.signoff != "" {
		commit = append(commit, "--signoff")
	}
	_, err := s.runGit(ctx, &gitRun{stdin: message + "\n", env: dateEnv(when)}, commit...)
	if !gitRefused(err) {
		return err
	}
	if _, differs := s.runGit(ctx, nil, "diff", "--cached", "--quiet", "--no-ext-diff",
		"--no-textconv"); gitRefused(differs) {
		return asRefusal(err, "") // there are changes, and they cannot be committed
	} else if differs != nil {
		return differs
	}
	since, err := s.lastPushed(ctx)
	if err != nil {
		return err
	}
	head, err := s.commitOf(ctx, "HEAD")
	if err != nil {
		return asRefusal(err, "HEAD names no commit")
	}
	if head == since {
		return toolproto.Refuse(toolproto.KindNothing, "nothing to commit: no file differs from the last commit%s",
			cmp.Or(s.adviseIgnored(ctx, ". "), " (ignored files are never committed)"))
	}
	return nil
}

// dateEnv returns the variables that set the date of a commit, in seconds since 1970. 0 means now.
func dateEnv(when int64) []string {
	if when == 0 {
		return nil
	}
	at := fmt.Sprintf("@%d +0000", when)
	return []string{"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at}
}

// commitPath checks a path for git add. It may name a deleted file, but not a path outside of the workspace and not a
// pattern.
func (s *Server) commitPath(p string) (string, error) {
	if p == "." || p == "./" {
		return ".", nil
	}
	if strings.HasPrefix(p, "-") {
		return "", toolproto.Refuse(toolproto.KindArgument, "%s is not a path; write a file of this name as ./%s", p, p)
	}
	rel, err := s.placePath(p)
	if err != nil {
		return "", err
	}
	// A symlink is committed as itself, so its target does not matter.
	if info, err := s.root.Lstat(rel); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return rel, nil
	}
	if _, err := s.resolvePath(rel); err != nil {
		return "", err
	}
	return rel, nil
}

// onBranch returns a refusal unless HEAD is on the run's branch.
func (s *Server) onBranch(ctx context.Context) error {
	at, err := s.headRef(ctx)
	if err != nil {
		return err
	}
	if at == "" {
		return toolproto.Refuse(toolproto.KindGit, "HEAD is not on %s but on no branch; go back with: git checkout %s",
			s.repo.branch, s.repo.branch)
	}
	if at != "refs/heads/"+s.repo.branch {
		return toolproto.Refuse(toolproto.KindGit, "HEAD is not on %s but on %q; go back with: git checkout %s",
			s.repo.branch, strings.TrimPrefix(at, "refs/heads/"), s.repo.branch)
	}
	return nil
}

// lastPushed returns the newest commit of the branch that origin is known to have.
func (s *Server) lastPushed(ctx context.Context) (string, error) {
	at, err := s.findCommit(ctx, "refs/remotes/origin/"+s.repo.branch)
	if at == "" && err == nil {
		at = s.repo.head
	}
	return at, err
}

func (s *Server) handlePush(ctx context.Context, _ toolproto.Empty) (toolproto.PushResult, error) {
	s.repo.mu.Lock()
	defer s.repo.mu.Unlock()
	if err := s.checkPrepared(); err != nil {
		return toolproto.PushResult{}, err
	}
	if err := s.onBranch(ctx); err != nil {
		return toolproto.PushResult{}, err
	}
	head, err := s.commitOf(ctx, "HEAD")
	if err != nil {
		return toolproto.PushResult{}, asRefusal(err, "HEAD names no commit")
	}
	if err := s.pushBranch(ctx, head); err != nil {
		return toolproto.PushResult{}, err
	}
	return toolproto.PushResult{Commit: head, Branch: s.repo.branch}, nil
}

// pushBranch pushes a commit as the branch, and records that origin has it.
func (s *Server) pushBranch(ctx context.Context, head string) error {
	_, err := s.runGit(ctx, nil, "push", "--quiet", "--no-verify", s.repo.origin, head+":refs/heads/"+s.repo.branch)
	if err == nil {
		_, err = s.runGit(ctx, nil, "update-ref", "refs/remotes/origin/"+s.repo.branch, head)
	}
	return asRefusal(err, "the commit is there but not pushed; after an amend or a rebase: git reset --soft origin/"+
		s.repo.branch+" and commit again; to undo the commit: git reset --soft HEAD~1")
}

// asRefusal turns a failure of git into a refusal with its message for the model. It returns other errors unchanged.
func asRefusal(err error, after string) error {
	var said *gitFailed
	if errors.As(err, &said) {
		return said.toRefusal(after)
	}
	return err
}
