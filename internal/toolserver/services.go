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

	"company/internal/shell"
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
}

// runningService is one server's process.
type runningService struct {
	pid  int
	done chan struct{} // closed at its end
}

// readServices reads what an image lists. An image without a list has none.
func readServices(file string, c *children, env []string) (*services, error) {
	s := &services{children: c, running: map[string]*runningService{}}
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

// ensureRunning starts the services that do not run, and waits until they serve: all
// of them at first, later those that a command has ended. After one that did not
// start none is tried again.
func (s *services) ensureRunning(ctx context.Context) error {
	if len(s.list.Services) == 0 {
		return nil
	}
	s.starting.Lock()
	defer s.starting.Unlock()
	if s.failed != nil {
		return s.failed
	}
	// A caller that goes away does not end a start: the next one waits for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(s.list.TimeoutS)*time.Second)
	defer cancel()
	errs := make([]error, len(s.list.Services))
	var wg sync.WaitGroup
	for i, one := range s.list.Services {
		if r := s.running[one.Name]; r != nil && !r.hasEnded() {
			continue
		}
		r := &runningService{done: make(chan struct{})}
		s.running[one.Name] = r
		wg.Go(func() { errs[i] = s.startService(ctx, one, r) })
	}
	wg.Wait()
	if s.failed = errors.Join(errs...); s.failed != nil {
		s.killServices()
	}
	return s.failed
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
		if r.pid == 0 || r.hasEnded() {
			continue
		}
		for _, pid := range append(listDescendants(r.pid), r.pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		<-r.done
	}
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

// gateScript is what becomes of a gate's container that has services: the command,
// and behind its output, where it fails, the end of each service's log. The exit
// code stays the command's. The script is the first process, which no command can
// kill. A log is cut by bytes before it is cut by lines, since one line may fill the disk.
// 1,200 bytes leave room for three logs and the check's own words in toolproto.OutputTail.
const gateScript = `"$@"
code=$?
if [ "$code" -ne 0 ]; then
	for log in %s; do
		[ -s "$log" ] || continue
		printf '\n[the end of %%s]\n' "$log" >&2
		tail -c 1200 "$log" | tail -n 20 >&2
	done
fi
exit "$code"`

// describeEnded is the variable toolproto.ServicesEnded. A process that is gone is no proof:
// a test may have started its service anew.
func (s *services) describeEnded() []string {
	if len(s.list.Services) == 0 {
		return nil
	}
	var b strings.Builder
	for _, one := range s.list.Services {
		ready := "false"
		if len(one.Ready) > 0 {
			ready = "timeout 10"
			for _, word := range one.Ready {
				ready += " " + shell.QuoteArgument(word)
			}
		}
		fmt.Fprintf(&b, "kill -0 %d 2>/dev/null || %s >/dev/null 2>&1 || printf '\\n%%s\\n' %s >&2\n",
			s.running[one.Name].pid, ready, shell.QuoteArgument(toolproto.ServiceEnded+one.Name+"]"))
	}
	return []string{toolproto.ServicesEnded + "=" + b.String()}
}

// wrapGate is a gate's command where there are services.
func (s *services) wrapGate(argv []string) []string {
	if len(s.list.Services) == 0 {
		return argv
	}
	var logs []string
	for _, one := range s.list.Services {
		logs = append(logs, "'"+logOf(one)+"'")
	}
	return append([]string{"/bin/sh", "-c", fmt.Sprintf(gateScript, strings.Join(logs, " ")), "sh"}, argv...)
}
