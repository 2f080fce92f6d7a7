package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"
	"unicode/utf8"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/office"
	"company/internal/safetext"
)

// Kinds of a BusRecord that are no records.
const (
	BusMark       = "mark"       // all before it is on the disk
	BusUnreadable = "unreadable" // bytes of the log that are damaged, or not whole
)

// BusRecord is a record that the bus of an office holds, or a sign between them.
type BusRecord struct {
	SchemaVersion int             `json:"schema_version"`
	Kind          string          `json:"kind"`           // record, purge, mark, end, or unreadable: bytes that are no record
	File          string          `json:"file,omitempty"` // of the log, with bus.driver: file
	Offset        int64           `json:"offset"`
	Seq           uint64          `json:"seq"`
	Time          time.Time       `json:"time,omitzero"` // when it was written
	Subject       string          `json:"subject,omitempty"`
	ID            string          `json:"id,omitempty"`
	Bytes         int64           `json:"bytes"`            // of the data
	JSON          json.RawMessage `json:"json,omitempty"`   // the data, where it is JSON,
	Text          string          `json:"text,omitempty"`   // or other text,
	Base64        []byte          `json:"base64,omitempty"` // or neither
}

// setData puts the data where its form belongs.
func (r *BusRecord) setData(data []byte) {
	r.Bytes = int64(len(data))
	switch {
	case len(data) == 0:
	case json.Valid(data):
		r.JSON = data
	case utf8.Valid(data):
		r.Text = string(data)
	default:
		r.Base64 = data
	}
}

// RenderText is the record in one line, with the beginning of its data, or with its id
// and all of it.
func (r BusRecord) RenderText(all bool) string {
	at := ""
	if r.File != "" {
		at = fmt.Sprintf("%s:%-9d ", r.File, r.Offset)
	}
	if r.Kind == BusUnreadable {
		return at + company.Count(int(r.Bytes), "byte") + " from here on cannot be read"
	}
	subject := r.Subject
	if r.Kind != "record" {
		subject = r.Kind + " " + r.Subject
	}
	data := string(r.JSON) + r.Text
	if r.Base64 != nil {
		data = "(no text)"
	}
	most := 100
	if all {
		most = len(data)
		subject += " " + r.ID
	}
	return fmt.Sprintf("%s%s  #%-6d %-22s %7d  %s", at, r.Time.Local().Format("2006-01-02 15:04:05"), r.Seq,
		safetext.EscapeLine(subject, 300), r.Bytes, safetext.EscapeLine(data, most))
}

// CatBus calls fn for what the bus of an office holds, in the order in which it was
// written; the data of a record is overwritten by the next one. The log of the file
// driver is read beside a company at work, and as far as it can be read where it is
// damaged. Of another driver the ledger is read, then each journal; EHeld while a
// company is at work.
func CatBus(ctx context.Context, off *office.Office, log *slog.Logger, fn func(BusRecord) error) (err error) {
	driver, err := off.BusDriver(busRecords())
	switch {
	case err != nil || driver == "":
		return err
	case driver == "file":
		err := scanFileBus(off.BusFolder, func(r BusRecord) error { return errors.Join(context.Cause(ctx), fn(r)) })
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	lock, held, err := office.TakeLock(ctx, off.Paths, office.LockPatience)
	if err != nil {
		return err
	}
	if lock == nil {
		return heldError(held, "the records of the driver "+driver+" are read while nobody works")
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := finishRepair(off); err != nil {
		return err
	}
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
			r := BusRecord{SchemaVersion: 1, Kind: "record", Seq: m.Seq, Time: m.Time, Subject: m.Subject, ID: m.ID}
			r.setData(m.Data)
			return fn(r)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// HeldForRewriting is the error of a conversion or a repair that finds the office held.
func HeldForRewriting(held *office.Holder) error {
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
