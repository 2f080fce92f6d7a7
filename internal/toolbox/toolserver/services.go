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

	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

const (
	// readyPoll is the pause between two checks whether a service is ready. It doubles up to maxReadyPoll.
	readyPoll    = 10 * time.Millisecond
	maxReadyPoll = 200 * time.Millisecond
	// readyCommand is the timeout of one such check.
	readyCommand = 10 * time.Second
	// maxServiceTail limits how much of a log is shown, in bytes.
	maxServiceTail = 3 << 10
)

// services are the servers that run beside commands, as listed in the image. The zero value has no servers.
type services struct {
	list     toolproto.Services
	env      []string // environment of the servers
	children *children

	starting sync.Mutex // one start, or restart, at a time
	running  map[string]*runningService
	failed   error // set after a failed start; no start is tried again
	// abandoned are servers that ran, were ended by a command, and did not start again.
	abandoned map[string]bool
}

// runningService is one server's process.
type runningService struct {
	pid  int
	done chan struct{} // closed when the process ends
}

// readServices reads the list of services in an image. A missing list means no services.
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

// addEnv returns the environment of commands with the addresses of the services. They replace variables of the same
// names.
func (s *services) addEnv(env []string) []string {
	set := map[string]string{}
	for _, one := range s.list.Services {
		for name, value := range one.Env {
			if _, taken := set[name]; !taken { // DATABASE_URL is that of the first database
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

// ensureRunning starts the services that do not run, and waits until they are ready. After a failed start it returns
// the same error and does not try again.
func (s *services) ensureRunning(ctx context.Context) error {
	s.starting.Lock()
	defer s.starting.Unlock()
	return s.requireAll(ctx)
}

// requireAll is like ensureRunning. The caller holds starting.
func (s *services) requireAll(ctx context.Context) error {
	if s.failed != nil {
		return s.failed
	}
	if s.failed = errors.Join(s.startMissing(ctx)...); s.failed != nil {
		s.killServices()
	}
	return s.failed
}

// keepRunning is like ensureRunning, for use before a command. It does not fail if a service that ran before cannot be
// restarted. Commands ended it, and only commands can free the disk, repair its data or commit the work. note reports
// this once. From then on, commands must start the service themselves.
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
		all = append(all, strings.TrimPrefix(err.Error(), "toolbox: ")+
			"\n[it served before, and is not started again in this container: start it yourself where you need it]")
	}
	return strings.Join(all, "; "), nil
}

// startMissing starts the services that do not run: first all of them, later those that a command has ended, unless
// another server has taken their place. The errors are in the order of the list.
func (s *services) startMissing(ctx context.Context) []error {
	// A caller that goes away does not stop a start: the next caller waits for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(s.list.TimeoutS)*time.Second)
	defer cancel()
	errs := make([]error, len(s.list.Services))
	var wg sync.WaitGroup
	for i, one := range s.list.Services {
		old := s.running[one.Name]
		if old != nil && (!old.hasEnded() || s.abandoned[one.Name] || len(one.Ready) > 0 && s.isReady(ctx, one)) {
			continue
		}
		service := &runningService{done: make(chan struct{})}
		s.running[one.Name] = service
		wg.Go(func() { errs[i] = s.startService(ctx, one, service) })
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

// startService starts one server and waits until it is ready.
func (s *services) startService(ctx context.Context, one toolproto.Service, service *runningService) error {
	fail := func(err error) error {
		return toolproto.Refuse(toolproto.KindService, "%s%s did not start: %v%s", toolproto.ServiceFailed, one.Name, err,
			describeLog(one))
	}
	defer func() {
		if service.pid == 0 {
			close(service.done)
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
		// In a process group of its own, so that a command that kills its own group does not end it.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if err := s.children.start(cmd); err != nil {
		return fail(err)
	}
	service.pid = cmd.Process.Pid
	var exit error
	go func() {
		defer close(service.done)
		exit = s.children.wait(cmd)
	}()
	for pause := readyPoll; ; pause = min(2*pause, maxReadyPoll) {
		select {
		case <-service.done:
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

// isReady runs the check whether a service is ready.
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
	cmd.Dir = one.Dir
	cmd.Env = s.env
	cmd.WaitDelay = time.Second
	return s.children.start(cmd) == nil && s.children.wait(cmd) == nil
}

// stopServices ends the servers. They cannot be started again.
func (s *services) stopServices() {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.failed = errors.New("the services were stopped")
	s.killServices()
}

// killServices kills all servers and their child processes. No start may be in progress.
func (s *services) killServices() {
	for _, r := range s.running {
		r.endProcess()
	}
}

// endProcess kills a server and its child processes, and waits for it.
func (r *runningService) endProcess() {
	if r.pid == 0 || r.hasEnded() {
		return
	}
	for _, pid := range append(listDescendants(r.pid), r.pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-r.done
}

// listPIDs returns the ids of all processes of the services.
func (s *services) listPIDs() map[int]bool {
	s.starting.Lock()
	defer s.starting.Unlock()
	out := map[int]bool{}
	for _, service := range s.running {
		if service.pid == 0 || service.hasEnded() {
			continue
		}
		out[service.pid] = true
		for _, pid := range listDescendants(service.pid) {
			out[pid] = true
		}
	}
	return out
}

// layOutData creates the folder of a service. It copies the prepared data there, unless an earlier start in this
// container did so.
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

// copyPrivate copies folders and files with permissions for the owner only, because some servers refuse others.
func copyPrivate(from, to string) error {
	return filepath.WalkDir(from, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		file, err := os.Open(p)
		if err != nil {
			return err
		}
		defer file.Close()
		out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, file)
		return errors.Join(err, out.Close())
	})
}

// openLog opens the log of the service. It removes anything but a regular file in its place, which a command may have
// put there: opening a pipe would wait for a reader, and block every command.
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

// describeLog returns the end of a service's log, with a heading line.
func describeLog(one toolproto.Service) string {
	tail := readTail(logOf(one), maxServiceTail)
	if tail == "" {
		return "\n[its log is empty]"
	}
	return "\n[the end of its log]\n" + tail
}

// readTail returns the end of a file as a terminal shows it, from the beginning of a line. It returns "" if the file
// cannot be read.
func readTail(file string, limit int64) string {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	from := max(0, info.Size()-limit)
	text, err := io.ReadAll(io.NewSectionReader(f, from, limit))
	if err != nil {
		return ""
	}
	s := string(text)
	if _, rest, ok := strings.Cut(s, "\n"); ok && from > 0 {
		s = rest
	}
	return strings.ToValidUTF8(strings.TrimSpace(safetext.ShowScreen(s)), "?")
}
