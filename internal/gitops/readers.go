package gitops

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// idleTime is how long an unused reader is kept, because requests for a repository come in bursts.
const idleTime = 500 * time.Millisecond

// reader is a git cat-file --batch-command process for one repository. It sees references and new objects as they are
// at each request.
type reader struct {
	dir string
	// isShared is false for a reader that checks a push: it sees objects that are not accepted yet, or has limits.
	isShared bool

	cmd  *exec.Cmd
	kill context.CancelFunc
	in   io.WriteCloser
	out  *bufio.Reader
	err  *gitexec.Head
	idle *time.Timer // ends the process if no batch reuses it
}

// startReader starts a process that outlives ctx. The batch that uses it handles the end of ctx.
func (s *Store) startReader(ctx context.Context, dir string, env []string, limited bool) (*reader, error) {
	ctx, kill := context.WithCancel(context.WithoutCancel(ctx))
	r := &reader{dir: dir, isShared: isShared(env, limited), kill: kill, err: gitexec.NewHead(gitexec.MaxStderr)}
	git := s.command(call{dir: dir, args: []string{"cat-file", "--batch-command"}, env: env, limited: limited})
	r.cmd = git.Process(ctx)
	r.cmd.Stderr = r.err
	in, err := r.cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		if out, err = r.cmd.StdoutPipe(); err == nil {
			r.in, r.out = in, bufio.NewReaderSize(out, 64<<10)
			err = git.Start(r.cmd)
		}
	}
	if err != nil {
		kill()
		return nil, company.E(company.EGit, "git cat-file could not be run").Wrap(err)
	}
	return r, nil
}

// isShared reports whether other batches may reuse a process.
func isShared(env []string, limited bool) bool { return env == nil && !limited }

// endProcess ends the process, waits for it, and returns its exit code.
func (r *reader) endProcess() int {
	_ = r.in.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(r.out, 1)) // usually already at its end
	r.kill()
	_ = r.cmd.Wait()
	return gitexec.ExitCode(r.cmd)
}

// readers keeps one idle process for each repository, for idleTime.
type readers struct {
	mu   sync.Mutex
	idle map[string]*reader // by folder
}

// takeIdle removes and returns the idle process of a repository, or returns nil.
func (k *readers) takeIdle(dir string) *reader {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.idle[dir]
	if r == nil || !r.idle.Stop() {
		return nil
	}
	delete(k.idle, dir)
	return r
}

// keepIdle keeps a shared process for idleTime. It returns false if the process is not shared or the repository
// already has an idle one.
func (k *readers) keepIdle(r *reader) bool {
	if !r.isShared {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.idle[r.dir] != nil {
		return false
	}
	if k.idle == nil {
		k.idle = map[string]*reader{}
	}
	k.idle[r.dir] = r
	r.idle = time.AfterFunc(idleTime, func() {
		k.mu.Lock()
		if k.idle[r.dir] == r {
			delete(k.idle, r.dir)
		}
		k.mu.Unlock()
		r.endProcess()
	})
	return true
}
