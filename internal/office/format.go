package office

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/lib/safedir"
)

// Migration rewrites the records of an office from one format to the next (STA-10).
type Migration struct {
	About string // what changes, in one line
	// Rewrite reads the records of a driver in the folder from, and writes them to the empty folder to. The caller syncs
	// them to the disk.
	Rewrite func(ctx context.Context, driver string, from, to *safedir.Folder) error
}

// Migrations is the numbered table: entry i leads from format i+1 to format i+2. A released entry never changes. The
// table is empty, because no other format was released.
var Migrations []Migration

// newestFormat returns the format that this version of the program reads and writes.
func newestFormat() int { return len(Migrations) + 1 }

// Format is the format of an office's records, and the newest one that this program reads.
type Format struct {
	Stored, Newest int
}

// ReadFormat returns the format of an office without opening it. The Stored format is 0 if there is no office yet, or
// its file cannot be read.
func ReadFormat(p Paths) Format {
	rec, _ := peekOfficeFile(p.State)
	return Format{Stored: rec.Version, Newest: newestFormat()}
}

// RequireNewest returns EMigration if migrations are pending, and EConfig if a newer version of the program wrote the
// office.
func (f Format) RequireNewest() error {
	switch {
	case f.Stored > f.Newest:
		return company.E(company.EConfig, fmt.Sprintf("this office has format %d, and this program reads up to %d",
			f.Stored, f.Newest)).Because("a newer version of company wrote it").Fix("use that version").NeedsPerson()
	case f.Stored < f.Newest:
		return company.E(company.EMigration, fmt.Sprintf("migration_pending: this office has format %d, and this program "+
			"needs format %d", f.Stored, f.Newest)).Fix("company migrate")
	}
	return nil
}

// PendingSteps returns the migrations that lead to the newest format, in order.
func (f Format) PendingSteps() []Migration {
	if f.Stored < 1 || f.Stored > f.Newest {
		return nil
	}
	return Migrations[f.Stored-1:]
}

// ForMigration returns the paths for an Open that accepts pending migrations.
func (p Paths) ForMigration() Paths {
	p.migrates = true
	return p
}

// RecordFormat records the format of the office's records and, while they are moved into place, the format to which
// they were migrated. 0 means that nothing is being moved.
func (o *Office) RecordFormat(format, migrated int) error {
	return o.editOfficeFile(func(rec *officeFile) { rec.Version, rec.Migrated = format, migrated })
}

// MigratedFormat returns the format of complete records that are not in place yet, or 0.
func (o *Office) MigratedFormat() (int, error) {
	rec, _, err := readOfficeFile(o.StateFolder)
	return rec.Migrated, err
}

// editOfficeFile changes office.json, unless the edit changes nothing.
func (o *Office) editOfficeFile(edit func(*officeFile)) error {
	unlock, err := o.StateFolder.Lock()
	if err != nil {
		return idError(o.StateFolder, err)
	}
	defer unlock()
	rec, known, err := readOfficeFile(o.StateFolder)
	if err != nil {
		return err
	}
	was := rec
	if edit(&rec); known && rec == was {
		return nil
	}
	return writeOfficeFile(o.StateFolder, rec)
}
