package company

import (
	"slices"
	"time"
)

// GateCommand is one pinned gate.
type GateCommand struct {
	Name    string `json:"name"`             // lint | test, and the part behind it where there are several: test (web)
	Command string `json:"command"`          // for the shell, as people run it
	Dir     string `json:"dir,omitempty"`    // the folder it runs in; empty: the root of the tree
	Report  string `json:"report,omitempty"` // the same with what makes it report its tests; empty: Command
	Parse   string `json:"parse,omitempty"`  // how its report is read; empty: by the exit code alone
	Probe   string `json:"probe,omitempty"`  // succeeds where the image has what it needs
	Given   bool   `json:"given,omitempty"`  // by the config, not found in the repository
	// Provisional says that it judges a change only where it is green on the base: nothing in the
	// repository asks for it, or its CI alone does, which may have what a check here has not.
	Provisional bool   `json:"provisional,omitempty"`
	From        string `json:"from,omitempty"`   // file:line of the CI definition that runs it
	Plant       string `json:"plant,omitempty"`  // how a test that must fail is put beside a change; empty: none can be made
	Canary      string `json:"canary,omitempty"` // runs that test and nothing else; CANARY stands for its name
}

// GateCheck is one command of a gate and its verdict.
type GateCheck struct {
	Name     string             `json:"name"`
	Command  string             `json:"command"` // as pinned at the base commit
	Passed   bool               `json:"passed"`
	Skipped  bool               `json:"skipped,omitempty"`  // not run because an earlier check failed; not passed
	Absent   bool               `json:"absent,omitempty"`   // not run because it cannot judge the base (ExplainAbsence); not passed
	LeftOut  bool               `json:"left_out,omitempty"` // absent, since the base is red by it and it is Provisional
	Excused  BaselineComparison `json:"excused,omitempty"`  // why it does not bar though it did not pass; unread: it waits for the president
	ExitCode int                `json:"exit_code"`
	Output   string             `json:"output,omitempty"`   // head and tail, bounded to 8 KiB
	Log      Hash               `json:"log,omitempty"`      // the whole output
	Took     time.Duration      `json:"took_ns"`            // of all attempts
	Attempts []int              `json:"attempts,omitempty"` // exit codes of the runs of the same tree before this one
	Counts   *TestCounts        `json:"counts,omitempty"`   // nil: its output was not understood
	Tests    []TestResult       `json:"tests,omitempty"`    // that failed; fewer than counted: too many to name
	Flaky    []string           `json:"flaky,omitempty"`    // failed in an attempt, and not in this run of the same tree
	Names    Hash               `json:"names,omitempty"`    // the tests that passed, a blob of lines
	Gone     []string           `json:"gone,omitempty"`     // passed on the base and are no longer reported; bounded
	Canary   *Canary            `json:"canary,omitempty"`   // whether it looks at what the change touches; nil: not asked
	Memory   int64              `json:"memory,omitempty"`   // bytes that its container got, where that is more than everybody's
	Disk     int64              `json:"disk,omitempty"`     // the same of its work space
	Narrower string             `json:"narrower,omitempty"` // of a slow check of the base: a command that does less, and why
	Beside   string             `json:"beside,omitempty"`   // of a red check that cannot be read: the lines that the base's output does not have; bounded
	Part     *TestPart          `json:"part,omitempty"`     // the share of its suite that it ran for a ticket, where that is not all
}

// ExplainAbsence says why a check is not run: that it cannot judge the base.
func (c GateCheck) ExplainAbsence() string {
	if c.LeftOut {
		return "red on the base, so it does not judge changes"
	}
	return "its program is not in the image, so it was not checked"
}

// Canary is what came of tests that must fail, put by the company beside a
// change. A gate that stays green with one of them does not look there.
type Canary struct {
	Proven []string      `json:"proven,omitempty"` // folders in which it turned the gate red
	Hollow []string      `json:"hollow,omitempty"` // folders in which the gate stayed green, and the base's turned red: that bars
	Blind  []string      `json:"blind,omitempty"`  // folders at which the gate did not look before the change either
	Reason string        `json:"reason,omitempty"` // why not all is proven
	Took   time.Duration `json:"took_ns,omitempty"`
}

// Hollow says whether a gate stopped looking at what the change touches.
func (c GateCheck) Hollow() bool { return c.Canary != nil && len(c.Canary.Hollow) > 0 }

// Overlooked are the folders of the change at which a check does not look, without those at which
// another one does: unit tests and end-to-end tests have folders of their own.
func (r GateResult) Overlooked(c GateCheck) []string {
	if c.Canary == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Canary.Blind), func(folder string) bool {
		return slices.ContainsFunc(r.Checks, func(other GateCheck) bool {
			return other.Canary != nil && slices.Contains(other.Canary.Proven, folder)
		})
	})
}

// Coverage is at how many of the changed folders the checks look, as far as that was tried.
type Coverage struct {
	Checks  []string // that do not look at all of them
	Unseen  []string // folders at which no check looks, sorted
	Folders int      // that were tried
}

// Coverage gathers from all checks which folders of the change none of them looks at.
func (r GateResult) Coverage() Coverage {
	var cov Coverage
	var tried []string
	for _, c := range r.Checks {
		if c.Canary == nil {
			continue
		}
		tried = slices.Concat(tried, c.Canary.Proven, c.Canary.Blind, c.Canary.Hollow)
		if unseen := r.Overlooked(c); len(unseen) > 0 {
			cov.Checks = append(cov.Checks, c.Name)
			cov.Unseen = append(cov.Unseen, unseen...)
		}
	}
	slices.Sort(tried)
	slices.Sort(cov.Unseen)
	cov.Unseen, cov.Folders = slices.Compact(cov.Unseen), len(slices.Compact(tried))
	return cov
}

// TestCounts is how many tests a check reports.
type TestCounts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// TestResult is one test of a check, or one finding of a linter, as the
// check's own output says. No verdict of green rests on it.
type TestResult struct {
	Name    string `json:"name"`
	Status  string `json:"status"` // passed | failed | skipped
	Message string `json:"message,omitempty"`
	Known   bool   `json:"known,omitempty"` // it fails on the base too
	Unrun   bool   `json:"unrun,omitempty"` // tests behind it were not run: a build that failed, a run that did not end
}

// GateResult is the verdict on one tree (GAT-1).
type GateResult struct {
	Tree     OID         `json:"tree"`
	GateHash Hash        `json:"gate_hash"` // of the pinned commands
	Image    string      `json:"image"`     // key of the image it ran in
	Checks   []GateCheck `json:"checks"`
	Passed   bool        `json:"overall"`            // each check passed, or is excused by the baseline
	Untested bool        `json:"untested,omitempty"` // nothing was run, allowed by a person or the config
	Cached   bool        `json:"cached,omitempty"`
	RedGreen *RedGreen   `json:"red_green,omitempty"` // of the ticket, or of the whole task; a report, no part of the verdict
}

// RedGreen tells which tests of a change show anything: they pass with it, and
// on the base with only the change's test files they were seen to fail. Lists are bounded.
type RedGreen struct {
	Files  int      `json:"files"`            // test files that the change adds or changes
	Source bool     `json:"source,omitempty"` // it touches what a test gate covers, tests apart; asked where that is required alone
	Fresh  int      `json:"fresh"`            // tests that the base does not have, without their cases
	Cases  int      `json:"cases,omitempty"`  // cases that the base does not have, of new tests and of old ones
	Shown  int      `json:"shown"`            // tests that fail without the change, each with its cases one
	Proof  []string `json:"proof,omitempty"`  // the first of them, and of their cases
	Idle   []string `json:"idle,omitempty"`   // new tests that pass without the change too
	Reason string   `json:"reason,omitempty"` // why it is not known

	// Unseen counts new tests that were not run without the change: what they are in does
	// not compile or dies there, or they are not there. They are not among Shown.
	Unseen int `json:"unseen,omitempty"`
	// Unbuilt are packages, crates or files of tests that do not compile or load without the
	// change, and Died those whose run ends there before it is through: a panic, an exit.
	Unbuilt []string `json:"unbuilt,omitempty"`
	Died    []string `json:"died,omitempty"`
}

// GateKey names a verdict in the cache: the same tree, the same gates and the
// same image are not judged twice.
func GateKey(tree OID, gates Hash, image string) string {
	return string(tree) + " " + string(gates) + " " + image
}

// AllowsMerge says whether a verdict lets work pass: green, or no gates with
// the president's permission.
func (r GateResult) AllowsMerge() bool { return r.Passed || r.Untested }

// RecordGateResult brings in the verdict on a head: of a subtask, merged onto the
// integration head where that is possible, or of the whole task.
type RecordGateResult struct {
	Task    TaskID
	Subtask SubtaskID // empty: the whole task
	GateFinished
}

// GateFinished is a verdict of the gates.
type GateFinished struct {
	Head     OID        `json:"head"`
	Onto     OID        `json:"onto"`               // the integration head at that time
	Conflict bool       `json:"conflict,omitempty"` // the branch's own tree was judged, since it does not merge
	Result   GateResult `json:"result"`
	// Stack are the subtasks that were judged together, where there are several: the
	// verdict is of the tree of all of them.
	Stack []SubtaskID `json:"stack,omitempty"`
	// Remade are lock files and generated files of the judged tree that their own programs
	// made anew, since both sides of the merge have changed them.
	Remade []RemadeFile `json:"remade,omitempty"`
}

// RemadeFile is a lock file, or a generated file, that its own program made anew for a merge.
type RemadeFile struct {
	Path    string `json:"path"`
	Command string `json:"command"` // by which a person makes it
	Of      OID    `json:"of"`      // the tree that it was made of, with the file of one side
}

var _ = registerKind[GateFinished]()

func (c RecordGateResult) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if !s.mayJudge(t) {
		return nil, nil // the verdict is of an image or a base that is judged anew
	}
	check := s.checkVerdict
	if c.Subtask == "" {
		check = s.checkWholeVerdict
	}
	if err := check(t, c.Result); err != nil {
		return nil, err
	}
	if c.Subtask == "" {
		if t.Status != StatusReviewing || c.Head != t.Head || !s.gateDue(t) {
			return nil, nil
		}
		if c.Result.Tree != t.Tree {
			return nil, E(EInvalid, "the verdict is of another tree than the integration branch's")
		}
	} else {
		sub := t.Subtask(c.Subtask)
		if sub == nil {
			return nil, E(ENotFound, "there is no subtask "+string(c.Subtask))
		}
		if sub.Status != SubtaskInGate || c.Head != sub.Head || s.awaitsUnreadVerdict(t, sub.headGateResult()) || t.awaitsRedGreen(sub) {
			return nil, nil
		}
		if t.requiresRedGreen(&c.GateFinished) && c.Result.RedGreen == nil {
			return nil, E(EInvalid, "a green verdict that does not say what the tests of the ticket show").Because("gates.red_green is require")
		}
	}
	return []Event{m.newEvent(t.ID, c.Subtask, "", &c.GateFinished)}, nil
}

// checkVerdict refuses a verdict that does not carry its own proof: it must
// be for the pinned gates, and green only if every check is, or is red in no
// other way than on the base (GAT-1, GAT-3).
func (s *State) checkVerdict(t *Task, r GateResult) error {
	switch {
	case !r.Tree.Valid():
		return E(EInvalid, "a verdict without a tree")
	case t.Prepared == nil || r.GateHash != t.Prepared.GateHash:
		return E(EInvalid, "the verdict is not of this task's pinned gates")
	case r.Untested && t.hasGates():
		return E(EInvalid, "there are gates; untested is no verdict")
	case r.Passed && len(r.Checks) != len(t.Prepared.Gates):
		return E(EInvalid, "a green verdict needs every gate")
	case r.Passed && len(r.Checks) == 0:
		return E(EInvalid, "no gates is not green")
	}
	if !r.Passed {
		return nil
	}
	ran := false
	for i, ch := range r.Checks {
		if g := t.Prepared.Gates[i]; ch.Name != g.Name || ch.Command != g.Command {
			return E(EInvalid, "a green verdict of "+ch.Name+", which is not the pinned "+g.Name)
		}
		stand := ch.Against(baseCheck(t.Baseline, i))
		if stand == ComparedUnreadable && s.isApproved(UnreadKey(t.ID, ch)) {
			stand = ComparedAsBefore
		}
		if stand != ComparedPassed && !stand.isExcused() {
			return E(EInvalid, "a green verdict with a failed "+ch.Name)
		}
		if stand.isExcused() && ch.Excused != stand {
			return E(EInvalid, "a green verdict that does not say that "+ch.Name+" is red")
		}
		ran = ran || stand != ComparedAbsent
	}
	if !ran {
		return E(EInvalid, "a green verdict that nothing was run for")
	}
	return nil
}

func (*GateFinished) Kind() string { return "gate.finished" }
func (d *GateFinished) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	s.cacheResult(d.Result)
	if e.Subtask == "" {
		t.Gate = d
		delete(t.Failures, "gate")
		if !d.Result.AllowsMerge() && !s.awaitsUnreadVerdict(t, d) {
			t.addRepairWave("The gates are red on the merged whole", d.Result.failedOutput())
		}
		return
	}
	delete(t.Failures, "gate "+string(e.Subtask))
	sub := t.editSubtask(e.Subtask)
	sub.FirstSteps = d.Result.FirstSteps()
	if sub.Gate = d; s.awaitsUnreadVerdict(t, d) {
		return // it stays where it is until the president has answered
	}
	if sub.holdUnshown(t, d) {
		return
	}
	sub.applyGateResult(t, d)
}

func (sub *Subtask) applyGateResult(t *Task, d *GateFinished) {
	sub.Gate = d
	if d.Result.AllowsMerge() {
		sub.Status = SubtaskReviewing
		return
	}
	sub.failQuality(t)
	sub.GateReds++
	t.removeFromQueue(sub.ID)
	if sub.GateReds > t.Settings.GateRetries {
		sub.escalateToManager("the gates stay red: " + firstLine(d.Result.failedOutput()))
		return
	}
	sub.requeue("The gates are red on your branch merged with the integration branch.")
}

// failQuality marks the newest run of the ticket as one whose work did not pass.
func (sub *Subtask) failQuality(t *Task) {
	if r := t.Runs[NewRunID(t.ID, sub.ID, Worker, sub.Started)]; r != nil && r.Ended && r.Status == RunSuccess {
		c := *r
		c.Status = RunQualityFailed
		t.setRun(&c)
	}
}

// failedOutput is the output of the first check that bars, behind the names of
// its new failures.
func (r GateResult) failedOutput() string {
	for _, ch := range r.Checks {
		if ch.Passed && !ch.Hollow() || ch.Skipped || ch.Excused.isExcused() {
			continue
		}
		out := ch.Name + " (" + ch.Command + "):\n"
		if ch.Hollow() {
			out += "It does not look at " + nameSome(ch.Canary.Hollow) + " any more: a test that must fail, put there by the company, did not turn it red, and before the change it does. " +
				"What keeps tests from running or from counting there: a TestMain or init that ends the program, a line in go.mod or in a runner's config, a file that stands for the runner, a hook?\n"
		}
		if news := ch.NewFailures(); len(news) > 0 && len(news) < len(ch.Tests) {
			out += "These fail, and did not on the base: " + nameSome(news) + "\n"
		}
		return out + ch.Output
	}
	return ""
}

func (t *Task) gateDone() bool   { return t.Gate != nil && t.Gate.Head == t.Head }
func (t *Task) gatePassed() bool { return t.gateDone() && t.Gate.Result.AllowsMerge() }

// addRepairWave adds a wave with one subtask that mends what the checks of the whole
// found. After the allowed rounds the president is asked instead.
func (t *Task) addRepairWave(title, what string) {
	t.Review.Rounds++
	if t.Review.Rounds > t.Settings.ReviewRounds {
		return
	}
	t.addWave([]PlannedSubtask{{
		Title: title, Description: what, AcceptanceCriteria: []string{"what is described here no longer holds"},
		WriteSet: []string{"**"}, Effort: "small",
	}})
	t.Status = StatusExecuting
}

func (t *Task) reviewExhausted() bool { return t.Review.Rounds > t.Settings.ReviewRounds }

func firstLine(s string) string {
	const most = 200
	for i, r := range s {
		if r == '\n' && i > 0 || i >= most {
			return s[:i]
		}
	}
	return s
}

// LastRed is what the first failed check of the last verdict printed, or
// nothing when the last verdict was green.
func (sub *Subtask) LastRed() string {
	if sub.Gate == nil || sub.Gate.Result.AllowsMerge() {
		return ""
	}
	return sub.Gate.Result.failedOutput()
}

// IdleTests are the new tests of the last head that pass without its change
// too, as far as that is known. They bar nothing.
func (sub *Subtask) IdleTests() []string {
	if sub.Gate == nil || sub.Gate.Result.RedGreen == nil {
		return nil
	}
	return sub.Gate.Result.RedGreen.Idle
}
