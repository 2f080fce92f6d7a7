package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/office"
)

// BusEntry is something that the bus of an office holds.
type BusEntry struct {
	File    string // of the log; empty with a driver that has none to read
	Offset  int64
	Kind    string // record, purge, mark or end
	Seq     uint64
	Time    time.Time // when it was written
	Expires time.Time // zero: never
	Subject string
	ID      string
	Data    []byte // is overwritten by the next entry
}

// CatBus calls fn for what the bus of an office holds, in the order in which it was
// written. The log of the file driver is read beside a company at work, and as far
// as it can be read where it is damaged: skip gets the bytes that cannot. Of another
// driver the ledger is read, then each journal; EHeld while a company is at work.
func CatBus(ctx context.Context, off *office.Office, log *slog.Logger, fn func(BusEntry) error, skip func(file string, offset, bytes int64) error) (err error) {
	driver, err := off.BusDriver(busRecords())
	switch {
	case err != nil || driver == "":
		return err
	case driver == "file":
		err := scanFileBus(off.BusFolder, func(e BusEntry) error { return errors.Join(context.Cause(ctx), fn(e)) }, skip)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	lock, held, err := office.TryLock(off.Paths)
	if err != nil {
		return err
	}
	if lock == nil {
		return heldError(held, "the records of the driver "+driver+" are read while nobody works")
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	b, err := busDrivers[driver].open(ctx, off.BusFolder, log)
	if err != nil {
		return addDamageHint(off.Paths, err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	subjects, err := b.Log().Subjects(ctx)
	if err != nil {
		return err
	}
	for _, subject := range append([]string{bus.Ledger}, subjects...) {
		err := b.Log().Read(ctx, subject, 0, func(m bus.Message) error {
			return fn(BusEntry{Kind: "record", Seq: m.Seq, Time: m.Time, Subject: m.Subject, ID: m.ID, Data: m.Data})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// HeldForConversion is the error of a conversion that finds the office held.
func HeldForConversion(held *office.Holder) error {
	return heldError(held, "records that are added meanwhile would be lost")
}

// heldError says why an office that another process holds is in the way.
func heldError(held *office.Holder, why string) error {
	e := company.E(company.EHeld, "the office is held by another process").Because(why)
	if held == nil || held.PID == 0 {
		return e.Fix("wait for it to end, and try again")
	}
	return e.Fix("end it, and try again: " + held.Command)
}
