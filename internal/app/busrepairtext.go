package app

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// BusRepair is what a repair found and did.
type BusRepair struct {
	SchemaVersion int             `json:"schema_version"`
	Driver        string          `json:"driver"`
	DryRun        bool            `json:"dry_run"`
	Repaired      bool            `json:"repaired"` // false: nothing had to be written anew, or it was a dry run
	Events        uint64          `json:"events"`   // of the ledger, which is whole
	Damage        []BusDamage     `json:"damage"`
	Journals      []JournalRepair `json:"journals"`       // those that are not kept as they were
	Kept          string          `json:"kept,omitempty"` // the folder of the damaged records
}

// BusDamage is a part of the records that differs from the bytes that were written.
type BusDamage struct {
	File   string   `json:"file"`
	Offset int64    `json:"offset"`
	Bytes  int64    `json:"bytes"`
	Why    string   `json:"why"`
	Mended bool     `json:"mended"`         // one bit had changed; nothing is lost
	Lost   []string `json:"lost,omitempty"` // subjects of the records in it, as far as they can be read
	Known  bool     `json:"known"`          // they are all

	after uint64 // sequence of the newest record before it
}

// mayHold reports whether a record may be lost in the damage whose subject has a prefix.
func (d BusDamage) mayHold(prefix string) bool {
	return !d.Known || slices.ContainsFunc(d.Lost, func(s string) bool { return strings.HasPrefix(s, prefix) })
}

// RenderText is the damage in one line.
func (d BusDamage) RenderText() string {
	text := fmt.Sprintf("%s, byte %d: %s", d.File, d.Offset, d.Why)
	if d.Bytes > 1 {
		text = fmt.Sprintf("%s, bytes %d to %d: %s", d.File, d.Offset, d.Offset+d.Bytes-1, d.Why)
	}
	switch {
	case d.Mended:
		return text + "; changed back"
	case !d.Known:
		return text + "; it may have held any record"
	case len(d.Lost) == 0:
		return text + "; no record is lost"
	}
	return text + "; lost: " + strings.Join(d.Lost, ", ")
}

// JournalFate is what a repair makes of a damaged journal.
type JournalFate string

const (
	JournalCut       JournalFate = "cut"       // its run goes on from the records before the damage
	JournalDropped   JournalFate = "dropped"   // its run has ended, and a blob has all of it
	JournalShortened JournalFate = "shortened" // its run has ended, and its later records are lost
)

// JournalRepair is what a repair makes of the journal of a run.
type JournalRepair struct {
	Run     company.RunID  `json:"run"`
	Fate    JournalFate    `json:"fate"`
	Records int            `json:"records"` // that are whole, from the first on
	Granted company.Amount `json:"granted,omitzero"`
	Fence   uint64         `json:"fence,omitempty"`
}

// RenderText is the journal in one line.
func (j JournalRepair) RenderText() string {
	whole := company.Count(j.Records, "whole record")
	switch {
	case j.Fate == JournalDropped:
		return fmt.Sprintf("journal of %s: dropped; the run has ended, and its sealed journal is a blob", j.Run)
	case j.Fate == JournalShortened:
		return fmt.Sprintf("journal of %s: %s kept; the run has ended and needs no more", j.Run, whole)
	case j.Records == 0:
		return fmt.Sprintf("journal of %s: no whole record; the run begins anew, and %s count as spent", j.Run, j.Granted)
	}
	return fmt.Sprintf("journal of %s: %s kept; the run goes on from there, and %s count as spent", j.Run, whole, j.Granted)
}

// isNeeded reports whether anything has to be written anew.
func (r BusRepair) isNeeded() bool { return len(r.Damage)+len(r.Journals) > 0 }

// RenderText is the repair for people, a line for each part.
func (r BusRepair) RenderText() string {
	if r.Driver == "" {
		return "this office has no records yet"
	}
	if !r.isNeeded() {
		return fmt.Sprintf("nothing is damaged: %s of the ledger and all journals are whole", company.Count(int(r.Events), "event"))
	}
	var lines []string
	for _, d := range r.Damage {
		lines = append(lines, d.RenderText())
	}
	lines = append(lines, fmt.Sprintf("ledger: whole, %s", company.Count(int(r.Events), "event")))
	for _, j := range r.Journals {
		lines = append(lines, j.RenderText())
	}
	lines = append(lines, "queue: filled again from the ledger by the next company")
	switch {
	case r.Repaired:
		lines = append(lines, "repaired; the damaged records are kept in "+r.Kept)
	case r.DryRun:
		lines = append(lines, "nothing was changed: company bus repair does it")
	}
	return strings.Join(lines, "\n")
}
