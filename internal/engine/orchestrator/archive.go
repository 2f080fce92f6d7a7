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

// keptArchives limits the cached archives.
const keptArchives = 32

// archiveCache holds the most recently used archives.
type archiveCache struct {
	mu    sync.Mutex
	kept  map[company.Hash]*company.Archive
	order []company.Hash // most recently used last
}

// findArchive returns a cached archive, or nil.
func (c *archiveCache) findArchive(blob company.Hash) *company.Archive {
	c.mu.Lock()
	defer c.mu.Unlock()
	archive := c.kept[blob]
	if archive != nil {
		c.touchArchive(blob)
	}
	return archive
}

// keepArchive caches an archive and evicts the least recently used one if there are too many.
func (c *archiveCache) keepArchive(blob company.Hash, archive *company.Archive) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[company.Hash]*company.Archive{}
	}
	c.kept[blob] = archive
	c.touchArchive(blob)
	if len(c.order) > keptArchives {
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
}

// touchArchive marks an archive as used. The caller holds mu.
func (c *archiveCache) touchArchive(blob company.Hash) {
	c.order = append(slices.DeleteFunc(c.order, func(h company.Hash) bool { return h == blob }), blob)
}

// LoadArchive returns the archive that contains a task. The archive is shared and must not be modified. It fails with
// ENotFound if the task is not archived.
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
	archive, err := company.DecodeArchive(text)
	if err != nil {
		return nil, archiveError(id, err)
	}
	o.archives.keepArchive(blob, archive)
	return archive, nil
}

func archiveError(id company.TaskID, err error) error {
	return company.E(company.CodeOf(err), "cannot read the archive of "+string(id)).Wrap(err).
		Fix(company.PutCopyBack("the office's state") + "; the ledger still has its events: company feed " +
			string(id))
}

// ArchiveTask removes an ended task and its follow-ups from the state. It stores their archive first.
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

// archivedError means that a command needs archives that its request lacks.
type archivedError struct{ tasks []company.TaskID }

func (e *archivedError) Error() string { return "orchestrator: the command is about archived tasks" }

// missingArchives returns an archivedError for the archives that a request's command needs on the state ahead and
// that the request lacks.
func (o *Orchestrator) missingArchives(r *request) error {
	missing := slices.DeleteFunc(company.ArchivedTargets(o.ahead, r.command),
		func(id company.TaskID) bool { return r.archives[id] != nil })
	if len(missing) == 0 {
		return nil
	}
	return &archivedError{missing}
}

// maxArchiveTries limits how often a command is retried with archives.
const maxArchiveTries = 5

// commitWithArchives has a command decided with the archives of its tasks. It reads the archives here, so that the
// committer never waits for a file. at is the time of the events; zero means the office's time.
func (o *Orchestrator) commitWithArchives(
	ctx context.Context, id, actor string, command company.Command, at time.Time,
) ([]company.Event, error) {
	archives := map[company.TaskID]*company.Archive{}
	for range maxArchiveTries {
		evs, err := o.commitCommand(ctx, id, actor, command, archives, at)
		var missing *archivedError
		if !errors.As(err, &missing) {
			return evs, err
		}
		for _, task := range missing.tasks {
			archive, err := o.LoadArchive(ctx, task)
			if company.CodeOf(err) == company.ENotFound && o.View().Past[task] == nil {
				continue // it is in the state again
			}
			if err != nil {
				return nil, err
			}
			archives[task] = archive
		}
	}
	return nil, company.E(company.EStale, "the task of the command is archived and restored repeatedly").Fix("try again")
}
