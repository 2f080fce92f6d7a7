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
	// minBlobAge is the minimum age of a blob that a serving company may remove, by both the wall clock and the office's
	// clock. A record or an event refers to a blob soon after it was stored, or never.
	minBlobAge = 24 * time.Hour
	// collectEvery is the interval between searches for such blobs.
	collectEvery = 24 * time.Hour
)

// listBlobs returns the unreferenced blobs that were stored before a time as one item, or nil if there are none. It
// returns an error if a document that may refer to blobs cannot be read.
func (k retentionPolicy) listBlobs(ctx context.Context, before time.Time) (*Garbage, error) {
	var old []bus.BlobInfo
	err := k.keeper.Ledger.Blobs(ctx, "", func(blobInfo bus.BlobInfo) error {
		if blobInfo.Time.Before(before) {
			old = append(old, blobInfo)
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
	garbage := &Garbage{Kind: "blob"}
	var gone []company.Hash
	for _, blobInfo := range old {
		if h := company.Hash(blobInfo.Hash); !names.hasName(h) {
			gone = append(gone, h)
			garbage.Bytes += blobInfo.Size
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	garbage.Name = company.Count(len(gone), "blob") + " that nothing names"
	garbage.removal = func(ctx context.Context) error {
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
	return garbage, nil
}

// recordCleanup records which tasks are cleaned up, before data that the ledger refers to is removed.
func (k retentionPolicy) recordCleanup(ctx context.Context) error {
	_, err := k.keeper.State.Do(ctx, company.Company, company.RecordCleanup{Before: k.before})
	if err != nil {
		return fmt.Errorf("record what is removed: %w", err)
	}
	return nil
}

// listStateFiles lists the files of finished tasks below runtime/state.
func (k retentionPolicy) listStateFiles() ([]Garbage, error) {
	entries, err := k.office.TasksFolder.List(".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Garbage
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok || !k.isTaskFinished(company.TaskID(id)) {
			continue
		}
		garbage := Garbage{Kind: "state", Name: entry.Name(), Task: company.TaskID(id)}
		if info, err := entry.Info(); err == nil {
			garbage.Bytes = info.Size()
		}
		remove := removeIn(k.office.TasksFolder, entry.Name())
		garbage.removal = func(ctx context.Context) error {
			if err := k.recordCleanup(ctx); err != nil { // otherwise the next start writes it again
				return err
			}
			return remove(ctx)
		}
		out = append(out, garbage)
	}
	return out, nil
}
