// Package testenv sets up what end-to-end tests run: the company binary as a
// user has it, a git repository with a bare origin, a model server outside of
// it, and an office. It owns these for one test and removes them after it. It
// promises that nothing in it is part of company: it sees the program from
// outside, by its commands, files, Docker and git.
package testenv

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/adapters/scriptedtest"
	"company/internal/lib/hosttest"
)

// Patience is how long a command or a walk may take. It is for a machine that is
// busy, not a measure.
const Patience = 20 * time.Minute

// House is one office with its project, for one test.
type House struct {
	T      testing.TB
	Bin    string // the company binary
	Dir    string // folder of everything
	Repo   string // the president's checkout, which is also the office's place
	Origin string // bare remote
	Model  *scripted.Server
	Env    []string
	// Profile is the YAML of the one model profile; when empty, the model
	// server over OpenAI's protocol. "none": no model is configured.
	Profile string
	// Under, when set, is a program and its first arguments that starts the
	// commands of company, in its own place (it execs them).
	Under []string
}

var (
	buildOnce sync.Once
	built     string
	buildErr  error
)

// Binary builds the company binary once per test process. COMPANY_TEST_BINARY names another one to use, or says "asis"
// to use the one that is built.
func Binary(t testing.TB) string {
	t.Helper()
	buildOnce.Do(func() {
		root, err := Root()
		if err != nil {
			buildErr = err
			return
		}
		if built = os.Getenv("COMPANY_TEST_BINARY"); filepath.IsAbs(built) {
			return
		}
		built = filepath.Join(root, "bin", "company")
		if _, err := os.Stat(built); err == nil && os.Getenv("COMPANY_TEST_BINARY") == "asis" {
			return
		}
		// Another test process may run the program while this one builds it.
		fresh := fmt.Sprintf("%s.%d", built, os.Getpid())
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", fresh, "./cmd/company")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0") // as make build does
		out, err := cmd.CombinedOutput()
		if err = cmp.Or(err, os.Rename(fresh, built)); err != nil {
			buildErr = fmt.Errorf("build company: %w\n%s", err, out)
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return built
}

// Root is the root of the product's module, also for tests of a module below it.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, serr := os.Stat(filepath.Join(dir, "cmd", "company")); serr == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no cmd/company above the working directory")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// New makes a repository of files with one commit on main and a bare origin,
// an office whose models are all answered by brain, and cleans up after the
// test: processes, containers of the office, folders.
func New(t testing.TB, brain scripted.Responder, files map[string]string, opts ...scripted.Option) *House {
	t.Helper()
	return NewFilled(t, brain, func(h *House) {
		for name, text := range files {
			h.Write(name, text)
		}
	}, opts...)
}

// NewFilled is New for a repository that fill puts into the checkout.
func NewFilled(t testing.TB, brain scripted.Responder, fill func(*House), opts ...scripted.Option) *House {
	t.Helper()
	hosttest.NeedsDocker(t)
	h := &House{T: t, Bin: Binary(t), Dir: t.TempDir()}
	h.Repo, h.Origin = filepath.Join(h.Dir, "repo"), filepath.Join(h.Dir, "origin.git")
	if brain != nil {
		srv, err := scripted.NewServer(brain, append([]scripted.Option{scriptedtest.OtherWires()}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		h.Model = srv
		t.Cleanup(func() {
			if err := srv.Close(); err != nil {
				t.Errorf("close the model server: %v", err)
			}
		})
	}
	h.Env = append(os.Environ(),
		"HOME="+filepath.Join(h.Dir, "home"), "XDG_CONFIG_HOME="+filepath.Join(h.Dir, "config"),
		"XDG_STATE_HOME="+filepath.Join(h.Dir, "state"),
		// The image cache is the machine's: it is what makes runs quick.
		"XDG_CACHE_HOME="+cacheHome(), "XDG_RUNTIME_DIR="+filepath.Join(h.Dir, "run"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=President", "GIT_AUTHOR_EMAIL=president@example.com",
		"GIT_COMMITTER_NAME=President", "GIT_COMMITTER_EMAIL=president@example.com",
		"TEST_MODEL_KEY=canary-key-not-for-containers",
		// A warm container's labels cannot name its run; tests look runs up by
		// label. What is kept warm has a test of its own.
		"COMPANY_WORKERS_WARM=0",
		// A test that kills or interrupts a command does so to the work. The company in the background has tests of its
		// own.
		inForeground,
	)
	for _, d := range []string{"home", "config", "state", "run"} {
		if err := os.MkdirAll(filepath.Join(h.Dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.Git("", "init", "-q", "--bare", "-b", "main", h.Origin)
	h.Git("", "init", "-q", "-b", "main", h.Repo)
	fill(h)
	h.Git(h.Repo, "add", "-A")
	h.firstCommit()
	h.Git(h.Repo, "remote", "add", "origin", h.Origin)
	h.Git(h.Repo, "push", "-q", "origin", "main")
	if h.Model != nil {
		h.Config("")
	}
	t.Cleanup(h.leaveNothing)
	return h
}

func cacheHome() string {
	if d := os.Getenv("XDG_CACHE_HOME"); d != "" {
		return d
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return os.TempDir()
	}
	return filepath.Join(home, ".cache")
}

// LetManagerPlan has a manager plan what is submitted from here on. Without it instructions as short as those of tests
// go to one worker, as they do for a user.
func (h *House) LetManagerPlan() { h.Env = append(h.Env, "COMPANY_PLAN_WAY=split") }

// Config writes the operator's own config (never tracked by git): every role
// asks the model server. more is YAML below it.
func (h *House) Config(more string) {
	h.T.Helper()
	text := "version: 1\n"
	profile := h.Profile
	if profile == "" && h.Model != nil {
		profile = fmt.Sprintf("{adapter: openai, model: scripted, base_url: %q, api_key_env: TEST_MODEL_KEY}", h.Model.URL())
	}
	if profile != "" && profile != "none" {
		text += "models:\n  default: " + profile + "\n"
	}
	dir := filepath.Join(h.Dir, "config", "company")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text+more), 0o600); err != nil {
		h.T.Fatal(err)
	}
}

// Write puts a file into the checkout.
func (h *House) Write(name, text string) {
	h.T.Helper()
	p := filepath.Join(h.Repo, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		h.T.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		h.T.Fatal(err)
	}
}

// firstCommit has a fixed date: the same files make the same commit, so the
// image with its history is made once and not once per test.
func (h *House) firstCommit() {
	h.T.Helper()
	const date = "2026-01-01T00:00:00Z"
	env := h.Env
	defer func() { h.Env = env }()
	h.Env = append(slices.Clone(env), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	h.Git(h.Repo, "commit", "-q", "-m", "first commit")
}

// Git runs git in dir and returns what it prints.
func (h *House) Git(dir string, args ...string) string {
	h.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, h.Env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		h.T.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// Result is how a command ended.
type Result struct {
	Code           int // -1: by a signal
	Signal         syscall.Signal
	Stdout, Stderr string
}

// Command prepares a command of company in the checkout, in a process group of
// its own.
func (h *House) Command(args ...string) *exec.Cmd {
	argv := append(append(slices.Clone(h.Under), h.Bin), args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = h.Repo, h.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// stopForTrace has a process that hangs print its goroutines and end; one that does not
// is killed.
func stopForTrace(p *os.Process) {
	_ = p.Signal(syscall.SIGQUIT) // an error: it has ended
	time.AfterFunc(5*time.Second, func() { _ = p.Kill() })
}

// Run runs a command of company to its end.
func (h *House) Run(timeout time.Duration, args ...string) Result {
	h.T.Helper()
	cmd := h.Command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		h.T.Fatal(err)
	}
	timer := time.AfterFunc(timeout, func() { stopForTrace(cmd.Process) })
	err := cmd.Wait()
	if !timer.Stop() {
		h.T.Fatalf("company %s: not over after %s\n%s\n%s", strings.Join(args, " "), timeout, out.String(), errs.String())
	}
	r := Result{Code: cmd.ProcessState.ExitCode(), Stdout: out.String(), Stderr: errs.String()}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Signal = ws.Signal()
	}
	if err != nil && cmd.ProcessState == nil {
		h.T.Fatal(err)
	}
	return r
}

// MustRun is Run for a command that must end with 0.
func (h *House) MustRun(timeout time.Duration, args ...string) Result {
	h.T.Helper()
	r := h.Run(timeout, args...)
	if r.Code != 0 {
		h.T.Fatalf("company %s: exit %d\n%s\n%s", strings.Join(args, " "), r.Code, r.Stdout, r.Stderr)
	}
	return r
}

// JSON runs a command with -o json and reads its one object into v.
func (h *House) JSON(v any, args ...string) {
	h.T.Helper()
	r := h.MustRun(Patience, append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(r.Stdout), v); err != nil {
		h.T.Fatalf("company %s -o json: %v\n%s", strings.Join(args, " "), err, r.Stdout)
	}
}

// State is the folder of the office's state. Before the office is opened it is a folder that is not there.
func (h *House) State() string { return FindState(h.Repo, filepath.Join(h.Dir, "state")) }

// FindState is the folder of the state of a checkout's office, in a folder for the state of programs.
func FindState(repo, stateHome string) string {
	name, err := os.ReadFile(filepath.Join(repo, ".company", "office"))
	if err != nil {
		name = []byte("none")
	}
	return filepath.Join(stateHome, "company", strings.TrimSpace(string(name)))
}

// OfficeID is the office's id, as it stands in its state.
func (h *House) OfficeID() string {
	text, err := os.ReadFile(filepath.Join(h.State(), "office.json"))
	if err != nil {
		return ""
	}
	var o struct{ ID string }
	if err := json.Unmarshal(text, &o); err != nil {
		h.T.Fatal(err)
	}
	return o.ID
}

// Containers lists the names of the office's containers, in any state, with
// the docker command (not with company's own client).
func (h *House) Containers() []string {
	h.T.Helper()
	id := h.OfficeID()
	if id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(
		ctx, "docker", "ps", "-a", "--filter", "label=company.office="+id, "--format", "{{.Names}}").Output()
	if err != nil {
		h.T.Fatalf("docker ps: %v", err)
	}
	return strings.Fields(string(out))
}

// leaveNothing checks that the office left no container, and removes what a
// failed test may have left.
func (h *House) leaveNothing() {
	h.EndBackground()
	left := h.Containers()
	// A container whose company was killed ends by itself and is swept by the
	// next start; a test that kills without resuming cleans up here.
	for _, name := range left {
		_ = exec.Command("docker", "rm", "-f", name).Run()
	}
	if len(left) > 0 {
		h.T.Errorf("containers left: %s", strings.Join(left, ", "))
	}
}
