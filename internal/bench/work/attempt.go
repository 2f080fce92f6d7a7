package work

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
	"strings"
	"syscall"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/entrance"
	"company/internal/safetext"
	"company/internal/view"
)

// Verdicts of an attempt.
const (
	Resolved    = "resolved"    // delivered, and the hidden tests are green
	Wrong       = "wrong"       // delivered, and they are not
	Undelivered = "undelivered" // no pull request came of it
)

// Attempt is one task on a case.
type Attempt struct {
	Verdict       string                     `json:"verdict"`                // resolved, wrong or undelivered
	Why           string                     `json:"why,omitempty"`          // of a verdict that is not resolved
	Red           []string                   `json:"red"`                    // tests that had to pass and did not; bounded
	CostMicroUSD  *int64                     `json:"cost_micro_usd"`         // null: no price is known
	Tokens        int64                      `json:"tokens"`                 // of all calls
	Roles         map[company.Role]RoleCount `json:"roles"`                  // what each role took
	Requests      int                        `json:"requests"`               // to models, those that were asked again among them
	CriticalTurns int                        `json:"critical_turns"`         // the longest chain of requests, one behind the other
	CachedShare   *float64                   `json:"cached_share"`           // of the input tokens, 0 to 1; null: none were counted
	WallMS        int64                      `json:"wall_ms"`                // from the submission to the end of the program
	Runs          int                        `json:"runs"`                   // conversations
	PullRequest   string                     `json:"pull_request,omitempty"` // its text, of an attempt that was delivered
	WriteSet      *Fit                       `json:"write_set,omitempty"`    // planned against changed; absent where nothing was changed, and of a plan without a manager
}

// Fit is company.Fit with its shares.
type Fit struct {
	company.Fit
	Precision *float64 `json:"precision"` // null: nothing was planned
	Recall    *float64 `json:"recall"`    // null: nothing was changed
}

// newFit adds the shares to a fit.
func newFit(f company.Fit) *Fit {
	out := &Fit{Fit: f}
	if share, ok := f.Precision(); ok {
		out.Precision = &share
	}
	if share, ok := f.Recall(); ok {
		out.Recall = &share
	}
	return out
}

// attempt is one task under way.
type attempt struct {
	b      *bencher
	l      *lab
	solo   bool           // one worker, without manager and review
	models map[string]any // profiles of the bench's own
	dir    string
	repo   string // the checkout
	office string // beside it, so that a company.yaml of the case is no office's
}

// listSettings are the keys of the config that every attempt has: no question is put.
func (b *bencher) listSettings() []string {
	set := append([]string{}, b.ConfigFlags...)
	set = append(set, "approvals.plan=auto", "approvals.merge=auto", "approvals.pr=auto", "gates.none=allow", "forge.kind=local", "git.base=auto")
	if b.Model != "" {
		for _, role := range []string{"manager", "worker", "reviewer", "merger"} {
			set = append(set, "agents."+role+".model="+b.Model)
		}
	}
	return set
}

// makeOffice makes the folder of the office, with the config that the attempt needs.
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

// makeConfig is a company.yaml that sets these profiles, if any.
func makeConfig(models map[string]any) ([]byte, error) {
	if len(models) == 0 {
		return []byte(officeConfig), nil
	}
	return json.Marshal(map[string]any{"version": 1, "models": models})
}

// officeConfig makes a folder an office that sets nothing.
const officeConfig = "version: 1\n"

func (b *bencher) writeOffice(dir string, text []byte) error {
	file := filepath.Join(dir, config.ConfigName)
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, text, 0o600), config.OpenTrust(b.lookupEnv).AddText(text, file))
}

// run submits the case as a task of a new office, and judges its pull request. used is
// the key of the image that the task had. An error says nothing about the work.
func (a *attempt) run(ctx context.Context, judge *officeapp.Judge) (out Attempt, used string, err error) {
	if err := a.l.copyBase(ctx, a.repo); err != nil {
		return out, "", err
	}
	if err := a.makeOffice(); err != nil {
		return out, "", err
	}
	set := a.b.listSettings()
	if a.solo {
		set = append(set, soloSettings...)
	}
	sum, wall, err := a.submitTask(ctx, set)
	if err != nil {
		return out, "", err
	}
	out, delivered, used, err := a.readOffice(ctx, set, sum)
	if err != nil {
		return out, used, err
	}
	out.WallMS, out.Red = wall.Milliseconds(), []string{}
	if delivered == nil {
		out.Verdict = Undelivered
		return out, used, nil
	}
	if err := a.l.takeResult(ctx, delivered.mirror, delivered.branch, delivered.head); err != nil {
		return out, used, err
	}
	got, err := judge.Judge(ctx, resultBranch)
	if err != nil {
		return out, used, err
	}
	v := a.l.c.holdAgainst(got)
	if out.Verdict = Resolved; !v.isGreen() {
		out.Verdict, out.Why, out.Red = Wrong, v.describeRed(got), v.listRed()
	}
	return out, used, nil
}

// delivery is the branch of a pull request.
type delivery struct {
	mirror string
	branch string
	head   company.OID
}

// submitTask runs company submit to its end.
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
	cmd := exec.CommandContext(ctx, a.b.Program, args...)
	var out bytes.Buffer
	said := &tail{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.repo, a.b.listEnviron(), &out, said
	// A group of its own: an interrupt at the terminal comes once, by Cancel, so that the
	// containers are put away.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 90 * time.Second
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
	return sum, wall, company.E(company.EInternal, "company submit failed in the case "+a.l.c.Name).Because(safetext.Escape(said.lastError())).Wrap(ran).Fix("company doctor, in a checkout of yours")
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

// lastError is the message of the last line, which is an object where the program failed.
func (t *tail) lastError() string {
	text := strings.TrimSpace(string(t.text))
	last := text[strings.LastIndexByte(text, '\n')+1:]
	var e struct{ Error company.Error }
	if json.Unmarshal([]byte(last), &e) == nil && e.Error.Message != "" {
		return e.Error.Error() + "; " + e.Error.Hint
	}
	return last
}

// readOffice reads from the closed office what the task came to.
func (a *attempt) readOffice(ctx context.Context, set []string, sum view.Summary) (out Attempt, d *delivery, used string, err error) {
	ent := a.b.enterOffice(a.office, a.repo, set)
	paths, err := ent.FindOffice()
	if err != nil {
		return out, nil, "", err
	}
	app, remote, err := ent.OpenOrDial(ctx, paths, entrance.TakeOverTimeout)
	if err != nil {
		return out, nil, "", err
	}
	if remote != nil {
		remote.Close()
		return out, nil, "", company.E(company.EInternal, "a process works in the office of an attempt that is over")
	}
	defer app.Close()
	t, err := app.View().Task(sum.Task)
	if err != nil {
		return out, nil, "", err
	}
	if t.Prepared != nil {
		used = t.Prepared.Image
	}
	if out, err = a.countTask(ctx, app, t); err != nil {
		return out, nil, used, err
	}
	if t.Status != company.StatusCompleted || t.PR == nil {
		out.Why = sum.Why
		return out, nil, used, nil
	}
	pull := company.Pull{PullRequest: *t.PR, Lead: t, Tasks: []*company.Task{t}}
	if out.PullRequest, err = officeapp.PullText(paths, view.PullRecord{Pull: pull}); err != nil {
		return out, nil, used, err
	}
	mirrors, err := filepath.Glob(filepath.Join(paths.Git, "*.git"))
	if err != nil || len(mirrors) != 1 {
		return out, nil, used, company.E(company.EInternal, fmt.Sprintf("the office of an attempt has %d mirrors", len(mirrors)))
	}
	return out, &delivery{mirrors[0], t.IntegrationBranch(), t.Head}, used, nil
}

// countTask counts what a task took. Of a solo attempt the runs of scripts do not count.
func (a *attempt) countTask(ctx context.Context, app *officeapp.App, t *company.Task) (out Attempt, err error) {
	var spent company.Amount
	var usage adapters.Usage
	var all []agent.Turn
	out.Roles = map[company.Role]RoleCount{}
	for id, r := range t.Runs {
		if a.solo && (r.Role == company.Manager || r.Role == company.Reviewer) || r.Claimed.IsZero() {
			continue
		}
		turns, err := app.ReadTurns(ctx, id, 0)
		if err != nil {
			return out, err
		}
		role := out.Roles[r.Role]
		for _, turn := range turns {
			usage = usage.Add(turn.Usage)
			role = role.addTurn(turn)
		}
		all, out.Roles[r.Role] = append(all, turns...), role
		spent = spent.Add(r.Spent)
		out.Runs++
	}
	out.Requests, out.CriticalTurns = len(all), countChain(all)
	if out.Tokens = spent.Tokens; spent.MicroUSD > 0 {
		out.CostMicroUSD = &spent.MicroUSD
	}
	if usage.InputTokens > 0 {
		share := float64(usage.CachedTokens) / float64(usage.InputTokens)
		out.CachedShare = &share
	}
	if !a.solo {
		var fit company.Fit
		for _, sub := range t.Subtasks {
			var changed []string
			for _, c := range sub.Changes {
				changed = append(changed, c.Path)
			}
			if len(changed) > 0 { // a ticket that was not done shows nothing of its plan
				if one, ok := company.WriteSetFit(sub.Planned.WriteSet, changed, company.NewMatchBudget()); ok {
					fit = fit.Add(one)
				}
			}
		}
		if fit.Changed > 0 {
			out.WriteSet = newFit(fit)
		}
	}
	return out, nil
}
