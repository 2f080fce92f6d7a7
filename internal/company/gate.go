package company

import (
	"slices"
	"time"
)

// GateCommand is one gate command, pinned at the base commit.
type GateCommand struct {
	Name    string `json:"name"`             // lint | test, with the part in parentheses if there are several: test (web)
	Command string `json:"command"`          // shell command, as people run it
	Dir     string `json:"dir,omitempty"`    // working folder; empty means the root of the tree
	Report  string `json:"report,omitempty"` // Command with options that make it report its tests; empty means Command
	Parse   string `json:"parse,omitempty"`  // format of its report; empty means that only the exit code counts
	Probe   string `json:"probe,omitempty"`  // succeeds if the image has what the gate needs
	Given   bool   `json:"given,omitempty"`  // from the config, not found in the repository
	// Provisional means that it judges a change only if it is green on the base. Either no file in the repository asks
	// for it, or only CI does, which may have tools that are missing here.
	Provisional bool   `json:"provisional,omitempty"`
	From        string `json:"from,omitempty"` // file:line of the CI definition that runs it
	// Plant tells how to add a test that must fail beside a change. Empty means that none can be made.
	Plant  string `json:"plant,omitempty"`
	Canary string `json:"canary,omitempty"` // runs only that test; CANARY stands for its name
}

// GateCheck is one command of a gate and its result.
type GateCheck struct {
	Name    string `json:"name"`
	Command string `json:"command"` // as pinned at the base commit
	Passed  bool   `json:"passed"`
	Skipped bool   `json:"skipped,omitempty"` // not run because an earlier check failed; not passed
	// Absent means that it was not run because it cannot judge the base (ExplainAbsence). It has not passed.
	Absent  bool `json:"absent,omitempty"`
	LeftOut bool `json:"left_out,omitempty"` // absent because the base is red by it and it is Provisional
	// Excused tells why a failed check does not block. An unread check waits for the president.
	Excused  BaselineComparison `json:"excused,omitempty"`
	ExitCode int                `json:"exit_code"`
	Output   string             `json:"output,omitempty"`   // head and tail, at most 8 KiB
	Log      Hash               `json:"log,omitempty"`      // the whole output
	Took     time.Duration      `json:"took_ns"`            // of all attempts
	Attempts []int              `json:"attempts,omitempty"` // exit codes of earlier runs on the same tree
	Counts   *TestCounts        `json:"counts,omitempty"`   // nil means that its output was not understood
	Tests    []TestResult       `json:"tests,omitempty"`    // failed tests; fewer than counted if there are too many
	Flaky    []string           `json:"flaky,omitempty"`    // failed in an attempt, but not in this run of the same tree
	Names    Hash               `json:"names,omitempty"`    // blob of the names of the passed tests, one a line
	Gone     []string           `json:"gone,omitempty"`     // passed on the base but are no longer reported; bounded
	Canary   *Canary            `json:"canary,omitempty"`   // whether it covers the changed folders; nil means not tested
	// Memory is its container's memory in bytes if that is more than the default.
	Memory   int64  `json:"memory,omitempty"`
	Disk     int64  `json:"disk,omitempty"`     // the same for disk space of its work space
	Narrower string `json:"narrower,omitempty"` // for a slow check of the base: a narrower command, and the reason
	// Beside holds the lines of an unreadable red check that the base's output lacks. It is bounded.
	Beside string    `json:"beside,omitempty"`
	Part   *TestPart `json:"part,omitempty"` // the part of its suite that it ran for a ticket; nil means all
}

// ExplainAbsence returns the reason why an absent check was not run.
func (c GateCheck) ExplainAbsence() string {
	if c.LeftOut {
		return "red on the base, so it does not judge changes"
	}
	return "cannot run here: " + c.ExplainCannotRun()
}

// Canary is the result of failing tests that the company put beside a change. A gate that stays green with such a test
// does not cover that folder.
type Canary struct {
	Proven []string `json:"proven,omitempty"` // folders in which it turned the gate red
	// Hollow lists folders in which the gate stayed green although the base's gate turned red. They block.
	Hollow []string      `json:"hollow,omitempty"`
	Blind  []string      `json:"blind,omitempty"`  // folders that the gate did not cover before the change either
	Reason string        `json:"reason,omitempty"` // why some folders are not proven
	Took   time.Duration `json:"took_ns,omitempty"`
}

// Hollow reports whether a gate stopped covering a folder of the change.
func (c GateCheck) Hollow() bool { return c.Canary != nil && len(c.Canary.Hollow) > 0 }

// Overlooked returns the folders of the change that a check does not cover. It leaves out folders that another check
// covers, since unit tests and end-to-end tests have their own folders.
func (r GateResult) Overlooked(gateCheck GateCheck) []string {
	if gateCheck.Canary == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(gateCheck.Canary.Blind), func(folder string) bool {
		return slices.ContainsFunc(r.Checks, func(other GateCheck) bool {
			return other.Canary != nil && slices.Contains(other.Canary.Proven, folder)
		})
	})
}

// Coverage tells how many of the changed folders the checks cover, as far as that was tested.
type Coverage struct {
	Checks  []string // checks that do not cover all folders
	Unseen  []string // folders that no check covers, sorted
	Folders int      // number of tested folders
}

// Coverage collects the folders of the change that no check covers.
func (r GateResult) Coverage() Coverage {
	var cov Coverage
	var tried []string
	for _, gateCheck := range r.Checks {
		if gateCheck.Canary == nil {
			continue
		}
		tried = slices.Concat(tried, gateCheck.Canary.Proven, gateCheck.Canary.Blind, gateCheck.Canary.Hollow)
		if unseen := r.Overlooked(gateCheck); len(unseen) > 0 {
			cov.Checks = append(cov.Checks, gateCheck.Name)
			cov.Unseen = append(cov.Unseen, unseen...)
		}
	}
	slices.Sort(tried)
	slices.Sort(cov.Unseen)
	cov.Unseen, cov.Folders = slices.Compact(cov.Unseen), len(slices.Compact(tried))
	return cov
}

// TestCounts holds the numbers of tests that a check reports.
type TestCounts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// TestResult is one test of a check, or one finding of a linter, according to the check's own output. A green verdict
// never relies on it.
type TestResult struct {
	Name    string `json:"name"`
	Status  string `json:"status"` // passed | failed | skipped
	Message string `json:"message,omitempty"`
	Known   bool   `json:"known,omitempty"` // it fails on the base too
	Unrun   bool   `json:"unrun,omitempty"` // it kept tests from running: a failed build, or a run that did not end
}

// GateResult is the gates' verdict on one tree (GAT-1).
type GateResult struct {
	Tree     OID         `json:"tree"`
	GateHash Hash        `json:"gate_hash"` // of the pinned commands
	Image    string      `json:"image"`     // key of the image it ran in
	Checks   []GateCheck `json:"checks"`
	Passed   bool        `json:"overall"`            // each check passed, or is excused by the baseline
	Untested bool        `json:"untested,omitempty"` // no check was run, as a person or the config allowed
	Cached   bool        `json:"cached,omitempty"`
	// RedGreen is of the ticket, or of the whole task. It is a report and does not affect the verdict.
	RedGreen *RedGreen `json:"red_green,omitempty"`
}

// RedGreen reports which tests of a change prove it: they pass with the change and failed on the base with only the
// change's test files added. Lists are bounded.
type RedGreen struct {
	Files int `json:"files"` // test files that the change adds or changes
	// Source means that the change touches non-test code that a test gate covers. It is set only where red-green tests
	// are required.
	Source bool     `json:"source,omitempty"`
	Fresh  int      `json:"fresh"`            // new tests, without their cases
	Cases  int      `json:"cases,omitempty"`  // new cases, of new and of old tests
	Shown  int      `json:"shown"`            // tests that fail without the change; a test and its cases count as one
	Proof  []string `json:"proof,omitempty"`  // the first of them, and of their cases
	Idle   []string `json:"idle,omitempty"`   // new tests that pass without the change too
	Reason string   `json:"reason,omitempty"` // why the result is unknown

	// Unseen counts new tests that were not run without the change: their file does not compile or crashes there, or they
	// are missing. Shown does not include them.
	Unseen int `json:"unseen,omitempty"`
	// Unbuilt lists packages, crates or test files that do not compile or load without the change. Died lists the ones
	// whose run ends early there, by a panic or an exit.
	Unbuilt []string `json:"unbuilt,omitempty"`
	Died    []string `json:"died,omitempty"`
	// Apart lists test files that were run there alone, because others of their package do not compile there. The others
	// are in Unbuilt.
	Apart []string `json:"apart,omitempty"`
}

// GateKey returns the cache key of a verdict. The same gates in the same image do not run twice on the same tree.
func GateKey(tree OID, gates Hash, image string) string {
	return string(tree) + " " + string(gates) + " " + image
}

// AllowsMerge reports whether the verdict allows a merge: it is green, or there are no gates and the president allowed
// that.
func (r GateResult) AllowsMerge() bool { return r.Passed || r.Untested }

// RecordGateResult records the verdict on a head. The head is of a subtask, merged onto the integration head if
// possible, or of the whole task.
type RecordGateResult struct {
	Task    TaskID
	Subtask SubtaskID // empty means the whole task
	GateFinished
}

// GateFinished is the event of a gate verdict.
type GateFinished struct {
	Head     OID        `json:"head"`
	Onto     OID        `json:"onto"`               // the integration head at that time
	Conflict bool       `json:"conflict,omitempty"` // it does not merge, so the branch's own tree was tested
	Result   GateResult `json:"result"`
	// Stack lists the subtasks that were tested together, if there are several. The verdict applies to the tree of all of
	// them.
	Stack []SubtaskID `json:"stack,omitempty"`
	// Remade lists lock files and generated files of the tested tree that their own programs regenerated, since both
	// sides of the merge had changed them, and files that kept one side's text (KeptByRule).
	Remade []RemadeFile `json:"remade,omitempty"`
}

// RemadeFile is a lock file or generated file that its own program regenerated for a merge.
type RemadeFile struct {
	Path    string `json:"path"`
	Command string `json:"command"` // command with which a person regenerates it
	Of      OID    `json:"of"`      // the tree that it was generated from, with the file of one side
}

// KeptByRule takes the place of a command for a file that both sides changed and that keeps the text of the
// integration branch, because .gitattributes says so. The file comes from no other tree: Of is empty.
const KeptByRule = "merge=ours"

var _ = registerKind[GateFinished]()

func (c RecordGateResult) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	check := state.checkVerdict
	if c.Subtask == "" {
		check = state.checkWholeVerdict
	}
	if err := check(task, c.Result); err != nil {
		return nil, err
	}
	if c.Subtask == "" {
		if task.Status != StatusReviewing || c.Head != task.Head || !state.gateDue(task) {
			return nil, nil
		}
		if c.Result.Tree != task.Tree {
			return nil, E(EInvalid, "the verdict is not for the tree of the integration branch")
		}
	} else {
		sub := task.Subtask(c.Subtask)
		if sub == nil {
			return nil, E(ENotFound, "there is no subtask "+string(c.Subtask))
		}
		if sub.Status != SubtaskInGate || c.Head != sub.Head || state.awaitsUnreadVerdict(task, sub.headGateResult()) ||
			task.awaitsRedGreen(sub) {
			return nil, nil
		}
		if task.requiresRedGreen(&c.GateFinished) && c.Result.RedGreen == nil {
			return nil, E(EInvalid, "a green verdict must say what the ticket's tests show").
				Because("gates.red_green is require")
		}
	}
	return []Event{meta.newEvent(task.ID, c.Subtask, "", &c.GateFinished)}, nil
}

// checkVerdict refuses a verdict without proof. It must be for the pinned gates. It may be green only if every check is
// green or excused by the baseline (GAT-1, GAT-3).
func (s *State) checkVerdict(task *Task, gateResult GateResult) error {
	switch {
	case !gateResult.Tree.Valid():
		return E(EInvalid, "the verdict has no tree")
	case task.Prepared == nil || gateResult.GateHash != task.Prepared.GateHash:
		return E(EInvalid, "the verdict does not match the task's pinned gates")
	case gateResult.Untested && task.hasGates():
		return E(EInvalid, "untested is not a verdict for a task with gates")
	case gateResult.Passed && len(gateResult.Checks) != len(task.Prepared.Gates):
		return E(EInvalid, "a green verdict needs every gate")
	case gateResult.Passed && len(gateResult.Checks) == 0:
		return E(EInvalid, "a verdict without gates cannot be green")
	}
	if !gateResult.Passed {
		return nil
	}
	ran := false
	for i, ch := range gateResult.Checks {
		if g := task.Prepared.Gates[i]; ch.Name != g.Name || ch.Command != g.Command {
			return E(EInvalid, "the green verdict has "+ch.Name+" in the place of the pinned "+g.Name)
		}
		stand := ch.Against(baseCheck(task.Baseline, i))
		if stand == ComparedUnreadable && s.isApproved(UnreadKey(task.ID, ch)) {
			stand = ComparedAsBefore
		}
		if stand != ComparedPassed && !stand.isExcused() {
			return E(EInvalid, "a green verdict cannot have a failed "+ch.Name)
		}
		if stand.isExcused() && ch.Excused != stand {
			return E(EInvalid, "a green verdict must say that "+ch.Name+" is red")
		}
		ran = ran || stand != ComparedAbsent
	}
	if !ran {
		return E(EInvalid, "a green verdict needs a run")
	}
	return nil
}

func (*GateFinished) Kind() string { return "gate.finished" }
func (d *GateFinished) apply(state *State, event Event) {
	task := state.editTask(event.Task)
	state.cacheResult(d.Result)
	if event.Subtask == "" {
		task.Gate = d
		delete(task.Failures, "gate")
		if !d.Result.AllowsMerge() && !state.awaitsUnreadVerdict(task, d) {
			task.addRepairWave("The gates are red on the merged whole", d.Result.failedOutput())
		}
		return
	}
	delete(task.Failures, "gate "+string(event.Subtask))
	sub := task.editSubtask(event.Subtask)
	sub.FirstSteps = d.Result.FirstSteps()
	if sub.Gate = d; state.awaitsUnreadVerdict(task, d) {
		return // it keeps its status until the president has answered
	}
	if sub.holdUnshown(task, d) {
		return
	}
	sub.applyGateResult(task, d)
}

func (sub *Subtask) applyGateResult(task *Task, gateFinished *GateFinished) {
	sub.Gate = gateFinished
	if gateFinished.Result.AllowsMerge() {
		sub.Status = SubtaskReviewing
		return
	}
	sub.failQuality(task)
	sub.GateReds++
	task.removeFromQueue(sub.ID)
	if sub.GateReds > task.Settings.GateRetries {
		sub.escalateToManager("the gates stay red: " + firstLine(gateFinished.Result.failedOutput()))
		return
	}
	sub.requeue("The gates are red on your branch merged with the integration branch.")
}

// failQuality marks the ticket's newest successful run as RunQualityFailed.
func (sub *Subtask) failQuality(task *Task) {
	if r := task.Runs[NewRunID(task.ID, sub.ID, Worker, sub.Started)]; r != nil && r.Ended && r.Status == RunSuccess {
		run := *r
		run.Status = RunQualityFailed
		task.setRun(&run)
	}
}

// failedOutput returns the output of the first check that blocks, preceded by the names of its new failures. It is
// empty if no check blocks.
func (r GateResult) failedOutput() string {
	for _, ch := range r.Checks {
		if ch.Passed && !ch.Hollow() || ch.Skipped || ch.Excused.isExcused() {
			continue
		}
		out := ch.Name + " (" + ch.Command + "):\n"
		if ch.Hollow() {
			out += "It does not look at " + nameSome(ch.Canary.Hollow) +
				" any more: a test that must fail, put there by the company, did not turn it red, and before the change it does. " +
				"What keeps tests from running or from counting there: a TestMain or init that ends the program, a line in " +
				"go.mod or in a runner's config, a file that stands for the runner, a hook?\n"
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

// addRepairWave adds a wave with one subtask that fixes the problems found in the whole task. After the allowed rounds
// it adds none, and the president is asked instead.
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

// LastRed returns the output of the first failed check of the last verdict. It is empty if there is no verdict or if it
// allows a merge.
func (sub *Subtask) LastRed() string {
	if sub.Gate == nil || sub.Gate.Result.AllowsMerge() {
		return ""
	}
	return sub.Gate.Result.failedOutput()
}

// IdleTests returns the new tests of the last head that pass without its change too, as far as known. They do not
// block.
func (sub *Subtask) IdleTests() []string {
	if sub.Gate == nil || sub.Gate.Result.RedGreen == nil {
		return nil
	}
	return sub.Gate.Result.RedGreen.Idle
}
