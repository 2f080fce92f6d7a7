package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/safedir"
	"company/internal/office"
)

// migrateDir holds the records of a migration until they are complete.
const migrateDir = "migrate"

// Migration is the result of company migrate.
type Migration struct {
	SchemaVersion int             `json:"schema_version"`
	From          int             `json:"from"`
	To            int             `json:"to"`
	Steps         []MigrationStep `json:"steps"`
}

// MigrationStep is a row of the table of migrations.
type MigrationStep struct {
	Format int    `json:"format"` // to which it leads
	About  string `json:"about"`
}

// RenderText renders the steps, one per line.
func (m Migration) RenderText() string {
	if len(m.Steps) == 0 {
		return fmt.Sprintf("this office has format %d, the newest: no migration is pending", m.To)
	}
	var b strings.Builder
	for _, step := range m.Steps {
		fmt.Fprintf(&b, "format %d: %s\n", step.Format, step.About)
	}
	fmt.Fprintf(&b, "migrated from format %d to %d; the ledger is verified", m.From, m.To)
	return b.String()
}

// Migrate brings the records of an office to the newest format (STA-10). Only the caller may use the office, which it
// opened with Paths.ForMigration. All pending steps happen or none: they write to a new folder, the ledger there is
// verified and synced to the disk, one file records that it is complete, and then the folder is moved into place. After
// a crash, another call repeats or finishes them. report is called before each part.
func Migrate(ctx context.Context, off *office.Office, log *slog.Logger, report func(part string)) (Migration, error) {
	format := office.ReadFormat(off.Paths)
	out := Migration{SchemaVersion: 1, From: format.Stored, To: format.Newest, Steps: []MigrationStep{}}
	name, err := off.BusDriver(busRecords())
	if err != nil {
		return out, err
	}
	if format.Stored > format.Newest {
		return out, format.RequireNewest()
	}
	if name == "" { // an office without records
		return out, off.RecordFormat(format.Newest, 0)
	}
	driver, err := findBusDriver(name)
	if err != nil {
		return out, err
	}
	for i, step := range format.PendingSteps() {
		out.Steps = append(out.Steps, MigrationStep{Format: format.Stored + i + 1, About: step.About})
	}
	migrated, err := off.MigratedFormat()
	if err != nil {
		return out, err
	}
	if migrated != 0 { // by a call that was killed; another version may have made it
		report("place")
		if err := finishMigration(off, driver, migrated); err != nil {
			return out, migrationError(err)
		}
		format.Stored = migrated
	}
	pending := format.PendingSteps()
	if len(pending) == 0 {
		return out, format.RequireNewest()
	}
	report("rewrite")
	if err := rewriteRecords(ctx, off, driver, pending, log); err != nil {
		return out, migrationError(addDamageHint(off.Paths, err))
	}
	report("record")
	if err := off.RecordFormat(format.Stored, format.Newest); err != nil {
		return out, err
	}
	report("place")
	if err := finishMigration(off, driver, format.Newest); err != nil {
		return out, migrationError(err)
	}
	return out, nil
}

// finishMigration moves complete records into place and records their format.
func finishMigration(off *office.Office, driver bus.Driver, format int) error {
	if err := placeRecords(off, driver.Records); err != nil {
		return err
	}
	return errors.Join(off.RecordFormat(format, 0), off.BusFolder.RemoveAll(migrateDir))
}

func migrationError(err error) error {
	var own *company.Error
	if errors.As(err, &own) {
		return err
	}
	return company.E(company.EMigration, "the office was not migrated").Wrap(err).
		Because("no record was lost: the office has its records in the old format, or in the new one").
		Fix("check the office's disk, and run company migrate again").NeedsPerson()
}

// rewriteRecords applies migrations one after the other, each to the result of the one before, and verifies the last
// result and syncs it to the disk. It leaves it in migrateDir.
func rewriteRecords(
	ctx context.Context, off *office.Office, driver bus.Driver, pending []office.Migration, log *slog.Logger,
) (err error) {
	if err := off.BusFolder.RemoveAll(migrateDir); err != nil {
		return err
	}
	from, err := off.BusFolder.Sub(driver.Records)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	for i, step := range pending {
		place := fmt.Sprintf("%s/%d", migrateDir, i)
		if i == len(pending)-1 {
			place = migrateDir + "/last"
		}
		to, err := makeRecords(off.BusFolder, place, driver.Records)
		if err != nil {
			return err
		}
		if err := step.Rewrite(ctx, driver.Name, from, to); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", step.About, err), to.Close())
		}
		if err := from.Close(); err != nil {
			return errors.Join(err, to.Close())
		}
		from = to
		if i > 0 { // the copy of the step before
			if err := off.BusFolder.RemoveAll(fmt.Sprintf("%s/%d", migrateDir, i-1)); err != nil {
				return err
			}
		}
	}
	last, err := off.BusFolder.Sub(migrateDir + "/last")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, last.Close()) }()
	store, err := driver.Open(ctx, last, log)
	if err != nil {
		return err
	}
	_, err = verifyLedger(ctx, store, ledger.Options{Logger: log})
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	return safedir.SyncDisk(off.BusFolder.Join(migrateDir))
}

// makeRecords makes an empty folder for the records of a driver.
func makeRecords(folder *safedir.Folder, place, records string) (*safedir.Folder, error) {
	if err := folder.Mkdir(place); err != nil {
		return nil, err
	}
	return folder.MakeSub(place + "/" + records)
}

// placeRecords replaces the office's records with the migrated ones. A crash before may have moved them already.
func placeRecords(off *office.Office, records string) error {
	migrated := migrateDir + "/last/" + records
	if _, err := off.BusFolder.Lstat(migrated); !errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(err, off.BusFolder.RemoveAll(records))
		if err == nil {
			err = off.BusFolder.Rename(migrated, records)
		}
		if err = errors.Join(err, off.BusFolder.Sync(".")); err != nil {
			return err
		}
	}
	err := off.StateFolder.Remove(snapshotFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
