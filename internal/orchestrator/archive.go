package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/ledger"
)

// keptArchives is how many archives are kept at hand.
const keptArchives = 32

// archiveCache has the archives that were read last.
type archiveCache struct {
	mu    sync.Mutex
	kept  map[company.Hash]*company.Archive
	order []company.Hash // the one used last at the end
}

// findArchive gives an archive that is at hand, or nil.
func (c *archiveCache) findArchive(blob company.Hash) *company.Archive {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.kept[blob]
	if a != nil {
		c.touchArchive(blob)
	}
	return a
}

// keepArchive has an archive at hand, in place of the one whose use lies back furthest.
func (c *archiveCache) keepArchive(blob company.Hash, a *company.Archive) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[company.Hash]*company.Archive{}
	}
	c.kept[blob] = a
	c.touchArchive(blob)
	if len(c.order) > keptArchives {
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
}

// touchArchive notes a use. The caller holds mu.
func (c *archiveCache) touchArchive(blob company.Hash) {
	c.order = append(slices.DeleteFunc(c.order, func(h company.Hash) bool { return h == blob }), blob)
}

// LoadArchive reads the archive that holds a task. It is shared and never changed.
// ENotFound: the task is not archived.
func (o *Orchestrator) LoadArchive(ctx context.Context, id company.TaskID) (*company.Archive, error) {
	_, blob := o.View().ArchiveHolding(id)
	if blob == "" {
		return nil, company.E(company.ENotFound, "there is no archive of "+string(id))
	}
	if a := o.archives.findArchive(blob); a != nil {
		return a, nil
	}
	text, err := o.cfg.Ledger.GetBlob(ctx, blob, ledger.MaxBlob)
	if err != nil {
		return nil, archiveError(id, err)
	}
	a, err := company.DecodeArchive(text)
	if err != nil {
		return nil, archiveError(id, err)
	}
	o.archives.keepArchive(blob, a)
	return a, nil
}

func archiveError(id company.TaskID, err error) error {
	return company.E(company.CodeOf(err), "the archive of "+string(id)+" cannot be read").Wrap(err).
		Fix(company.PutCopyBack("the office's state") + "; the ledger has its events all the same: company feed " + string(id))
}

// ArchiveTask takes a task that is over, with those that follow it, out of the state:
// its archive is stored first.
func (o *Orchestrator) ArchiveTask(ctx context.Context, id company.TaskID) error {
	text, err := o.View().EncodeArchive(id)
	if err != nil {
		return err
	}
	blob, _, err := o.cfg.Ledger.PutBlob(ctx, bytes.NewReader(text))
	if err != nil {
		return err
	}
	_, err = o.Do(ctx, company.Company, company.ArchiveTask{Task: id, Blob: blob})
	return err
}

// archivedError says that a command can only be decided with archives that its request
// does not have.
type archivedError struct{ tasks []company.TaskID }

func (e *archivedError) Error() string { return "orchestrator: the command is about archived tasks" }

// missingArchives are the archives that a request's command is about on the state
// ahead, and that the request does not have.
func (o *Orchestrator) missingArchives(r *request) error {
	missing := slices.DeleteFunc(company.ArchivedTargets(o.ahead, r.command), func(id company.TaskID) bool { return r.archives[id] != nil })
	if len(missing) == 0 {
		return nil
	}
	return &archivedError{missing}
}

// maxArchiveTries bounds how often a command is sent again with archives.
const maxArchiveTries = 5

// commitWithArchives has a command decided, with the archives of the tasks that it is
// about. They are read here, so that the committer waits for no file. at is the time of
// its events; zero: the office's.
func (o *Orchestrator) commitWithArchives(ctx context.Context, id, actor string, c company.Command, at time.Time) ([]company.Event, error) {
	archives := map[company.TaskID]*company.Archive{}
	for range maxArchiveTries {
		evs, err := o.commitCommand(ctx, id, actor, c, archives, at)
		var missing *archivedError
		if !errors.As(err, &missing) {
			return evs, err
		}
		for _, task := range missing.tasks {
			a, err := o.LoadArchive(ctx, task)
			if company.CodeOf(err) == company.ENotFound && o.View().Past[task] == nil {
				continue // it is back in the state
			}
			if err != nil {
				return nil, err
			}
			archives[task] = a
		}
	}
	return nil, company.E(company.EStale, "the command's task is archived and restored all the time").Fix("try again")
}
