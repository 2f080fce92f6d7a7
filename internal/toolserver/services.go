package toolserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"company/internal/toolproto"
)

const (
	// readyPoll is the pause between two questions whether a service is ready. It
	// doubles up to maxReadyPoll.
	readyPoll    = 10 * time.Millisecond
	maxReadyPoll = 200 * time.Millisecond
	// readyCommand bounds one such question.
	readyCommand = 10 * time.Second
	// maxServiceTail is how much of a log is shown, in bytes.
	maxServiceTail = 3 << 10
)

// services are the servers that run beside commands, as the image lists them. The
// zero value has none.
type services struct {
	list     toolproto.Services
	env      []string // of the servers themselves
	children *children

	starting sync.Mutex // one start, or restart, at a time
	running  map[string]*runningService
	failed   error // a start failed: none is tried again
	// abandoned are those that served, were ended by a command, and did not start again.
	abandoned map[string]bool
}

// runningService is one server's process.
type runningService struct {
	pid  int
	done chan struct{} // closed at its end
}

// readServices reads what an image lists. An image without a list has none.
func readServices(file string, c *children, env []string) (*services, error) {
	s := &services{children: c, running: map[string]*runningService{}, abandoned: map[string]bool{}}
	text, err := os.ReadFile(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s.list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of services: %w", err)
	}
	s.env = s.addEnv(env)
	return s, nil
}

// addEnv adds to a command's environment the addresses of the services. They
// replace variables of the same names.
func (s *services) addEnv(env []string) []string {
	set := map[string]string{}
	for _, one := range s.list.Services {
		for name, value := range one.Env {
			if _, taken := set[name]; !taken { // DATABASE_URL is the first database's
				set[name] = value
			}
		}
	}
	if len(set) == 0 {
		return env
	}
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, ours := set[name]
		return ours
	})
	for _, name := range slices.Sorted(maps.Keys(set)) {
		out = append(out, name+"="+set[name])
	}
	return out
}

// ensureRunning starts the services that do not run, and waits until they serve. After one
// that did not start none is tried again.
func (s *services) ensureRunning(ctx context.Context) error {
	s.starting.Lock()
	defer s.starting.Unlock()
	return s.requireAll(ctx)
}

// requireAll is ensureRunning. The caller holds starting.
func (s *services) requireAll(ctx context.Context) error {
	if s.failed != nil {
		return s.failed
	}
	if s.failed = errors.Join(s.startMissing(ctx)...); s.failed != nil {
		s.killServices()
	}
	return s.failed
}

// keepRunning is ensureRunning before a command. One that served before and does not start again
// is no reason to refuse commands: they have ended it, and they alone can free the disk, mend its
// data, or commit the work. note says so once; from then on it is the commands' own.
func (s *services) keepRunning(ctx context.Context) (note string, err error) {
	s.starting.Lock()
	defer s.starting.Unlock()
	if s.failed != nil || len(s.running) == 0 {
		return "", s.requireAll(ctx)
	}
	var all []string
	for i, err := range s.startMissing(ctx) {
		if err == nil {
			continue
		}
		one := s.list.Services[i]
		s.abandoned[one.Name] = true
		s.running[one.Name].endProcess()
		all = append(all, strings.TrimPrefix(err.Error(), "toolbox: ")+"\n[it served before, and is not started again in this container: start it yourself where you need it]")
	}
	return strings.Join(all, "; "), nil
}

// startMissing starts the services that do not run: all of them at first, later those that a
// command has ended, unless another server has their place. The errors are in the order of the list.
func (s *services) startMissing(ctx context.Context) []error {
	// A caller that goes away does not end a start: the next one waits for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(s.list.TimeoutS)*time.Second)
	defer cancel()
	errs := make([]error, len(s.list.Services))
	var wg sync.WaitGroup
	for i, one := range s.list.Services {
		old := s.running[one.Name]
		if old != nil && (!old.hasEnded() || s.abandoned[one.Name] || len(one.Ready) > 0 && s.isReady(ctx, one)) {
			continue
		}
		r := &runningService{done: make(chan struct{})}
		s.running[one.Name] = r
		wg.Go(func() { errs[i] = s.startService(ctx, one, r) })
	}
	wg.Wait()
	return errs
}

func (r *runningService) hasEnded() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// startService starts one server and waits until it serves.
func (s *services) startService(ctx context.Context, one toolproto.Service, r *runningService) error {
	fail := func(err error) error {
		return toolproto.Refuse(toolproto.KindService, "%s%s did not start: %v%s", toolproto.ServiceFailed, one.Name, err, describeLog(one))
	}
	defer func() {
		if r.pid == 0 {
			close(r.done)
		}
	}()
	if err := layOutData(one); err != nil {
		return fail(err)
	}
	log, err := openLog(one)
	if err != nil {
		return fail(err)
	}
	defer log.Close()
	program, err := findProgram(one.Start[0], s.env)
	if err != nil {
		return fail(err)
	}
	cmd := &exec.Cmd{Path: program, Args: one.Start, Dir: one.Dir, Env: s.env, Stdout: log, Stderr: log,
		// A group of its own: a command that ends its own group does not end it.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if err := s.children.start(cmd); err != nil {
		return fail(err)
	}
	r.pid = cmd.Process.Pid
	var exit error
	go func() {
		defer close(r.done)
		exit = s.children.wait(cmd)
	}()
	for pause := readyPoll; ; pause = min(2*pause, maxReadyPoll) {
		select {
		case <-r.done:
			if exit == nil {
				exit = errors.New("it ended")
			}
			return fail(exit)
		case <-ctx.Done():
			return fail(fmt.Errorf("it does not answer after %d seconds", s.list.TimeoutS))
		case <-time.After(pause):
		}
		if s.isReady(ctx, one) {
			return nil
		}
	}
}

// isReady asks a service whether it serves.
func (s *services) isReady(ctx context.Context, one toolproto.Service) bool {
	if len(one.Ready) == 0 {
		return true
	}
	program, err := findProgram(one.Ready[0], s.env)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, readyCommand)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, one.Ready[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = one.Dir, s.env, time.Second
	return s.children.start(cmd) == nil && s.children.wait(cmd) == nil
}

// stopServices ends the servers, for good.
func (s *services) stopServices() {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.failed = errors.New("the services were stopped")
	s.killServices()
}

// killServices ends all servers with what they started. No start is under way.
func (s *services) killServices() {
	for _, r := range s.running {
		r.endProcess()
	}
}

// endProcess ends a server with what it started.
func (r *runningService) endProcess() {
	if r.pid == 0 || r.hasEnded() {
		return
	}
	for _, pid := range append(listDescendants(r.pid), r.pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-r.done
}

// listPIDs are the processes of the services.
func (s *services) listPIDs() map[int]bool {
	s.starting.Lock()
	defer s.starting.Unlock()
	out := map[int]bool{}
	for _, r := range s.running {
		if r.pid == 0 || r.hasEnded() {
			continue
		}
		out[r.pid] = true
		for _, pid := range listDescendants(r.pid) {
			out[pid] = true
		}
	}
	return out
}

// layOutData gives a service its folder, and a copy of its prepared data where
// there is none from an earlier start in this container.
func layOutData(one toolproto.Service) error {
	if err := os.MkdirAll(one.Dir, 0o700); err != nil {
		return err
	}
	to := filepath.Join(one.Dir, "data")
	if one.Data == "" {
		return nil
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return copyPrivate(one.Data, to)
}

// copyPrivate copies folders and files so that their owner alone may use them: some
// servers refuse others.
func copyPrivate(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		in, err := os.Open(p)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Close())
	})
}

// openLog opens the log for the service. A command may have put something else in its
// place; to open a pipe, for one, would wait for a reader, and every command with it.
func openLog(one toolproto.Service) (*os.File, error) {
	name := logOf(one)
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		if err := os.RemoveAll(name); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0o600)
}

func logOf(one toolproto.Service) string { return filepath.Join(one.Dir, "log") }

// describeLog is the end of a service's log, under a line that says so.
func describeLog(one toolproto.Service) string {
	tail := readTail(logOf(one), maxServiceTail)
	if tail == "" {
		return "\n[its log is empty]"
	}
	return "\n[the end of its log]\n" + tail
}

// readTail is the end of a file, from the beginning of a line.
func readTail(file string, most int64) string {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	from := max(0, info.Size()-most)
	text, err := io.ReadAll(io.NewSectionReader(f, from, most))
	if err != nil {
		return ""
	}
	s := string(text)
	if _, rest, ok := strings.Cut(s, "\n"); ok && from > 0 {
		s = rest
	}
	return strings.ToValidUTF8(strings.TrimSpace(s), "?")
}
