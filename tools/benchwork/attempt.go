package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/present/view"
)

// Verdicts of an attempt.
const (
	Resolved    = "resolved"    // delivered, and the hidden tests are green
	Wrong       = "wrong"       // delivered, and a hidden test is not green
	Undelivered = "undelivered" // no pull request was created
)

// Attempt is one run of the company on a case.
type Attempt struct {
	Verdict      string                     `json:"verdict"`        // resolved, wrong or undelivered
	Why          string                     `json:"why,omitempty"`  // reason, if not resolved
	Red          []string                   `json:"red"`            // tests that had to pass and did not; limited
	CostMicroUSD *int64                     `json:"cost_micro_usd"` // null if no price is known
	Tokens       int64                      `json:"tokens"`         // tokens of all calls
	Roles        map[company.Role]RoleCount `json:"roles"`          // usage of each role
	// requests to models, repeated ones included
	Requests      int      `json:"requests"`
	CriticalTurns int      `json:"critical_turns"`         // the longest chain of consecutive requests
	CachedShare   *float64 `json:"cached_share"`           // of the input tokens, 0 to 1; null if none were counted
	WallMS        int64    `json:"wall_ms"`                // from the submission to the end of the program
	Runs          int      `json:"runs"`                   // conversations
	PullRequest   string   `json:"pull_request,omitempty"` // text of the pull request, if delivered
	// planned and changed paths; absent if no file was changed, or if no manager made the plan
	WriteSet *Fit `json:"write_set,omitempty"`
}

// attempt is an attempt in progress.
type attempt struct {
	b      *bencher
	l      *lab
	solo   bool           // one worker, without manager and review
	models map[string]any // model profiles of the bench itself
	dir    string
	repo   string // the checkout
	office string // outside of the checkout, so that a company.yaml of the case does not apply to it
}

// listSettings returns the config keys of every attempt. They prevent questions to the president.
func (b *bencher) listSettings() []string {
	set := append([]string{}, b.Settings...)
	set = append(set, "approvals.plan=auto", "approvals.merge=auto", "approvals.pr=auto", "gates.none=allow",
		"forge.kind=local", "git.base=auto")
	if b.Model != "" {
		for _, role := range []string{"manager", "worker", "reviewer", "merger"} {
			set = append(set, "agents."+role+".model="+b.Model)
		}
	}
	return set
}

// makeOffice creates the folder of the office, with the config of the attempt.
func (a *attempt) makeOffice() error {
	models := maps.Clone(a.models)
	if a.solo {
		script, err := a.writeSoloScript()
		if err != nil {
			return err
		}
		if models == nil {
			models = map[string]any{}
		}
		models[soloProfile] = soloModel(script)
	}
	text, err := makeConfig(models)
	if err != nil {
		return err
	}
	return a.b.writeOffice(a.office, text)
}

// makeConfig returns a company.yaml that sets the given profiles, if any.
func makeConfig(models map[string]any) ([]byte, error) {
	if len(models) == 0 {
		return []byte(officeConfig), nil
	}
	return json.Marshal(map[string]any{"version": 1, "models": models})
}

// officeConfig is a company.yaml that makes a folder an office and sets no values.
const officeConfig = "version: 1\n"

func (b *bencher) writeOffice(dir string, text []byte) error {
	file := filepath.Join(dir, config.ConfigName)
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, text, 0o600),
		config.OpenTrust(b.lookupEnv).AddText(text, file))
}

// run submits the case as a task of a new office, and judges its pull request. An error is a fault of the bench, not
// of the work.
func (a *attempt) run(ctx context.Context, judge *judge) (out Attempt, err error) {
	if err := a.l.copyBase(ctx, a.repo); err != nil {
		return out, err
	}
	if err := a.makeOffice(); err != nil {
		return out, err
	}
	set := a.b.listSettings()
	if a.solo {
		set = append(set, soloSettings...)
	}
	sum, wall, err := a.submitTask(ctx, set)
	if err != nil {
		return out, err
	}
	out, delivered, err := a.readOffice(ctx, sum)
	if err != nil {
		return out, err
	}
	out.WallMS, out.Red = wall.Milliseconds(), []string{}
	if delivered == nil {
		out.Verdict = Undelivered
		return out, nil
	}
	if err := a.l.takeResult(ctx, delivered.mirror, delivered.branch, delivered.head); err != nil {
		return out, err
	}
	got, err := judge.run(ctx, resultBranch)
	if err != nil {
		return out, err
	}
	verdict := a.l.c.holdAgainst(got)
	if out.Verdict = Resolved; !verdict.isGreen() {
		out.Verdict = Wrong
		out.Why = verdict.describeRed(got)
		out.Red = verdict.listRed()
	}
	return out, nil
}

// delivery identifies the branch of a pull request.
type delivery struct {
	mirror string
	branch string
	head   company.OID
}

// submitTask runs company submit until it exits.
func (a *attempt) submitTask(ctx context.Context, set []string) (sum view.Summary, wall time.Duration, err error) {
	file := filepath.Join(a.dir, "instruction.txt")
	if err := os.WriteFile(file, []byte(a.l.c.Instruction), 0o600); err != nil {
		return sum, 0, err
	}
	args := []string{"submit", "--no-input", "-o", "json", "--office", a.office, "-f", file}
	for _, kv := range set {
		args = append(args, "--set", kv)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, a.l.c.WorkTime, errOutOfTime)
	defer cancel()
	cmd, said := a.b.newCommand(ctx, a.repo, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	began := time.Now()
	ran := cmd.Run()
	wall = time.Since(began)
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errOutOfTime) {
		return sum, wall, context.Cause(ctx)
	}
	if err := json.Unmarshal(out.Bytes(), &sum); err == nil && sum.Task != "" {
		return sum, wall, nil
	}
	if ctx.Err() != nil { // an interrupted submission prints no summary
		return view.Summary{Task: "t1", Why: "it was not done after " + a.l.c.WorkTime.String()}, wall, nil
	}
	return sum, wall, company.E(company.EInternal, "company submit failed in the case "+a.l.c.Name).
		Because(safetext.Escape(said.lastError())).Wrap(ran).Fix("company doctor, in a checkout of yours")
}

// newCommand returns a command of the company, and the end of its stderr. It has its own process group, so that an
// interrupt at the terminal arrives only once, by Cancel, and the containers are removed.
func (b *bencher) newCommand(ctx context.Context, dir string, args ...string) (*exec.Cmd, *tail) {
	cmd, said := exec.CommandContext(ctx, b.Program, args...), &tail{}
	cmd.Dir = dir
	cmd.Env = b.listEnviron()
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 90 * time.Second
	return cmd, said
}

var errOutOfTime = errors.New("work: the attempt took too long")

// tail keeps the end of a program's output.
type tail struct{ text []byte }

// Write keeps the last bytes.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-4000):]
	return len(p), nil
}

// lastError returns the message of the last line. That line is a JSON object if the program failed.
func (t *tail) lastError() string {
	text := strings.TrimSpace(string(t.text))
	last := text[strings.LastIndexByte(text, '\n')+1:]
	var e struct{ Error company.Error }
	if json.Unmarshal([]byte(last), &e) == nil && e.Error.Message != "" {
		return e.Error.Error() + "; " + e.Error.Hint
	}
	return last
}

// readOffice reads the outcome of the task by the commands show, costs and pr show.
func (a *attempt) readOffice(ctx context.Context, sum view.Summary) (out Attempt, d *delivery, err error) {
	var shown struct{ Task view.TaskDetail }
	var costs view.TaskCosts
	if err := errors.Join(
		a.b.runJSON(ctx, a.repo, &shown, "show", string(sum.Task), "--office", a.office),
		a.b.runJSON(ctx, a.repo, &costs, "costs", string(sum.Task), "--by", "turn", "--office", a.office)); err != nil {
		return out, nil, err
	}
	task := shown.Task
	out = a.countTask(costs, task.Plan)
	if task.Status != company.StatusCompleted || task.PR == nil {
		out.Why = sum.Why
		return out, nil, nil
	}
	var pull struct{ Body string }
	if err := a.b.runJSON(ctx, a.repo, &pull, "pr", "show", fmt.Sprint(task.PR.Number), "--office", a.office); err != nil {
		return out, nil, err
	}
	out.PullRequest = pull.Body
	paths, err := office.Find(office.FindOptions{Dir: a.office, Env: a.b.lookupEnv})
	if err != nil {
		return out, nil, err
	}
	mirrors, err := filepath.Glob(filepath.Join(paths.Git, "*.git"))
	if err != nil || len(mirrors) != 1 {
		return out, nil, company.E(company.EInternal,
			fmt.Sprintf("the office of an attempt has %d mirrors", len(mirrors)))
	}
	return out, &delivery{mirrors[0], task.Branch, task.Head}, nil
}

// countTask counts the usage of a task. In a solo attempt, scripted runs do not count.
func (a *attempt) countTask(costs view.TaskCosts, plan []view.Subtask) (out Attempt) {
	counted := slices.DeleteFunc(costs.Requests, func(r view.Request) bool {
		return a.solo && (r.Role == company.Manager || r.Role == company.Reviewer)
	})
	runs := map[company.RunID]bool{}
	var whole RoleCount
	out.Roles = map[company.Role]RoleCount{}
	for _, request := range counted {
		runs[request.Run] = true
		one := RoleCount{1, request.InputTokens, request.CachedTokens, request.OutputTokens, request.CostMicroUSD}
		out.Roles[request.Role] = out.Roles[request.Role].add(one)
		whole = whole.add(one)
		out.Tokens += request.Tokens
	}
	out.Runs = len(runs)
	out.Requests = len(counted)
	out.CriticalTurns = countChain(counted)
	if whole.CostMicroUSD > 0 {
		out.CostMicroUSD = &whole.CostMicroUSD
	}
	if whole.Input > 0 {
		share := float64(whole.Cached) / float64(whole.Input)
		out.CachedShare = &share
	}
	if !a.solo {
		out.WriteSet = fitOf(plan)
	}
	return out
}
