package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"company/internal/adapters/scripted"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
	"company/internal/lib/hosttest"
	"company/internal/office"
	"company/internal/office/config/configtest"
	"company/test/safebuffer"
	"company/test/testenv"
)

// BenchmarkStart is company list in an office with 1,000 finished tasks that no process serves.
func BenchmarkStart(b *testing.B) {
	h := testenv.New(b, scripted.BrainFunc(crew), map[string]string{"README.md": "# Small\n"})
	fillOffice(b, h, 1000, 0)
	for b.Loop() {
		h.MustRun(testenv.Patience, "list")
	}
}

// BenchmarkPage is the first paint of the page of an office with 1,000 finished tasks and 40 open ones with 50 subtasks
// each. The browser has cached nothing.
func BenchmarkPage(b *testing.B) {
	h := testenv.New(b, scripted.BrainFunc(crew), map[string]string{"README.md": "# Small\n"})
	fillOffice(b, h, 1000, 40)
	h.Config("serve: {listen: \"127.0.0.1:0\"}\n")
	serve := h.Command("serve")
	var out safebuffer.Buffer
	serve.Stdout, serve.Stderr = &out, &out
	if err := serve.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = serve.Process.Signal(syscall.SIGTERM)
		if err := serve.Wait(); err != nil {
			b.Errorf("serve: %v\n%s", err, out.String())
		}
	})
	hosttest.Eventually(b, "the page's address", func() (any, bool) {
		return out.String(), strings.Contains(out.String(), "/#t=")
	})
	browser, end := startBrowser(b)
	defer end()
	var paints []time.Duration
	for n := 0; b.Loop(); n++ {
		var link struct{ URL string }
		h.JSON(&link, "open", "--no-browser")
		tab, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
		shown := chromedp.WaitVisible(chromedp.CSS("[data-testid^='task-t']"))
		if err := chromedp.Do(tab, chromedp.Navigate(link.URL), shown); err != nil {
			b.Fatal(err)
		}
		paint, err := chromedp.Run(tab, chromedp.Evaluate[float64](
			"performance.getEntriesByName('first-contentful-paint')[0].startTime"))
		if err != nil {
			b.Fatal(err)
		}
		end()
		if n > 0 { // the first page starts processes of the browser
			paints = append(paints, time.Duration(paint*float64(time.Millisecond)))
		}
	}
	b.ReportMetric(millis(paints), "ms/paint")
}

// startBrowser starts Chromium.
func startBrowser(b *testing.B) (context.Context, func()) {
	b.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		hosttest.Lacks(b, "no chromium in PATH")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.UserDataDir(b.TempDir()))
	all, endAll := chromedp.NewExecAllocator(b.Context(), options...)
	ctx, end := chromedp.NewContext(all)
	if err := chromedp.Do(ctx); err != nil {
		b.Fatal(err)
	}
	return ctx, func() { end(); endAll() }
}

// past gives an office a past: tasks that were planned, worked on, checked, reviewed, merged and delivered. Nothing of
// it happened. Each due effect is answered as if all had gone well.
type past struct {
	ctx          context.Context
	log          *ledger.Ledger
	batch        *ledger.Batch
	state        *company.State
	now          time.Time
	commands     int
	oids         int
	repo         string
	waves, width int // of a plan
}

// fillOffice gives the office of a house finished tasks and open ones, and the snapshot that a company leaves when it
// ends. The open ones are stopped.
func fillOffice(b *testing.B, h *testenv.House, finished, open int) {
	b.Helper()
	ctx := b.Context()
	env := configtest.Env(map[string]string{"XDG_STATE_HOME": filepath.Join(h.Dir, "state")})
	paths, err := office.Find(office.FindOptions{Dir: h.Repo, Env: env})
	if err != nil {
		b.Fatal(err)
	}
	off, err := office.Open(ctx, paths)
	if err != nil {
		b.Fatal(err)
	}
	bus, err := nats.Open(ctx, nats.Options{Folder: off.BusFolder})
	if err != nil {
		b.Fatal(err)
	}
	log, err := ledger.Open(ctx, bus, ledger.Options{Folder: off.StateFolder})
	if err != nil {
		b.Fatal(err)
	}
	p := &past{ctx: ctx, log: log, batch: log.Begin(), state: company.NewState(),
		now: time.Now().Add(-400 * 24 * time.Hour).UTC(), repo: h.Repo, waves: 1, width: 2}
	fail := func(err error) {
		if err != nil {
			b.Fatal(errors.Join(err, bus.Close(), off.Close()))
		}
	}
	fail(p.do(company.Company, company.StartOffice{Office: off.ID, Version: "bench", Workers: 64}))
	for range finished {
		fail(p.liveTask(-1))
	}
	p.waves, p.width = 5, 10
	for n := range open {
		fail(p.liveTask(n * 50 / open))
	}
	if open > 0 {
		fail(p.do(company.President, company.Stop{}))
	}
	fail(p.flush())
	o, err := orchestrator.Open(ctx, orchestrator.Config{Ledger: log, Office: off.ID, Version: "bench"})
	fail(err)
	ended, end := context.WithCancel(ctx)
	end()
	fail(o.Run(ended)) // which saves a snapshot
	if err := errors.Join(bus.Close(), off.Close()); err != nil {
		b.Fatal(err)
	}
}

// do decides a command, and applies its events. They are stored with later ones.
func (p *past) do(actor string, c company.Command) error {
	p.commands++
	p.now = p.now.Add(400 * time.Millisecond)
	id := fmt.Sprintf("bench-%d", p.commands)
	drafts, err := company.Decide(p.state, company.Meta{ID: id, Actor: actor, Now: p.now}, c)
	if err != nil || len(drafts) == 0 {
		return err
	}
	events, err := p.batch.Add(ledger.Command{ID: id}, p.now, drafts)
	if errors.Is(err, ledger.ErrBatchFull) {
		if err := p.flush(); err != nil {
			return err
		}
		events, err = p.batch.Add(ledger.Command{ID: id}, p.now, drafts)
	}
	for _, e := range events {
		err = errors.Join(err, company.Apply(p.state, e))
	}
	return err
}

func (p *past) flush() error {
	if p.batch.Len() == 0 {
		return nil
	}
	_, err := p.log.AppendBatch(p.ctx, p.batch)
	p.batch = p.log.Begin()
	return err
}

func (p *past) nextOID() company.OID {
	p.oids++
	return company.OID(fmt.Sprintf("%040x", p.oids))
}

// liveTask submits a task and does it: until so many of its subtasks are merged, or, if merged is negative, to its end.
// A finished task is archived.
func (p *past) liveTask(merged int) error {
	err := p.do(company.President, company.Submit{
		Instruction: fmt.Sprintf("Limit the rate of requests to the API by client, round %d.\n%s", p.state.LastTask,
			strings.Repeat("A client that asks too often gets 429 and the time to wait. ", 8)),
		Project:  company.Project{ID: "bench", Path: p.repo},
		Settings: company.Settings{Cap: company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}},
	})
	if err != nil {
		return err
	}
	id := company.NewTaskID(p.state.LastTask)
	for {
		task := p.state.Tasks[id]
		if merged >= 0 && len(task.Subtasks) > 0 && countMerged(task) >= merged {
			return nil
		}
		if task.Status.Ended() {
			return p.endTask(id)
		}
		due := company.Due(p.state, p.now, 100)
		at := slices.IndexFunc(due, func(e company.Effect) bool { return e.Task == id })
		if at < 0 {
			return fmt.Errorf("the task %s waits for nothing", id)
		}
		if err := p.answer(task, due[at]); err != nil {
			return fmt.Errorf("%s: %w", due[at].Key, err)
		}
	}
}

func countMerged(task *company.Task) (n int) {
	for _, sub := range task.Subtasks {
		if sub.Status == company.SubtaskCompleted {
			n++
		}
	}
	return n
}

// endTask merges the pull request of a task and archives it.
func (p *past) endTask(id company.TaskID) error {
	if err := p.do(company.President, company.SettlePR{Task: id, State: company.PRMerged}); err != nil {
		return err
	}
	text, err := p.state.EncodeArchive(id)
	if err != nil {
		return err
	}
	blob, _, err := p.log.PutBlob(p.ctx, strings.NewReader(string(text)))
	if err != nil {
		return err
	}
	return p.do(company.Company, company.ArchiveTask{Task: id, Blob: blob})
}

// answer does a due effect.
func (p *past) answer(task *company.Task, e company.Effect) error {
	sub := task.Subtask(e.Subtask)
	switch e.Kind {
	case company.EffectCommand:
		return p.do(company.Company, e.Command)
	case company.EffectPrepare:
		return p.do(company.Company, company.RecordPreparation{Task: task.ID, TaskPrepared: company.TaskPrepared{
			Base: company.Base{Branch: "main", OID: p.nextOID(), PRBranch: "main"}, GateHash: "g",
			Image:       "sha256:" + strings.Repeat("5", 64),
			Integration: "develop-" + string(task.ID) + "-bench",
			Gates: []company.GateCommand{{Name: "lint", Command: "go vet ./..."},
				{Name: "test", Command: "go test ./..."}},
		}})
	case company.EffectBaseline:
		return p.do(company.Company, company.RecordBaseline{Task: task.ID, Result: judge(task, p.nextOID())})
	case company.EffectEnqueue:
		worker := "w-" + string(e.Run)
		return p.do(worker, company.Claim{Run: e.Run, Epoch: e.Offer.Epoch, Offer: e.Offer.Number, Worker: worker})
	case company.EffectManage, company.EffectReview:
		if r := task.Runs[e.Run]; r == nil || !r.Held {
			return p.do(string(e.Run), e.Claim)
		}
		return p.endRun(task, e)
	case company.EffectWork:
		return p.endRun(task, e)
	case company.EffectGate:
		g := company.RecordGateResult{Task: task.ID, Subtask: e.Subtask,
			GateFinished: company.GateFinished{Head: task.Head, Onto: task.Head, Result: judge(task, task.Tree)}}
		if sub != nil {
			g.Head, g.Result = sub.Head, judge(task, mergeTree(task.Head, sub.Head))
		}
		return p.do(company.Company, g)
	case company.EffectTestMerge:
		tree := mergeTree(task.Head, sub.Head)
		return p.do(company.Company, company.RecordMergeGate{Task: task.ID, Subtask: sub.ID, Head: sub.Head,
			Onto: task.Head, Tree: tree, HeadTree: p.nextOID(), Result: judge(task, tree), Message: "merge"})
	case company.EffectMerge:
		return p.do(company.Company, company.RecordMerge{Task: task.ID, Commit: p.nextOID()})
	case company.EffectDeliver:
		return p.do(company.Company, company.RecordDelivery{Task: task.ID, Head: task.Head,
			Number: task.Delivery.Number, URL: "/office/pulls/" + string(task.ID) + ".md",
			Evidence: &company.Evidence{Head: task.Head, Tree: task.Tree,
				Files: []company.VerifiedFile{{Path: "part.go", Action: "modified", Exists: true}}}})
	}
	return fmt.Errorf("no answer to the effect %s", e.Kind)
}

// mergeTree returns the tree of a merge: the same one for the same commits.
func mergeTree(onto, head company.OID) company.OID { return head[:20] + onto[:20] }

// judge returns a green result of a task's gates.
func judge(task *company.Task, tree company.OID) company.GateResult {
	result := company.GateResult{Tree: tree, GateHash: task.Prepared.GateHash, Image: task.Prepared.Image}
	for _, gate := range task.Prepared.Gates {
		result.Checks = append(result.Checks, company.GateCheck{Name: gate.Name, Command: gate.Command, Passed: true,
			Output: strings.Repeat("ok  \texample.org/api/limit\t0.312s\n", 30)})
	}
	return result.Settle(task.Baseline, nil)
}

// endRun reserves money for a run, and then ends it with success.
func (p *past) endRun(task *company.Task, e company.Effect) error {
	run := task.Runs[e.Run]
	spent := company.Amount{MicroUSD: 4000, Tokens: 9000}
	if run.Reserved == (company.Amount{}) {
		return p.do(string(run.ID), company.Reserve{Run: run.ID, Fence: run.Fence, One: spent, Many: spent})
	}
	end := company.EndRun{Run: run.ID, Fence: run.Fence, Outcome: company.RunEnded{
		Status: company.RunSuccess, Summary: "Added the limit, with its test; the middleware counts by client.", Turns: 9,
		Spent:   spent,
		Models:  []company.ModelSpent{{Model: "a-model-of-some-size", Spent: spent}},
		Journal: company.Hash(strings.Repeat("a", 64)), Result: company.Hash(strings.Repeat("b", 64)),
	}}
	switch sub := task.Subtask(run.Subtask); run.Role {
	case company.Manager:
		end.Plan = planParts(p.waves, p.width)
	case company.Worker:
		end.Outcome.Head, end.Outcome.Branch = p.nextOID(), "agent/"+string(sub.ID)+"-x"
		for n := range 4 {
			end.Outcome.Changes = append(end.Outcome.Changes,
				company.Change{Path: fmt.Sprintf("pkg/%s/file%d.go", sub.ID, n), Action: "modified"})
		}
	default:
		end.Review = &company.ReviewRecorded{Head: task.Head, Onto: task.Head, Verdict: company.Approve, PatchID: "p",
			Evidence: []string{"read the diff", "the test covers the limit"}}
		if sub != nil {
			end.Review.Head, end.Review.Whole = sub.Head, task.JudgesWhole()
		}
	}
	return p.do(string(run.ID), end)
}

// planParts returns a plan of independent parts.
func planParts(waves, width int) *company.Plan {
	plan := &company.Plan{Why: "the parts do not know each other", Waves: make([]company.Wave, waves)}
	for n := range waves * width {
		wave := &plan.Waves[n/width]
		wave.Subtasks = append(wave.Subtasks, company.PlannedSubtask{
			Title:              fmt.Sprintf("Limit part %d of the API", n),
			Description:        strings.Repeat("Write the code for it, with its tests, as the package beside it does. ", 6),
			AcceptanceCriteria: []string{"go test ./... passes", "a client that asks too often gets 429"},
			WriteSet:           []string{fmt.Sprintf("pkg/p%d/**", n)}, Effort: company.EffortSmall,
		})
	}
	return plan
}
