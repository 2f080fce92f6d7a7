package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"company/internal/agent"
	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/office"
)

// Folders of a repair in that of the bus.
const (
	repairDir   = "repair"   // the new records, until they are whole
	repairedDir = "repaired" // the new records, until they are in their place
	damagedDir  = "damaged-" // begins the folder that keeps the damaged records
)

// RepairBus writes the records of a damaged office anew, without what cannot be read, if
// nothing that is lost is needed. The office must be the caller's alone. It refuses with ELedger
// where the ledger lacks an event, or where that cannot be told. What waited in the queue is
// offered anew from the ledger, and a run whose journal is damaged goes on from the records
// before the damage.
//
// The new records are written beside, read again and compared, and then put in the place of the
// damaged ones, which are kept. Whenever it is killed, the office has the damaged records or
// the new ones. With dry it only reads. report hears of each step before it begins.
func RepairBus(ctx context.Context, off *office.Office, dry bool, log *slog.Logger, report func(step string)) (BusRepair, error) {
	driver, err := off.BusDriver(busRecords())
	out := BusRepair{SchemaVersion: 1, Driver: driver, DryRun: dry, Damage: []BusDamage{}, Journals: []JournalRepair{}}
	if err != nil || driver == "" {
		return out, err
	}
	if err := finishRepair(off); err != nil {
		return out, err
	}
	if err := off.SettleBusDriver(driver, busRecords()); err != nil {
		return out, err
	}
	d := busDrivers[driver]
	report("read")
	src, damage, err := d.salvage(ctx, off.BusFolder, log)
	if err != nil {
		return out, addDamageHint(off.Paths, err)
	}
	out.Damage = append(out.Damage, damage...)
	p := busRepairer{off: off, src: src, log: log, report: report, out: &out}
	err = p.plan(ctx)
	if err == nil && !dry && out.isNeeded() {
		err = p.write(ctx, d)
	}
	if err := errors.Join(err, src.Close()); err != nil {
		return out, addRepairHint(off.Paths, err)
	}
	if dry || !out.isNeeded() {
		return out, nil
	}
	if out.Kept, err = placeRepaired(off, d, report); err != nil {
		return out, err
	}
	out.Repaired = true
	return out, nil
}

// addRepairHint tells how to go on where a repair is refused.
func addRepairHint(p office.Paths, err error) error {
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.ELedger || e.Hint != "" {
		return err
	}
	return e.Fix(restoreHint(p))
}

// busRepairer repairs the records of one office.
type busRepairer struct {
	off    *office.Office
	src    bus.Bus
	log    *slog.Logger
	report func(step string)
	out    *BusRepair

	ledger *ledger.Ledger // on src
	head   ledger.Head
	state  *company.State
	ends   map[string]uint64 // the last record of a journal's subject that is kept
}

// plan reads everything and decides what becomes of it.
func (p *busRepairer) plan(ctx context.Context) (err error) {
	p.ledger, err = ledger.Open(ctx, p.src, ledger.Options{Folder: p.off.StateFolder, Logger: p.log})
	if err == nil {
		err = p.ledger.Verify(ctx)
	}
	if err != nil {
		return p.refuse(err)
	}
	p.head, p.state, p.ends = p.ledger.Head(), company.NewState(), map[string]uint64{}
	p.out.Events = p.head.Seq
	for _, d := range p.out.Damage {
		if d.mayHold(bus.Ledger) && d.after >= p.head.LogSeq {
			return p.refuse(company.E(company.ELedger, fmt.Sprintf("the ledger may have lost events behind event %d", p.head.Seq)))
		}
	}
	err = p.ledger.Read(ctx, 1, func(e company.Event) error { return company.Apply(p.state, e) })
	if err != nil {
		return p.refuse(err)
	}
	return p.planJournals(ctx)
}

// refuse says what the ledger lacks, and where.
func (p *busRepairer) refuse(err error) error {
	if company.CodeOf(err) != company.ELedger {
		return err
	}
	var why []string
	hint := ""
	var was *company.Error
	if errors.As(err, &was) {
		hint = was.Hint
		why = append(why, was.Message)
		if was.Why != "" {
			why = append(why, was.Why)
		}
	}
	for _, d := range p.out.Damage {
		if d.mayHold(bus.Ledger) {
			why = append(why, d.RenderText())
		}
	}
	return company.E(company.ELedger, "the ledger is not whole, and a repair would lose decisions").
		Because(strings.Join(why, "; ")).Fix(hint).NeedsPerson()
}

// planJournals decides which records of each journal are kept.
func (p *busRepairer) planJournals(ctx context.Context) error {
	runs, err := p.ledger.Journals(ctx)
	if err != nil {
		return err
	}
	suspect := slices.ContainsFunc(p.out.Damage, func(d BusDamage) bool { return d.mayHold(bus.JournalPrefix) })
	for _, t := range p.state.SortedTasks() {
		for _, r := range t.Runs {
			if suspect && r.Fence > 0 && !r.Ended {
				runs = append(runs, r.ID)
			}
		}
	}
	slices.Sort(runs)
	for _, run := range slices.Compact(runs) {
		c, err := p.ledger.CheckJournal(ctx, run)
		if err != nil {
			return err
		}
		if c.Fence > p.head.Seq {
			return p.refuse(company.E(company.ELedger, fmt.Sprintf("the ledger has lost events behind event %d", p.head.Seq)).
				Because(fmt.Sprintf("run %s was claimed with event %d", run, c.Fence)))
		}
		if err := p.planJournal(ctx, run, c, suspect); err != nil {
			return err
		}
	}
	return nil
}

// planJournal decides which records of a run's journal are kept.
func (p *busRepairer) planJournal(ctx context.Context, run company.RunID, c ledger.JournalCheck, suspect bool) error {
	j := JournalRepair{Run: run, Records: c.Records}
	var r *company.Run
	t := p.state.Tasks[run.Task()]
	if t != nil {
		r = t.Runs[run]
	}
	mayLack := suspect && !(c.Sealed && (r == nil || c.Fence >= r.Fence)) // records behind the last one
	switch {
	case r != nil && !r.Ended && (c.Broken || mayLack):
		j.Fate, j.Fence, j.Granted = JournalCut, max(r.Fence, c.Fence), r.Reserved
	case !c.Broken && !mayLack:
		p.ends[busSubject(run)] = c.End
		return nil
	case p.state.Past[run.Task()] != nil:
		j.Fate, c.End = JournalDropped, 0
	case r != nil && r.Journal != "":
		err := p.ledger.VerifyBlob(ctx, r.Journal)
		if code := company.CodeOf(err); err != nil && code != company.ELedger && code != company.ENotFound {
			return err
		}
		j.Fate = JournalShortened
		if err == nil {
			j.Fate, c.End = JournalDropped, 0
		}
	default:
		j.Fate = JournalShortened
	}
	if c.End > 0 {
		p.ends[busSubject(run)] = c.End
	}
	p.out.Journals = append(p.out.Journals, j)
	return nil
}

func busSubject(run company.RunID) string { return bus.JournalPrefix + string(run) }

// write writes the kept records into a new bus beside, and compares it once that was opened anew.
func (p *busRepairer) write(ctx context.Context, d busDriver) (err error) {
	p.report("write")
	folder := p.off.BusFolder
	if err := errors.Join(folder.RemoveAll(repairDir), folder.RemoveAll(repairedDir), folder.Mkdir(repairDir)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, folder.RemoveAll(repairDir)) // its room may be what others need
		}
	}()
	beside, err := folder.Sub(repairDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, beside.Close()) }()
	dst, err := d.open(ctx, beside, p.log)
	if err != nil {
		return err
	}
	if err := errors.Join(p.copyRecords(ctx, dst), dst.Close()); err != nil {
		return err
	}
	p.report("verify")
	if dst, err = d.open(ctx, beside, p.log); err != nil {
		return err
	}
	if err := errors.Join(p.compareRecords(ctx, dst), dst.Close()); err != nil {
		return err
	}
	return folder.Sync(repairDir)
}

// copyRecords writes the ledger and the kept records of the journals.
func (p *busRepairer) copyRecords(ctx context.Context, dst bus.Bus) error {
	if _, err := copySubject(ctx, dst, p.src, bus.Ledger, p.head.LogSeq); err != nil {
		return err
	}
	for subject, end := range p.ends {
		if _, err := copySubject(ctx, dst, p.src, subject, end); err != nil {
			return err
		}
	}
	l, err := ledger.Open(ctx, dst, ledger.Options{Logger: p.log, Clock: func() time.Time { return p.state.Time }})
	if err != nil {
		return err
	}
	for _, j := range p.out.Journals {
		if j.Fate != JournalCut {
			continue
		}
		journal, err := l.OpenJournal(ctx, j.Run, j.Fence)
		if err == nil {
			err = agent.RecordLoss(ctx, journal, j.Granted, p.state.Time)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compareRecords holds the new records to those that they are of.
func (p *busRepairer) compareRecords(ctx context.Context, dst bus.Bus) error {
	if err := compareSubject(ctx, dst, p.src, bus.Ledger); err != nil {
		return err
	}
	l, err := ledger.Open(ctx, dst, ledger.Options{Logger: p.log})
	if err == nil {
		err = l.Verify(ctx)
	}
	if err != nil {
		return err
	}
	if is := l.Head(); is.Seq != p.head.Seq || is.Hash != p.head.Hash {
		return company.E(company.EInternal, fmt.Sprintf("the copy of the ledger ends with event %d and not with %d", is.Seq, p.head.Seq))
	}
	runs, err := l.Journals(ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		c, err := l.CheckJournal(ctx, run)
		if err != nil {
			return err
		}
		was, err := p.ledger.CheckJournal(ctx, run)
		if err != nil {
			return err
		}
		if c.Broken || c.Records < was.Records {
			return company.E(company.EInternal, fmt.Sprintf("the copy of the journal of %s holds %d of %s", run, c.Records, company.Count(was.Records, "record")))
		}
	}
	return nil
}

// placeRepaired puts the new records in the place of the damaged ones, and returns the folder that
// keeps these. The snapshot goes: it names records by their numbers in the bus, which are others now.
func placeRepaired(off *office.Office, d busDriver, report func(step string)) (kept string, err error) {
	report("place")
	err = off.StateFolder.Remove(snapshotFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	kept = damagedDir + time.Now().UTC().Format("20060102-150405.000")
	if err = errors.Join(err, off.StateFolder.Sync(".")); err == nil {
		err = errors.Join(off.BusFolder.Rename(repairDir, repairedDir), off.BusFolder.Mkdir(kept), off.BusFolder.Sync("."))
	}
	if err == nil {
		report("swap")
		err = errors.Join(off.BusFolder.Rename(d.records, kept+"/"+d.records), off.BusFolder.Sync(kept), off.BusFolder.Sync("."))
	}
	if err == nil {
		report("finish")
		err = finishRepair(off)
	}
	if err != nil {
		return "", company.E(company.EBus, "the repaired records could not be put in their place").
			Because("no record is lost by it").Fix("check the office's disk, and try again: company bus repair").Wrap(err)
	}
	return off.BusFolder.Join(kept), nil
}

// finishRepair puts repaired records in their place whose repair was killed when the damaged ones
// had gone from there.
func finishRepair(off *office.Office) error {
	for _, d := range busDrivers {
		_, err := off.BusFolder.Lstat(d.records)
		if err == nil {
			continue
		}
		if _, err := off.BusFolder.Lstat(repairedDir + "/" + d.records); err != nil {
			continue
		}
		err = errors.Join(off.BusFolder.Rename(repairedDir+"/"+d.records, d.records), off.BusFolder.Sync("."))
		if err != nil {
			return err
		}
		if err := off.BusFolder.RemoveAll(repairedDir); err != nil {
			return err
		}
	}
	return nil
}
