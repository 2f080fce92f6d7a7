package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

const (
	// minBlobAge is the age of a blob from which on a serving company may remove it, by the
	// wall clock and by the office's: a record or an event names a blob soon after it was
	// stored, or never.
	minBlobAge = 24 * time.Hour
	// collectEvery is how often it looks for such blobs.
	collectEvery = 24 * time.Hour
)

// listBlobs is the blobs that nothing names and that were put before a time; nil: there
// are none. While one document that may name others cannot be read, none is found.
func (k retentionPolicy) listBlobs(ctx context.Context, before time.Time) (*Garbage, error) {
	var old []bus.BlobInfo
	err := k.keeper.Ledger.Blobs(ctx, "", func(b bus.BlobInfo) error {
		if b.Time.Before(before) {
			old = append(old, b)
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return nil, err
	}
	names, err := k.findNames(ctx)
	if err != nil {
		return nil, err
	}
	g := &Garbage{Kind: "blob"}
	var gone []company.Hash
	for _, b := range old {
		if h := company.Hash(b.Hash); !names.hasName(h) {
			gone = append(gone, h)
			g.Bytes += b.Size
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	g.Name = company.Count(len(gone), "blob") + " that nothing names"
	g.removal = func(ctx context.Context) error {
		if err := k.recordCleanup(ctx); err != nil {
			return err
		}
		for _, h := range gone {
			if _, err := k.keeper.Ledger.RemoveBlob(ctx, h, before); err != nil {
				return err
			}
		}
		return nil
	}
	return g, nil
}

// recordCleanup brings in which tasks are let go of, before the removal of anything that
// the ledger names.
func (k retentionPolicy) recordCleanup(ctx context.Context) error {
	_, err := k.keeper.State.Do(ctx, company.Company, company.RecordCleanup{Before: k.before})
	if err != nil {
		return fmt.Errorf("record what is removed: %w", err)
	}
	return nil
}

// listStateFiles are the files of finished tasks below runtime/state.
func (k retentionPolicy) listStateFiles() ([]Garbage, error) {
	entries, err := k.office.TasksFolder.List(".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Garbage
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !k.isTaskFinished(company.TaskID(id)) {
			continue
		}
		g := Garbage{Kind: "state", Name: e.Name(), Task: company.TaskID(id)}
		if info, err := e.Info(); err == nil {
			g.Bytes = info.Size()
		}
		remove := removeIn(k.office.TasksFolder, e.Name())
		g.removal = func(ctx context.Context) error {
			if err := k.recordCleanup(ctx); err != nil { // or the next start writes it again
				return err
			}
			return remove(ctx)
		}
		out = append(out, g)
	}
	return out, nil
}
