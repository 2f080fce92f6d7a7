package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"company/internal/adapters/scripted"
	"company/test/demo/check"
	"company/test/demo/director"
)

// Options say how to run the demo.
type Options struct {
	Seed    uint64
	Root    string // of company's own checkout
	Company string // the binary
	Dir     string // the demo's folder; what an earlier demo left there is replaced
	Out     io.Writer
	Feed    io.Writer // what company prints while it works
	// Brain answers for the models. A nil Brain means the director.
	Brain scripted.Responder
	// Agent is the program that the workers are: opencode, or empty for the company's own.
	Agent string
	// Watch gets a link into the page of the office, which is served then, from before
	// the company begins until Then has returned. Nil: no office is served.
	Watch func(link string)
	// Then is told of the outcome while the bystander is still there. It may
	// be nil.
	Then func(Outcome)
}

// Outcome is a demo that ran, whatever its checks say.
type Outcome struct {
	Place  check.Place
	Result []check.Result
	Ran    time.Duration // company's own part
	Took   time.Duration // all of it
	Link   string        // into the page of the office, where it is served: good once
	open   string        // the command that makes another
}

// Passed says that every check did.
func (o Outcome) Passed() bool {
	for _, r := range o.Result {
		if r.Err != nil {
			return false
		}
	}
	return len(o.Result) > 0
}

// Run runs the demo. An error means that it could not be run, or that company
// did not complete its task; a failed check is not an error.
func Run(ctx context.Context, o Options) (out Outcome, err error) {
	began := time.Now()
	if o.Brain == nil {
		o.Brain = director.Brain
	}
	switch o.Agent {
	case "":
	case "opencode":
		o.Brain = director.ForOpencode(o.Brain)
	default:
		return out, fmt.Errorf("the demo knows no agent %s: it has opencode", o.Agent)
	}
	s := &stage{Options: o}
	if err := s.setUp(ctx); err != nil {
		return out, err
	}
	bystander, err := startBystander(ctx, s)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, bystander.remove(ctx)) }()
	witness, err := watchDocker(ctx, filepath.Join(o.Dir, check.EventsFile))
	if err != nil {
		return out, err
	}
	said, err := newMinutes(filepath.Join(o.Dir, check.FindingsFile), o.Brain)
	if err != nil {
		return out, errors.Join(err, witness.stop(ctx, bystander.id))
	}
	around, err := s.begin(ctx, workTogether(said))
	defer func() { err = errors.Join(err, around.end()) }()
	ran := time.Now()
	if err == nil {
		err = s.submit(ctx)
	}
	out.Ran = time.Since(ran)
	if err = errors.Join(err, said.close(), witness.stop(ctx, bystander.id)); err != nil {
		return out, err
	}
	out.Place = check.Place{Dir: o.Dir, Repo: s.repo(), Origin: s.origin(), Main: s.main, Bystander: bystander.id}
	out.Result = check.Run(ctx, out.Place, o.Out)
	out.Took = time.Since(began)
	if o.Watch != nil {
		out.open = fmt.Sprintf("(cd %s && %s open)", s.repo(), s.Company)
		if out.Link, err = s.freshLink(ctx); err != nil {
			return out, err
		}
	}
	if o.Then != nil {
		o.Then(out)
	}
	return out, nil
}

// stage is the demo's folder being set up.
type stage struct {
	Options
	env  []string
	main string // object id of main before company came
}

func (s *stage) repo() string   { return filepath.Join(s.Dir, "repo") }
func (s *stage) origin() string { return filepath.Join(s.Dir, "origin.git") }

// marker says that a folder is a demo's, and may be replaced by the next one.
const marker = ".company-demo"

// setUp makes the folder: a repository with one commit on main, a bare origin,
// and places of its own for all that company keeps outside of a repository,
// but for the images' cache, which is the machine's.
func (s *stage) setUp(ctx context.Context) error {
	if err := replace(s.Dir); err != nil {
		return err
	}
	for _, d := range []string{"home", "config/company", "state", "run"} {
		if err := os.MkdirAll(filepath.Join(s.Dir, d), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir, marker), fmt.Appendf(nil, "%d\n", s.Seed), 0o600); err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	s.env = append(clean(os.Environ()),
		"HOME="+filepath.Join(s.Dir, "home"), "XDG_CONFIG_HOME="+filepath.Join(s.Dir, "config"),
		"XDG_STATE_HOME="+filepath.Join(s.Dir, "state"),
		"XDG_RUNTIME_DIR="+filepath.Join(s.Dir, "run"), "XDG_CACHE_HOME="+cache, "GIT_CONFIG_NOSYSTEM=1",
		"DEMO_MODEL_KEY=not-a-secret",
		"COMPANY_FOREGROUND=1", // the folder is removed afterwards, and nothing is to work in it
		"GIT_AUTHOR_NAME=President", "GIT_AUTHOR_EMAIL=president@example.com", "GIT_COMMITTER_NAME=President",
		"GIT_COMMITTER_EMAIL=president@example.com",
		// The same seed makes the same commit, so its worker image is built once.
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
	)
	if err := CopyProject(filepath.Join(s.Root, "examples", "stockroom"), s.repo(), NamesOf(s.Seed)); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "--bare", "-b", "main", s.origin()},
		{"init", "-q", "-b", "main", s.repo()},
		{"-C", s.repo(), "add", "-A"},
		{"-C", s.repo(), "commit", "-q", "-m", "The project as it is"},
		{"-C", s.repo(), "remote", "add", "origin", s.origin()},
		{"-C", s.repo(), "push", "-q", "origin", "main"},
	} {
		if _, err := s.output(ctx, "git", args...); err != nil {
			return err
		}
	}
	s.main, err = s.output(ctx, "git", "-C", s.origin(), "rev-parse", "refs/heads/main")
	return err
}

// clean leaves out what would point git or company somewhere else.
func clean(env []string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "COMPANY_") && !strings.HasPrefix(kv, "XDG_") {
			out = append(out, kv)
		}
	}
	return out
}

// replace empties a folder that an earlier demo made, and no other.
func replace(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return os.MkdirAll(dir, 0o700)
	case err != nil:
		return err
	case len(entries) == 0:
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, marker)); err != nil {
		return fmt.Errorf("%s exists and does not belong to a demo: choose another folder or remove it", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// surroundings are what runs beside company: the model and, where it is watched, the
// office's own process.
type surroundings struct {
	model  *scripted.Server
	office *servedOffice
}

// begin serves the model, writes the operator's config, and serves the office where the
// demo is watched. What it returns has to be ended also after an error.
func (s *stage) begin(ctx context.Context, brain scripted.Responder) (around surroundings, err error) {
	if around.model, err = scripted.NewServer(brain); err != nil {
		return around, err
	}
	// Nothing is kept warm: a warm container's label names no run, and the
	// checker counts workers by their labels. The history is kept: it is the checker's
	// proof, from git alone, that a finding was repaired and a conflict resolved.
	config := fmt.Sprintf(
		"version: 1\ngit: {history: keep}\nmodels:\n  default: {adapter: openai, model: director, base_url: %q, "+
			"api_key_env: DEMO_MODEL_KEY}\nworkers: {max: 3, warm: 0}\n", around.model.URL())
	if s.Agent != "" {
		config = strings.Replace(config, "\nworkers:",
			fmt.Sprintf("\n  agent: {adapter: cli, program: %s, via: default}\n"+
				"agents: {worker: {model: agent}}\nworkers:", s.Agent), 1)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "config", "company", "config.yaml"), []byte(config), 0o600); err != nil {
		return around, err
	}
	if s.Watch != nil {
		var link string
		if around.office, link, err = s.serve(ctx); err == nil {
			s.Watch(link)
		}
	}
	return around, err
}

// end ends the office before its model.
func (a surroundings) end() (err error) {
	if a.office != nil {
		err = a.office.close()
	}
	if a.model != nil {
		err = errors.Join(err, a.model.Close())
	}
	return err
}

// submit runs company submit, to its end.
func (s *stage) submit(ctx context.Context) error {
	text := NamesOf(s.Seed).Instruction()
	fmt.Fprintf(s.Out, "$ cd %s\n$ company submit --split %q\n", s.repo(), text)
	cmd := exec.CommandContext(ctx, s.Company, "submit", "--split", text)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.repo(), s.env, s.Feed, s.Feed
	// An interrupt from the terminal reaches us alone, and company once, from
	// here: a second one would make it leave at once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("company submit: %w", err)
	}
	return nil
}

// output runs a program in the stage's environment.
func (s *stage) output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = s.env
	return output(cmd)
}

func output(cmd *exec.Cmd) (string, error) {
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out)), nil
}
