package evidence

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"company/internal/agentrun/runfiles"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/present/view"
)

// Blobs reads the blobs of an office.
type Blobs interface {
	// VerifyBlob reads a whole blob and compares it with its hash.
	VerifyBlob(ctx context.Context, hash company.Hash) error
	GetBlob(ctx context.Context, hash company.Hash, limit int64) ([]byte, error)
}

// maxResult limits the size of a run's result that is read, in bytes.
const maxResult = 64 << 20

// Checker checks the evidence of tasks.
type Checker struct {
	Blobs Blobs // nil means that only git is checked
	Now   func() time.Time
	// Cleaned returns the time of the last cleanup. Results, journals and outputs of tasks that ended before may have been
	// removed. Nil means that there was none.
	Cleaned func() time.Time
}

// Check compares each claim of a task with its evidence, and lists the files that git shows as changed. A nil mirror
// means that the project has none. An error means that it could not be checked, and may be tried again. Missing or
// wrong evidence is a problem of the result.
func (c Checker) Check(ctx context.Context, task *company.Task, mirror *gitops.Mirror) (view.EvidenceCheck, error) {
	result := view.EvidenceCheck{SchemaVersion: 1, Task: task.ID, Status: task.Status,
		Verdict: view.EvidenceConsistent, CheckedAt: c.Now().UTC(),
		Claims: ListClaims(task), Files: []company.VerifiedFile{}, Problems: []string{}}
	for i := range result.Claims {
		claim := &result.Claims[i]
		problem, err := c.findProblem(ctx, task, mirror, *claim)
		switch code := company.CodeOf(err); {
		case code == company.ENotFound && c.isCleaned(task, *claim):
			claim.Removed = true
		case code == company.ENotFound:
			problem = "it is missing"
		case code == company.ELedger: // damaged
			problem = err.Error()
		case err != nil:
			return result, err
		}
		if problem != "" {
			claim.Problem = problem
			result.Problems = append(result.Problems, string(claim.Operation)+" "+claim.Of+": "+problem)
		}
	}
	evidence := company.Evidence{}
	if task.Prepared != nil && task.Head != "" && mirror != nil {
		switch err := verifyFiles(ctx, &result, task, mirror); {
		case company.CodeOf(err) == company.ENotFound:
			result.Problems = append(result.Problems, "files: the commit "+task.Head.Short()+" is missing")
		case err != nil:
			return result, err
		}
		evidence.Files = result.Files
	}
	result.Modified = evidence.CountModified()
	if mirror != nil && task.Delivery != nil && result.Modified == 0 && task.ClaimsChanges() {
		result.Problems = append(result.Problems, "files: none differs from the base")
	}
	if len(result.Problems) > 0 {
		result.Verdict = view.EvidenceMissing
	}
	return result, nil
}

// findProblem returns why the evidence of a claim does not show it, or "".
func (c Checker) findProblem(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror, claim view.Claim,
) (problem string, err error) {
	inGit := claim.Operation == view.OperationMerge || claim.Operation == view.OperationDelivery
	switch {
	case !inGit && c.Blobs == nil:
		return "", nil
	case claim.Evidence == "":
		return "the ledger names no evidence", nil
	case inGit && mirror == nil:
		return "the office has no git mirror of the project", nil
	}
	switch claim.Operation {
	case view.OperationRun:
		return c.checkRun(ctx, task.Runs[company.RunID(claim.Of)])
	case view.OperationCheck:
		return "", c.Blobs.VerifyBlob(ctx, company.Hash(claim.Evidence))
	}
	commit := company.OID(claim.Evidence)
	tree, err := mirror.Tree(ctx, commit)
	switch {
	case err != nil:
		return "", err
	case claim.Operation == view.OperationDelivery:
		if tree != task.Gate.Result.Tree {
			problem = "its tree is " + tree.Short() + " in git"
		}
		return problem, nil
	}
	merged, err := mirror.IsAncestor(ctx, commit, task.Head)
	if err == nil && !merged {
		problem = "the integration branch does not contain the commit"
	}
	return problem, err
}

// isCleaned reports whether a cleanup may have removed the evidence of a claim: that of a task that had ended before,
// also if it was reopened since.
func (c Checker) isCleaned(task *company.Task, claim view.Claim) bool {
	if c.Cleaned == nil {
		return false
	}
	if run := task.Runs[company.RunID(claim.Of)]; run != nil && claim.Operation == view.OperationRun {
		return run.EndedAt.Before(c.Cleaned())
	}
	return claim.Operation == view.OperationCheck && !task.Ended.IsZero() && task.Ended.Before(c.Cleaned())
}

// checkRun checks the result of a run, and the journal and transcript that it names.
func (c Checker) checkRun(ctx context.Context, run *company.Run) (problem string, err error) {
	text, err := c.Blobs.GetBlob(ctx, run.Result, maxResult)
	if err != nil {
		return "", err
	}
	var result runfiles.ExecutionResult
	if json.Unmarshal(text, &result) != nil || result.RunID == "" {
		return "its result has an unknown format", nil
	}
	switch {
	case result.RunID != run.ID:
		return "its result is of the run " + string(result.RunID), nil
	case result.Journal != run.Journal:
		return "its result names another journal than the ledger", nil
	}
	for _, hash := range []company.Hash{result.Journal, result.Transcript} {
		if hash != "" && err == nil {
			err = c.Blobs.VerifyBlob(ctx, hash)
		}
	}
	return "", err
}

// verifyFiles lists the files that the task changed: those that differ between its base and its head, and those that
// only a ticket changed.
func verifyFiles(
	ctx context.Context, r *view.EvidenceCheck, task *company.Task, mirror *gitops.Mirror,
) (err error) {
	if r.Tree, err = mirror.Tree(ctx, task.Head); err != nil {
		return err
	}
	r.Head = task.Head
	diff, err := mirror.Diff(ctx, task.Prepared.Base.OID, task.Head, 0)
	if err != nil {
		return err
	}
	differs := map[string]bool{}
	for _, change := range diff.Paths() {
		differs[change.Path] = true
		r.Files = append(r.Files,
			company.VerifiedFile{Path: change.Path, Action: change.Action, Hash: change.Hash,
				Exists: change.Hash != ""})
	}
	var claimed []string
	for _, sub := range task.Subtasks {
		for _, change := range sub.Changes {
			if sub.Status == company.SubtaskCompleted && !differs[change.Path] {
				differs[change.Path] = true
				claimed = append(claimed, change.Path)
			}
		}
	}
	if len(claimed) == 0 {
		return nil
	}
	entries, err := mirror.List(ctx, task.Head)
	if err != nil {
		return err
	}
	hashes := map[string]company.OID{}
	for _, entry := range entries {
		hashes[entry.Path] = entry.OID
	}
	slices.Sort(claimed)
	for _, path := range claimed {
		r.Files = append(r.Files, company.VerifiedFile{Path: path, Hash: hashes[path], Exists: hashes[path] != ""})
	}
	return nil
}
