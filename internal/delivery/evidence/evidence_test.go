package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"company/internal/agentrun/runfiles"
	"company/internal/bus"
	"company/internal/company"
	"company/internal/gitops/gitopstest"
	"company/internal/present/view"
)

// memory has blobs by their hash.
type memory map[company.Hash][]byte

func (m memory) put(text []byte) company.Hash {
	sum := sha256.Sum256(text)
	hash := company.Hash(hex.EncodeToString(sum[:]))
	m[hash] = text
	return hash
}

func (m memory) GetBlob(_ context.Context, hash company.Hash, _ int64) ([]byte, error) {
	text, ok := m[hash]
	if !ok {
		return nil, company.E(company.ENotFound, "no blob "+string(hash))
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != string(hash) {
		return nil, company.E(company.ELedger, "the blob is damaged")
	}
	return text, nil
}

func (m memory) VerifyBlob(ctx context.Context, hash company.Hash) error {
	_, err := m.GetBlob(ctx, hash, 0)
	return err
}

// silentBus does not answer.
type silentBus struct{ memory }

func (silentBus) GetBlob(context.Context, company.Hash, int64) ([]byte, error) {
	return nil, company.E(company.EBus, "no answer")
}

// work is a delivered task with everything that shows it.
type work struct {
	*gitopstest.Project
	blobs                memory
	task                 *company.Task
	journal, result, log company.Hash
}

const worked = company.RunID("t1-01.1")

func newWork(t *testing.T) *work {
	t.Helper()
	w := &work{Project: gitopstest.New(t, map[string]string{"a.go": "package a\n", "old.go": "package a\n"}),
		blobs: memory{}}
	w.Git("switch", "-q", "-c", "work")
	w.Git("rm", "-q", "old.go")
	w.Write(map[string]string{"new.go": "package a\n"})
	w.Git("add", "-A")
	w.Git("commit", "-q", "-m", "work")
	w.Git("switch", "-q", "main")
	head := w.Fetch("work")
	w.journal = w.blobs.put([]byte("what was said"))
	w.log = w.blobs.put([]byte("ok"))
	gate := &company.GateFinished{Head: head, Result: company.GateResult{Tree: w.Tree(head), Passed: true,
		Checks: []company.GateCheck{{Name: "test", Passed: true, Log: w.log}, {Name: "lint", Skipped: true}}}}
	w.task = &company.Task{ID: "t1", Status: company.StatusReviewing, Head: head, Tree: gate.Result.Tree, Gate: gate,
		Prepared: &company.TaskPrepared{Base: company.Base{OID: w.Base}}, Delivery: &company.DeliveryIntended{Head: head},
		Runs: map[company.RunID]*company.Run{
			worked: {ID: worked, Role: company.Worker, Ended: true, Fence: 3, Status: company.RunSuccess, Head: head,
				Journal: w.journal},
			"t1-01.2": {ID: "t1-01.2", Role: company.Worker, Ended: true, Status: company.RunError}, // nobody held it
		},
		Subtasks: []*company.Subtask{{ID: "t1-01", Status: company.SubtaskCompleted, Merged: head, Gate: gate,
			Changes: []company.Change{{Path: "new.go", Action: "created"}, {Path: "a.go", Action: "modified"}}}},
	}
	w.setResult(t, runfiles.ExecutionResult{RunID: worked, Status: company.RunSuccess, Journal: w.journal})
	return w
}

func (w *work) setResult(t *testing.T, result runfiles.ExecutionResult) {
	t.Helper()
	text, err := result.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	w.result = w.blobs.put(text)
	w.task.Runs[worked].Result = w.result
}

func (w *work) check(t *testing.T) view.EvidenceCheck {
	t.Helper()
	mirror, err := w.MirrorOf(t.Context(), w.task)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Checker{Blobs: w.blobs, Now: time.Now}.Check(t.Context(), w.task, mirror)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// GAT-4, ART-8. Each operation has one claim with its evidence, and git shows the files.
func TestEvidenceIsWhole(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	got := w.check(t)
	if got.Verdict != view.EvidenceConsistent || len(got.Problems) != 0 || got.Modified != 2 {
		t.Errorf("%+v", got)
	}
	want := map[string]company.VerifiedFile{
		"new.go": {Path: "new.go", Action: "created", Exists: true}, "old.go": {Path: "old.go", Action: "deleted"},
		"a.go": {Path: "a.go", Exists: true}, // only the ticket changed it
	}
	for _, file := range got.Files {
		if (file.Hash != "") != file.Exists {
			t.Errorf("%+v: a file has the hash of its content", file)
		}
		file.Hash = ""
		if file != want[file.Path] {
			t.Errorf("%+v, want %+v", file, want[file.Path])
		}
	}
	seen := map[string]bool{}
	for _, claim := range got.Claims {
		if key := string(claim.Operation) + claim.Of; seen[key] || claim.Evidence == "" {
			t.Errorf("%+v is there twice, or without evidence", claim)
		} else {
			seen[key] = true
		}
	}
	if len(got.Claims) != 4 || len(got.Files) != len(want) {
		t.Errorf("%d claims, %d files", len(got.Claims), len(got.Files))
	}
	if evidence := got.Evidence(); evidence.Head != w.task.Head || evidence.Tree != w.task.Tree || evidence.More != 0 {
		t.Errorf("%+v", evidence)
	}
}

// However many files there are, and whatever their names, their list fits into a record of the ledger.
func TestListOfFilesIsBounded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", strings.Repeat("\x01", 200)} {
		check := view.EvidenceCheck{Modified: 100_000}
		for i := range check.Modified {
			check.Files = append(check.Files, company.VerifiedFile{Path: name + strconv.Itoa(i), Action: "created",
				Exists: true,
				Hash:   company.OID(strings.Repeat("a", 40))})
		}
		evidence := check.Evidence()
		text, err := json.Marshal(evidence)
		if err != nil || len(text) > bus.MaxRecord || len(evidence.Files) < 2000 ||
			evidence.CountModified() != check.Modified {
			t.Errorf("%d bytes, %d files of %d: %v", len(text), len(evidence.Files), evidence.CountModified(), err)
		}
	}
}

// GAT-5, ART-9. What is missing, damaged, of something else or of an unknown format is NO_EVIDENCE.
func TestEvidenceThatIsMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, w *work)
		want  string
	}{
		"no result": {func(_ *testing.T, w *work) { delete(w.blobs, w.result) }, "run t1-01.1: it is missing"},
		"a damaged result": {func(_ *testing.T, w *work) { w.blobs[w.result] = []byte("{}") },
			"run t1-01.1: the blob is damaged"},
		"an unknown format": {func(_ *testing.T, w *work) { w.task.Runs[worked].Result = w.blobs.put([]byte("<xml>")) },
			"run t1-01.1: its result has an unknown format"},
		"a result of another run": {func(t *testing.T, w *work) {
			w.setResult(t, runfiles.ExecutionResult{RunID: "t1-01.9", Journal: w.journal})
		}, "run t1-01.1: its result is of the run t1-01.9"},
		"another journal": {func(t *testing.T, w *work) {
			w.setResult(t, runfiles.ExecutionResult{RunID: worked, Journal: w.log})
		}, "run t1-01.1: its result names another journal than the ledger"},
		"no journal": {func(_ *testing.T, w *work) { delete(w.blobs, w.journal) }, "run t1-01.1: it is missing"},
		"no hash":    {func(_ *testing.T, w *work) { w.task.Runs[worked].Result = "" }, "the ledger names no evidence"},
		"no output":  {func(_ *testing.T, w *work) { delete(w.blobs, w.log) }, "it is missing"},
		"not merged": {func(_ *testing.T, w *work) { w.task.Head = w.Base },
			"merge t1-01: the integration branch does not"},
		"another tree": {func(_ *testing.T, w *work) { w.task.Gate.Result.Tree = w.Tree(w.Base) },
			"delivery t1: its tree is"},
		"no change": {func(_ *testing.T, w *work) { w.task.Prepared.Base.OID = w.task.Head }, "files: none differs"},
		"no commit": {func(_ *testing.T, w *work) {
			w.task.Subtasks[0].Merged = company.OID(strings.Repeat("7", 40))
		}, "merge t1-01: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWork(t)
			c.spoil(t, w)
			got := w.check(t)
			if got.Verdict != view.EvidenceMissing || !strings.Contains(strings.Join(got.Problems, "\n"), c.want) {
				t.Errorf("%s: %q, want %q", got.Verdict, got.Problems, c.want)
			}
			if text := got.RenderText(); !strings.Contains(text, "\nNO_EVIDENCE: ") {
				t.Errorf("the text does not say so:\n%s", text)
			}
		})
	}
}

// Evidence that a cleanup removed is said to be removed.
func TestEvidenceAfterACleanup(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	delete(w.blobs, w.result)
	w.task.Status, w.task.Ended = company.StatusCompleted, time.Now().Add(-time.Hour)
	mirror, err := w.MirrorOf(t.Context(), w.task)
	if err != nil {
		t.Fatal(err)
	}
	checker := Checker{Blobs: w.blobs, Now: time.Now, Cleaned: time.Now}
	for _, ended := range []time.Time{w.task.Ended, {}} { // the second one was reopened
		w.task.Ended = ended
		result, err := checker.Check(t.Context(), w.task, mirror)
		if err != nil || result.Verdict != view.EvidenceConsistent || !result.Claims[0].Removed ||
			!strings.Contains(result.RenderText(), "A cleanup of old tasks removed the evidence of 1.") {
			t.Errorf("%+v, %v", result, err)
		}
	}
	if result, err := checker.Check(t.Context(), w.task, nil); err != nil || len(result.Problems) != 2 ||
		!strings.Contains(strings.Join(result.Problems, "\n"), "the office has no git mirror of the project") {
		t.Errorf("%+v, %v", result.Problems, err)
	}
}

// What cannot be read now is no missing evidence.
func TestEvidenceThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	mirror, err := w.MirrorOf(t.Context(), w.task)
	if err != nil {
		t.Fatal(err)
	}
	checker := Checker{Blobs: silentBus{}, Now: time.Now}
	if result, err := checker.Check(t.Context(), w.task, mirror); company.CodeOf(err) != company.EBus {
		t.Errorf("%+v, %v", result.Problems, err)
	}
}
