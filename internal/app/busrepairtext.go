package app

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// BusRepair is the result of a repair.
type BusRepair struct {
	SchemaVersion int             `json:"schema_version"`
	Driver        string          `json:"driver"`
	DryRun        bool            `json:"dry_run"`
	Repaired      bool            `json:"repaired"` // false if no rewrite was needed, or in a dry run
	Events        uint64          `json:"events"`   // events of the ledger, which is complete
	Damage        []BusDamage     `json:"damage"`
	Journals      []JournalRepair `json:"journals"`       // journals that change
	Kept          string          `json:"kept,omitempty"` // folder of the damaged records
}

// BusDamage is a part of the records that differs from the written bytes.
type BusDamage struct {
	File   string   `json:"file"`
	Offset int64    `json:"offset"`
	Bytes  int64    `json:"bytes"`
	Why    string   `json:"why"`
	Mended bool     `json:"mended"`         // one bit was flipped and corrected; no data is lost
	Lost   []string `json:"lost,omitempty"` // subjects of its records, as far as they can be read
	Known  bool     `json:"known"`          // Lost is complete

	after uint64 // sequence of the newest record before it
}

// mayHold reports whether the damage may include a record whose subject has the prefix.
func (d BusDamage) mayHold(prefix string) bool {
	return !d.Known || slices.ContainsFunc(d.Lost, func(s string) bool { return strings.HasPrefix(s, prefix) })
}

// RenderText renders the damage in one line.
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

// JournalFate is the effect of a repair on a damaged journal.
type JournalFate string

const (
	JournalCut       JournalFate = "cut"       // its run continues from the records before the damage
	JournalDropped   JournalFate = "dropped"   // its run has ended, and a blob has the complete journal
	JournalShortened JournalFate = "shortened" // its run has ended, and its later records are lost
)

// JournalRepair describes the repair of a run's journal.
type JournalRepair struct {
	Run     company.RunID  `json:"run"`
	Fate    JournalFate    `json:"fate"`
	Records int            `json:"records"` // number of undamaged records, from the first
	Granted company.Amount `json:"granted,omitzero"`
	Fence   uint64         `json:"fence,omitempty"`
}

// RenderText renders the journal in one line.
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
	return fmt.Sprintf("journal of %s: %s kept; the run goes on from there, and %s count as spent", j.Run,
		whole, j.Granted)
}

// isNeeded reports whether any records must be rewritten.
func (r BusRepair) isNeeded() bool { return len(r.Damage)+len(r.Journals) > 0 }

// RenderText renders the repair for people, one line per part.
func (r BusRepair) RenderText() string {
	if r.Driver == "" {
		return "this office has no records yet"
	}
	if !r.isNeeded() {
		return fmt.Sprintf("nothing is damaged: %s of the ledger and all journals are whole",
			company.Count(int(r.Events), "event"))
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
