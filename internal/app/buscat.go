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
	"company/internal/lib/safetext"
	"company/internal/office"
)

// Kinds of a BusRecord other than records.
const (
	BusMark       = "mark"       // all data before it is on disk
	BusUnreadable = "unreadable" // damaged or incomplete bytes of the log
)

// BusRecord is a record of an office's bus, or a marker between records.
type BusRecord struct {
	SchemaVersion int `json:"schema_version"`
	// record, purge, mark, end, or unreadable for bytes that are not a record
	Kind    string          `json:"kind"`
	File    string          `json:"file,omitempty"` // file of the log, with bus.driver: file
	Offset  int64           `json:"offset"`
	Seq     uint64          `json:"seq"`
	Time    time.Time       `json:"time,omitzero"` // time of writing
	Subject string          `json:"subject,omitempty"`
	ID      string          `json:"id,omitempty"`
	Bytes   int64           `json:"bytes"`            // size of the data
	JSON    json.RawMessage `json:"json,omitempty"`   // the data if it is JSON
	Text    string          `json:"text,omitempty"`   // the data if it is other text
	Base64  []byte          `json:"base64,omitempty"` // all other data
}

// setData stores the data in the field for its format.
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

// RenderText renders the record in one line, with the start of its data. With all it includes the
// id and all data.
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
	limit := 100
	if all {
		limit = len(data)
		subject += " " + r.ID
	}
	return fmt.Sprintf("%s%s  #%-6d %-22s %7d  %s", at, r.Time.Local().Format("2006-01-02 15:04:05"), r.Seq,
		safetext.EscapeLine(subject, 300), r.Bytes, safetext.EscapeLine(data, limit))
}

// CatBus calls fn for each entry of an office's bus, in the order of writing. The next call
// overwrites the data of a record. With the file driver it works while a company is running, and
// reads a damaged log as far as possible. With other drivers it reads the ledger, then each
// journal, and returns EHeld while a company is running.
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
		err := b.Log().Read(ctx, subject, 0, func(message bus.Message) error {
			busRecord := BusRecord{SchemaVersion: 1, Kind: "record", Seq: message.Seq, Time: message.Time,
				Subject: message.Subject, ID: message.ID}
			busRecord.setData(message.Data)
			return fn(busRecord)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// HeldForRewriting returns the error of a conversion or repair that finds the office held.
func HeldForRewriting(held *office.Holder) error {
	return heldError(held, "records that are added meanwhile would be lost")
}

// heldError returns the error for an office that another process holds.
func heldError(held *office.Holder, reason string) error {
	fault := company.E(company.EHeld, "the office is held by another process").Because(reason)
	if held == nil || held.PID == 0 {
		return fault.Fix("wait for it to end, and try again")
	}
	return fault.Fix("end it, and try again: " + held.Command)
}
