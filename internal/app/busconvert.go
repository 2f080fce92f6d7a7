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
	"company/internal/office"
)

const (
	// convertDir holds the records of a conversion until they are complete.
	convertDir = "convert"
	// snapshotFile is the cache of the ledger's state. It refers to records by bus sequence numbers,
	// which change.
	snapshotFile = "snapshot"
)

// BusConversion is the result of a conversion.
type BusConversion struct {
	SchemaVersion int    `json:"schema_version"`
	From          string `json:"from"`
	To            string `json:"to"`
	Converted     bool   `json:"converted"` // false if the office used that driver before
	Records       int    `json:"records"`   // records of the ledger
	Events        uint64 `json:"events"`
	Journals      int    `json:"journals"`
}

// RenderText renders the conversion in one line.
func (c BusConversion) RenderText() string {
	if !c.Converted {
		return "this office keeps its records with the driver " + c.To + "; nothing was to be taken along"
	}
	return fmt.Sprintf("%s of the ledger and %s went from %s to %s; the hashes of the chain are the same",
		company.Count(int(c.Events), "event"), company.Count(c.Journals, "journal"), c.From, c.To)
}

// ConvertBus moves the records of an office to another driver. Only the caller may use the office.
// It writes the records to a new folder, reads them back, and compares each. Then it switches the
// driver by replacing one file, and removes the old records. After a crash at any point, the
// office has all records with the driver that it names, and the next conversion removes leftovers.
// report is called before each step.
//
// The queue is not copied, since the next start fills it again.
func ConvertBus(
	ctx context.Context, off *office.Office, to string, log *slog.Logger, report func(step string),
) (out BusConversion, err error) {
	target, err := findBusDriver(to)
	if err != nil {
		return out, company.E(company.EUsage, "unknown bus driver "+to).
			Fix("company bus convert --to " + strings.Join(BusDriverNames(), ", or --to "))
	}
	from, err := off.BusDriver(busRecords())
	if err != nil {
		return out, err
	}
	out = BusConversion{SchemaVersion: 1, From: from, To: to}
	if from == to || from == "" {
		// There are no records to copy. Leftovers of a killed conversion are removed once the office's
		// own records are confirmed.
		if err := off.SettleBusDriver(to, busRecords()); err != nil {
			return out, err
		}
		return out, removeOtherRecords(off, to)
	}
	if err := off.SettleBusDriver(from, busRecords()); err != nil {
		return out, err
	}
	source, err := findBusDriver(from)
	if err != nil {
		return out, err
	}
	report("copy")
	if err := copyBus(ctx, off, source, target, log, report, &out); err != nil {
		return out, addDamageHint(off.Paths, err)
	}
	report("place")
	err = errors.Join(off.BusFolder.RemoveAll(target.Records),
		off.BusFolder.Rename(convertDir+"/"+target.Records, target.Records), off.BusFolder.Sync("."))
	if err == nil {
		if err = off.StateFolder.Remove(snapshotFile); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return out, company.E(company.EBus, "cannot move the records into place").
			Because("the office is unchanged").Fix("check the office's disk, and try again").Wrap(err)
	}
	report("record")
	if err := off.RecordBusDriver(to); err != nil {
		return out, err
	}
	out.Converted = true
	report("remove")
	return out, removeOtherRecords(off, to)
}

// HeldForRewriting returns the error of a conversion that finds the office held.
func HeldForRewriting(held *office.Holder) error {
	fault := company.E(company.EHeld, "the office is held by another process").
		Because("records added during the conversion would be lost")
	if held == nil || held.PID == 0 {
		return fault.Fix("wait for it to end, and try again")
	}
	return fault.Fix("end it, and try again: " + held.Command)
}

// removeOtherRecords removes the records of all drivers except the office's own.
func removeOtherRecords(off *office.Office, own string) error {
	err := off.BusFolder.RemoveAll(convertDir)
	for _, driver := range BusDrivers {
		if driver.Name != own {
			err = errors.Join(err, off.BusFolder.RemoveAll(driver.Records))
		}
	}
	return err
}

// copyBus copies all records of an office's bus to a new one, reopens it, and compares the two.
func copyBus(
	ctx context.Context, off *office.Office, from, to bus.Driver, log *slog.Logger, report func(string),
	out *BusConversion,
) (err error) {
	if err := errors.Join(off.BusFolder.RemoveAll(convertDir), off.BusFolder.Mkdir(convertDir)); err != nil {
		return err
	}
	beside, err := off.BusFolder.Sub(convertDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, beside.Close()) }()
	src, err := from.Open(ctx, off.BusFolder, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	head, err := verifyLedger(ctx, src, ledger.Options{Folder: off.StateFolder, Logger: log})
	if err != nil {
		return err
	}
	out.Events = head.Seq
	subjects, err := src.Log().Subjects(ctx)
	if err != nil {
		return err
	}
	out.Journals = len(subjects)
	subjects = append([]string{bus.Ledger}, subjects...)

	dst, err := to.Open(ctx, beside, log)
	if err != nil {
		return err
	}
	for _, subject := range subjects {
		n, err := copySubject(ctx, dst, src, subject)
		if err != nil {
			return errors.Join(err, dst.Close())
		}
		if subject == bus.Ledger {
			out.Records = n
		}
	}
	if err := dst.Close(); err != nil {
		return err
	}

	report("verify")
	if dst, err = to.Open(ctx, beside, log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	for _, subject := range subjects {
		if err := compareSubject(ctx, dst, src, subject); err != nil {
			return err
		}
	}
	copied, err := verifyLedger(ctx, dst, ledger.Options{Logger: log})
	if err == nil && (copied.Seq != head.Seq || copied.Hash != head.Hash) {
		err = company.E(company.EInternal,
			fmt.Sprintf("the copy of the ledger ends with event %d instead of %d", copied.Seq, head.Seq))
	}
	return err
}

// verifyLedger verifies the whole chain of a ledger and returns its head.
func verifyLedger(ctx context.Context, b bus.Bus, o ledger.Options) (ledger.Head, error) {
	l, err := ledger.Open(ctx, b, o)
	if err != nil {
		return ledger.Head{}, err
	}
	return l.Head(), l.Verify(ctx)
}

// copySubject appends the records of a subject to another bus.
func copySubject(ctx context.Context, dst, src bus.Bus, subject string) (n int, err error) {
	var last uint64
	err = src.Log().Read(ctx, subject, 0, func(message bus.Message) error {
		seq, err := dst.Log().Append(ctx, subject, message.Data, last, message.ID)
		last = seq
		n++
		return err
	})
	return n, err
}

// compareSubject compares the records of a subject in a copy with the originals.
func compareSubject(ctx context.Context, dst, src bus.Bus, subject string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	copied := make(chan bus.Message, 16)
	ended := make(chan error, 1)
	go func() {
		defer close(copied)
		ended <- dst.Log().Read(ctx, subject, 0, func(message bus.Message) error {
			select {
			case copied <- message:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	differs := func(seq uint64) error {
		return company.E(company.EInternal, fmt.Sprintf("the copy of %s differs at record %d", subject, seq))
	}
	err := src.Log().Read(ctx, subject, 0, func(message bus.Message) error {
		c, ok := <-copied
		if !ok || c.ID != message.ID || string(c.Data) != string(message.Data) {
			return differs(message.Seq)
		}
		return nil
	})
	if err == nil {
		if c, more := <-copied; more {
			err = differs(c.Seq)
		}
	}
	if err != nil {
		cancel()
		<-ended
		return err
	}
	return <-ended
}
