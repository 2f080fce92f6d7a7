package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/container/image"
	"company/internal/lib/lazyregexp"
)

// feedLine is a line of the feed as people see it: it begins with the time.
var feedLine = lazyregexp.New(`^[0-9]{2}:[0-9]{2}:[0-9]{2} `)

// first are the moments of one submission, from the start of the program.
type first struct{ line, feed, request time.Duration }

// benchSubmit measures a person's waits after company submit in a repository
// without an office: the first line, the first event, and the first question to
// the model. Each sample is a process of its own in an office of its own; the
// image is there already.
func benchSubmit(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	if err := w.openDocker(ctx); err != nil {
		return nil, err
	}
	asked, err := newListener()
	if err != nil {
		return nil, err
	}
	defer asked.close()
	dir := filepath.Join(w.dir, "submit")
	repo := filepath.Join(dir, "repo")
	if err := errors.Join(os.MkdirAll(repo, 0o700), os.Mkdir(filepath.Join(dir, "run"), 0o700)); err != nil {
		return nil, err
	}
	if err := commitFirst(ctx, repo, w.office); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.dropProject(context.WithoutCancel(ctx), repo)) }()
	env := append(programEnv(dir), "COMPANY_WORKERS_WARM=0",
		// Checks would be run on the base first: that is the project's time.
		"COMPANY_GATES_LINT=none", "COMPANY_GATES_TEST=none", "COMPANY_GATES_NONE=allow",
		"COMPANY_MODELS_DEFAULT_ADAPTER=openai", "COMPANY_MODELS_DEFAULT_MODEL=bench",
		"COMPANY_MODELS_DEFAULT_BASE_URL="+asked.baseURL())

	var firsts []first
	got, err := takeSamples(ctx, w.sampleCount(15, 1),
		func() (time.Duration, error) {
			if err := os.RemoveAll(filepath.Join(repo, ".company")); err != nil {
				return 0, err
			}
			f, err := submitOnce(ctx, w.Program, repo, env, asked)
			firsts = append(firsts, f)
			return f.line, err
		},
		timeFunc(func() error {
			cmd := exec.CommandContext(ctx, w.Program, "version")
			cmd.Env = env
			return cmd.Run()
		}),
	)
	if err != nil {
		return nil, err
	}
	pick := func(of func(first) time.Duration) []time.Duration {
		var out []time.Duration
		for _, f := range firsts[1:] { // the first round is thrown away
			out = append(out, of(f))
		}
		return out
	}
	for _, l := range []struct {
		what string
		of   func(first) time.Duration
		most float64
	}{
		{"cold submit to its first line", func(f first) time.Duration { return f.line }, 100},
		{"cold submit to the first feed line", func(f first) time.Duration { return f.feed }, 150},
		{"cold submit to the first model request", func(f first) time.Duration { return f.request }, 300},
	} {
		line := compareLine(l.what, "company version", pick(l.of), got[1])
		lines = append(lines, line.withTarget(fmt.Sprintf("≤ %g ms", l.most), line.Ours <= l.most))
	}
	return lines, nil
}

// commitFirst commits the files of a folder, with a README that no other has.
func commitFirst(ctx context.Context, repo, text string) error {
	if err := os.WriteFile(filepath.Join(repo, "README"), []byte(text), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "first"}} {
		if _, err := runGit(ctx, repo, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// programEnv is the environment of a company that knows nothing of this user but where
// images are.
func programEnv(home string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + filepath.Join(home, "run")}
	for _, name := range []string{"DOCKER_HOST", "XDG_CACHE_HOME"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// submitOnce starts a submission, waits for its question to the model, and
// interrupts it.
func submitOnce(ctx context.Context, program, repo string, env []string, asked *listener) (f first, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "submit", "--no-input", "measure the first seconds")
	cmd.Dir, cmd.Env = repo, env
	cmd.WaitDelay = 10 * time.Second
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return f, err
	}
	asked.resetFirst()
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return f, err
	}
	var tail []string
	said := make(chan struct{})
	go func() { // it ends with the process
		defer close(said)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			at := time.Since(began)
			f.line = cmp.Or(f.line, at)
			if f.feed == 0 && feedLine.Match(lines.Bytes()) {
				f.feed = at
			}
			tail = append(tail, lines.Text())
		}
	}()
	select {
	case at := <-asked.first:
		f.request = at.Sub(began)
		err = cmd.Process.Signal(syscall.SIGINT)
	case <-said:
		err = errors.New("it ended before it asked the model")
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	<-said
	_ = cmd.Wait() // an interrupt is exit 130
	if err != nil || f.feed == 0 {
		return f, company.E(company.EInternal, "company submit did not come to its first question").
			Because(strings.Join(tail, "\n")).Wrap(err)
	}
	return f, nil
}

// dropProject removes the image that the submissions had made.
func (w *benchEnv) dropProject(ctx context.Context, repo string) error {
	mirrors, err := filepath.Glob(filepath.Join(repo, ".company", "state", "git", "*.git"))
	if err != nil || len(mirrors) != 1 {
		return err // nothing came so far
	}
	head, err := runGit(ctx, repo, nil, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	img, err := w.images.Ensure(ctx, image.Request{Repo: &image.Repo{MirrorDir: mirrors[0], Commit: company.OID(head)}})
	if err != nil {
		return err
	}
	_, err = w.images.Prune(ctx, func(e image.ImageEntry) bool {
		return e.Tag == img.Tag || strings.HasSuffix(e.Tag, ":repo-"+string(img.Layers[len(img.Layers)-1].Key))
	})
	return err
}

// listener is a model's server that says which model it has, never answers a
// question, and tells when the first one came.
type listener struct {
	http    *http.Server
	l       net.Listener
	serving sync.WaitGroup
	stop    chan struct{}
	first   chan time.Time // of one; see forget
}

func newListener() (*listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the model of the bench: %w", err)
	}
	s := &listener{l: l, stop: make(chan struct{}), first: make(chan time.Time, 1)}
	s.http = &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost { // what models there are is no question to one
				_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"bench","object":"model"}]}`)
				return
			}
			select {
			case s.first <- time.Now():
			default:
			}
			select {
			case <-r.Context().Done():
			case <-s.stop:
			}
		})}
	s.serving.Go(func() { _ = s.http.Serve(l) }) // it ends with close
	return s, nil
}

func (s *listener) baseURL() string { return "http://" + s.l.Addr().String() + "/v1" }

// resetFirst makes the next request the first.
func (s *listener) resetFirst() {
	select {
	case <-s.first:
	default:
	}
}

func (s *listener) close() {
	close(s.stop)
	_ = s.http.Close()
	s.serving.Wait()
}
