package upkeep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/lazyregexp"
)

// namedBlob is a blob that a task refers to.
type namedBlob struct {
	hash company.Hash
	what string       // description for people
	run  *company.Run // the run that left it or whose journal refers to it; may be nil
}

// taskBlobs lists the blobs of a task that must exist: the journals and results of its runs, the files of its
// instruction, the output of its gates, and the text of its pull request.
func (k retentionPolicy) taskBlobs(task *company.Task) []namedBlob {
	var out []namedBlob
	addOf := func(run *company.Run, hash company.Hash, format string, args ...any) {
		if hash != "" {
			out = append(out, namedBlob{hash, fmt.Sprintf(format, args...), run})
		}
	}
	add := func(hash company.Hash, format string, args ...any) { addOf(nil, hash, format, args...) }
	addGate := func(of string, gateResult *company.GateResult) {
		if gateResult == nil {
			return
		}
		for _, gateCheck := range gateResult.Checks {
			add(gateCheck.Log, "the output of %s, %s", gateCheck.Name, of)
			add(gateCheck.Names, "the tests that passed in %s, %s", gateCheck.Name, of)
		}
	}
	switch {
	case !k.isTaskFinished(task.ID):
		for _, id := range slices.Sorted(maps.Keys(task.Runs)) {
			addOf(task.Runs[id], task.Runs[id].Journal, "the journal of run %s", id)
			addOf(task.Runs[id], task.Runs[id].Result, "the result of run %s", id)
		}
	case !mayReopen(task):
		return nil
	}
	for _, a := range task.Attachments {
		add(a.Blob, "%s, which came with the instruction of %s", a.Name, task.ID)
	}
	addGate("the base of "+string(task.ID), task.Baseline)
	if task.Gate != nil {
		addGate(string(task.ID), &task.Gate.Result)
	}
	for _, sub := range task.Subtasks {
		if sub.Gate != nil {
			addGate(string(sub.ID), &sub.Gate.Result)
		}
	}
	if task.PR != nil {
		add(task.PR.Body, "the text of the pull request of %s", task.ID)
	}
	return out
}

// mayReopen reports whether an ended task may be resumed. Its next gates are then compared with its earlier verdicts.
func mayReopen(t *company.Task) bool { return t.Status != company.StatusCompleted || t.DryRun }

// blobNames collects the names of blobs in the data of an office. Any text that looks like a blob's name counts.
type blobNames struct {
	ledger *ledger.Ledger
	named  map[company.Hash]bool
}

// blobNameRE finds the names of blobs in JSON.
var blobNameRE = lazyregexp.New(`"([0-9a-f]{64})"`)

func (n *blobNames) hasName(h company.Hash) bool { return n.named[h] }

func (n *blobNames) addText(text []byte) {
	for _, m := range blobNameRE.FindAllSubmatch(text, -1) {
		n.named[company.Hash(m[1])] = true
	}
}

// addDocument adds a blob that a run left, and the blobs that it refers to. A missing blob refers to none. A
// damaged blob is an error.
func (n *blobNames) addDocument(ctx context.Context, hash company.Hash) error {
	n.named[hash] = true
	r, err := n.ledger.OpenBlob(ctx, hash)
	if company.CodeOf(err) == company.ENotFound {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		n.addText(line)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return company.E(company.ELedger, fmt.Sprintf("blob %.12s is damaged", hash)).
				Because("the blobs that it names cannot be read").
				Fix("company doctor --deep lists the damage; nothing is removed until it is repaired").Wrap(err)
		}
	}
}

// addTask adds the blobs of a task, and those in the journals and results of its runs.
func (n *blobNames) addTask(ctx context.Context, policy retentionPolicy, task *company.Task) error {
	for _, b := range policy.taskBlobs(task) {
		n.named[b.hash] = true
	}
	if policy.isTaskFinished(task.ID) {
		return nil
	}
	for _, run := range task.Runs {
		for _, hash := range []company.Hash{run.Journal, run.Result} {
			if hash == "" {
				continue
			}
			if err := n.addDocument(ctx, hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// addJournals adds the blobs in the journals on the bus.
func (n *blobNames) addJournals(ctx context.Context) error {
	runs, err := n.ledger.Journals(ctx)
	for _, run := range runs {
		err = errors.Join(err, n.ledger.ReadJournal(ctx, run, func(rec ledger.Record) error {
			n.addText(rec.Data)
			return nil
		}))
	}
	return err
}

// addVerdicts adds the blobs of cached verdicts, which a later gate may use.
func (n *blobNames) addVerdicts(s *company.State) {
	for _, r := range s.GateResults {
		for _, c := range r.Checks {
			n.named[c.Log], n.named[c.Names] = true, true
		}
	}
}

// findNames collects all names. Add any further source of names here.
func (k retentionPolicy) findNames(ctx context.Context) (*blobNames, error) {
	n := &blobNames{k.keeper.Ledger, map[company.Hash]bool{}}
	n.addVerdicts(k.state)
	if err := n.addJournals(ctx); err != nil {
		return nil, err
	}
	for _, t := range k.state.SortedTasks() {
		if err := n.addTask(ctx, k, t); err != nil {
			return nil, err
		}
	}
	return n, eachArchive(ctx, k.keeper.State, k.state, func(blob company.Hash, archive *company.Archive) error {
		n.named[blob] = true
		for _, t := range archive.Tasks {
			if err := n.addTask(ctx, k, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachArchive calls fn for each archive of tasks, with its blob. It stops at the first archive that cannot be read.
func eachArchive(
	ctx context.Context, state State, s *company.State, fn func(blob company.Hash, a *company.Archive) error,
) error {
	for id, pastTask := range s.Past {
		if pastTask.Blob == "" {
			continue
		}
		archive, err := state.LoadArchive(ctx, id)
		if err != nil {
			return err
		}
		if err := fn(pastTask.Blob, archive); err != nil {
			return err
		}
	}
	return nil
}
