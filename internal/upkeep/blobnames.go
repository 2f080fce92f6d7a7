package upkeep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/lazyregexp"
	"company/internal/ledger"
)

// namedBlob is a blob that a task names.
type namedBlob struct {
	hash company.Hash
	what string       // for people
	run  *company.Run // that left it, or whose journal names it; may be nil
}

// taskBlobs lists the blobs that a task names and that are to be there: those that its runs
// left, the files of its instruction, the output of its gates, and the text of its pull request.
func (k retentionPolicy) taskBlobs(t *company.Task) []namedBlob {
	var out []namedBlob
	addOf := func(r *company.Run, hash company.Hash, format string, args ...any) {
		if hash != "" {
			out = append(out, namedBlob{hash, fmt.Sprintf(format, args...), r})
		}
	}
	add := func(hash company.Hash, format string, args ...any) { addOf(nil, hash, format, args...) }
	addGate := func(of string, r *company.GateResult) {
		if r == nil {
			return
		}
		for _, c := range r.Checks {
			add(c.Log, "the output of %s, %s", c.Name, of)
			add(c.Names, "the tests that passed in %s, %s", c.Name, of)
		}
	}
	switch {
	case !k.isTaskFinished(t.ID):
		for _, id := range slices.Sorted(maps.Keys(t.Runs)) {
			addOf(t.Runs[id], t.Runs[id].Journal, "the journal of run %s", id)
			addOf(t.Runs[id], t.Runs[id].Result, "the result of run %s", id)
		}
	case !mayReopen(t):
		return nil
	}
	for _, a := range t.Attachments {
		add(a.Blob, "%s, which came with the instruction of %s", a.Name, t.ID)
	}
	addGate("the base of "+string(t.ID), t.Baseline)
	if t.Gate != nil {
		addGate(string(t.ID), &t.Gate.Result)
	}
	for _, sub := range t.Subtasks {
		if sub.Gate != nil {
			addGate(string(sub.ID), &sub.Gate.Result)
		}
	}
	if t.PR != nil {
		add(t.PR.Body, "the text of the pull request of %s", t.ID)
	}
	return out
}

// mayReopen says whether a task that has ended may go on: its next gates are compared
// with its earlier verdicts then.
func mayReopen(t *company.Task) bool { return t.Status != company.StatusCompleted || t.DryRun }

// blobNames are the names that blobs have in what an office keeps. Whatever looks like
// the name of a blob is taken for one.
type blobNames struct {
	ledger  *ledger.Ledger
	named   map[company.Hash]bool
	removed removedRuns
}

// blobNameRE finds the names of blobs in JSON.
var blobNameRE = lazyregexp.New(`"([0-9a-f]{64})"`)

func (n *blobNames) hasName(h company.Hash) bool { return n.named[h] }

func (n *blobNames) addText(text []byte) {
	for _, m := range blobNameRE.FindAllSubmatch(text, -1) {
		n.named[company.Hash(m[1])] = true
	}
}

// addDocument adds a blob that a run left and those that it names. One that is not there names
// none. One that damage may have taken ends it, unless a cleanup has removed it.
func (n *blobNames) addDocument(ctx context.Context, run *company.Run, h company.Hash) error {
	n.named[h] = true
	r, err := n.ledger.OpenBlob(ctx, h)
	if company.CodeOf(err) == company.ENotFound {
		return nil
	}
	if errors.Is(err, bus.ErrNotFound) {
		if removed, findErr := n.removed.isRemoved(ctx, run); removed || findErr != nil {
			return findErr
		}
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
			return company.E(company.ELedger, fmt.Sprintf("blob %.12s is damaged", h)).Because("which others it names cannot be read").
				Fix("company doctor --deep names what is damaged; nothing is removed until then").Wrap(err)
		}
	}
}

// addTask adds the names in a task, and those in the journals and results of its runs.
func (n *blobNames) addTask(ctx context.Context, k retentionPolicy, t *company.Task) error {
	for _, b := range k.taskBlobs(t) {
		n.named[b.hash] = true
	}
	if k.isTaskFinished(t.ID) {
		return nil
	}
	for _, r := range t.Runs {
		for _, h := range []company.Hash{r.Journal, r.Result} {
			if h == "" {
				continue
			}
			if err := n.addDocument(ctx, r, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// addJournals adds the names in the journals on the bus.
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

// addVerdicts adds the names in cached verdicts: a later gate may take one of them.
func (n *blobNames) addVerdicts(s *company.State) {
	for _, r := range s.GateResults {
		for _, c := range r.Checks {
			n.named[c.Log], n.named[c.Names] = true, true
		}
	}
}

// findNames collects every name. Another source of names is one more step here.
func (k retentionPolicy) findNames(ctx context.Context) (*blobNames, error) {
	n := &blobNames{k.keeper.Ledger, map[company.Hash]bool{}, removedRuns{ledger: k.keeper.Ledger, state: k.state}}
	n.addVerdicts(k.state)
	if err := n.addJournals(ctx); err != nil {
		return nil, err
	}
	for _, t := range k.state.SortedTasks() {
		if err := n.addTask(ctx, k, t); err != nil {
			return nil, err
		}
	}
	return n, eachArchive(ctx, k.keeper.State, k.state, func(blob company.Hash, a *company.Archive) error {
		n.named[blob] = true
		for _, t := range a.Tasks {
			if err := n.addTask(ctx, k, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachArchive calls fn for each archive of tasks, with the blob that holds it. One that
// cannot be read ends it.
func eachArchive(ctx context.Context, state State, s *company.State, fn func(blob company.Hash, a *company.Archive) error) error {
	for id, p := range s.Past {
		if p.Blob == "" {
			continue
		}
		a, err := state.LoadArchive(ctx, id)
		if err != nil {
			return err
		}
		if err := fn(p.Blob, a); err != nil {
			return err
		}
	}
	return nil
}
