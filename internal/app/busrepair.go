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

// Folders of a repair, in the folder of the bus.
const (
	repairDir   = "repair"   // the new records until they are complete
	repairedDir = "repaired" // the new records until they are in place
	damagedDir  = "damaged-" // prefix of the folder that keeps the damaged records
)

// RepairBus rewrites the records of a damaged office without the unreadable parts, if no needed
// record is lost. Only the caller may use the office. It returns ELedger if the ledger lacks an
// event, or may lack one. The queue is filled again from the ledger. A run with a damaged journal
// continues from the records before the damage.
//
// The new records are written to a separate folder, read back and compared, and then replace the
// damaged ones, which are kept. After a crash at any point, the office has either the damaged or
// the new records. With dry it only reads. report is called before each step.
func RepairBus(
	ctx context.Context, off *office.Office, dry bool, log *slog.Logger, report func(step string),
) (BusRepair, error) {
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
	busDriver := busDrivers[driver]
	report("read")
	src, damage, err := busDriver.salvage(ctx, off.BusFolder, log)
	if err != nil {
		return out, addDamageHint(off.Paths, err)
	}
	out.Damage = append(out.Damage, damage...)
	p := busRepairer{off: off, src: src, log: log, report: report, out: &out}
	err = p.plan(ctx)
	if err == nil && !dry && out.isNeeded() {
		err = p.write(ctx, busDriver)
	}
	if err := errors.Join(err, src.Close()); err != nil {
		return out, addRepairHint(off.Paths, err)
	}
	if dry || !out.isNeeded() {
		return out, nil
	}
	if out.Kept, err = placeRepaired(off, busDriver, report); err != nil {
		return out, err
	}
	out.Repaired = true
	return out, nil
}

// addRepairHint adds a fix to the error of a refused repair.
func addRepairHint(paths office.Paths, err error) error {
	var fault *company.Error
	if !errors.As(err, &fault) || fault.Code != company.ELedger || fault.Hint != "" {
		return err
	}
	return fault.Fix(restoreHint(paths))
}

// busRepairer repairs the records of one office.
type busRepairer struct {
	off    *office.Office
	src    bus.Bus
	log    *slog.Logger
	report func(step string)
	out    *BusRepair

	ledger *ledger.Ledger // reads from src
	head   ledger.Head
	state  *company.State
	ends   map[string]uint64 // sequence of the last kept record, by subject of the journal
}

// plan reads all records and decides which to keep.
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
			return p.refuse(
				company.E(company.ELedger, fmt.Sprintf("the ledger may have lost events behind event %d", p.head.Seq)))
		}
	}
	err = p.ledger.Read(ctx, 1, func(e company.Event) error { return company.Apply(p.state, e) })
	if err != nil {
		return p.refuse(err)
	}
	return p.planJournals(ctx)
}

// refuse returns an error with the ledger's losses and their positions.
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
	for _, busDamage := range p.out.Damage {
		if busDamage.mayHold(bus.Ledger) {
			why = append(why, busDamage.RenderText())
		}
	}
	return company.E(company.ELedger, "the ledger is not whole, and a repair would lose decisions").
		Because(strings.Join(why, "; ")).Fix(hint).NeedsPerson()
}

// planJournals decides which records of each journal to keep.
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
		journalCheck, err := p.ledger.CheckJournal(ctx, run)
		if err != nil {
			return err
		}
		if journalCheck.Fence > p.head.Seq {
			return p.refuse(company.E(company.ELedger, fmt.Sprintf("the ledger has lost events behind event %d", p.head.Seq)).
				Because(fmt.Sprintf("run %s was claimed with event %d", run, journalCheck.Fence)))
		}
		if err := p.planJournal(ctx, run, journalCheck, suspect); err != nil {
			return err
		}
	}
	return nil
}

// planJournal decides which records of a run's journal to keep.
func (p *busRepairer) planJournal(
	ctx context.Context, run company.RunID, journalCheck ledger.JournalCheck, suspect bool,
) error {
	repair := JournalRepair{Run: run, Records: journalCheck.Records}
	var r *company.Run
	task := p.state.Tasks[run.Task()]
	if task != nil {
		r = task.Runs[run]
	}
	// records after the last readable one
	mayLack := suspect && !(journalCheck.Sealed && (r == nil || journalCheck.Fence >= r.Fence))
	switch {
	case r != nil && !r.Ended && (journalCheck.Broken || mayLack):
		repair.Fate, repair.Fence, repair.Granted = JournalCut, max(r.Fence, journalCheck.Fence), r.Reserved
	case !journalCheck.Broken && !mayLack:
		p.ends[busSubject(run)] = journalCheck.End
		return nil
	case p.state.Past[run.Task()] != nil:
		repair.Fate, journalCheck.End = JournalDropped, 0
	case r != nil && r.Journal != "":
		err := p.ledger.VerifyBlob(ctx, r.Journal)
		if code := company.CodeOf(err); err != nil && code != company.ELedger && code != company.ENotFound {
			return err
		}
		repair.Fate = JournalShortened
		if err == nil {
			repair.Fate, journalCheck.End = JournalDropped, 0
		}
	default:
		repair.Fate = JournalShortened
	}
	if journalCheck.End > 0 {
		p.ends[busSubject(run)] = journalCheck.End
	}
	p.out.Journals = append(p.out.Journals, repair)
	return nil
}

func busSubject(run company.RunID) string { return bus.JournalPrefix + string(run) }

// write writes the kept records to a new bus, reopens it, and compares it.
func (p *busRepairer) write(ctx context.Context, d busDriver) (err error) {
	p.report("write")
	folder := p.off.BusFolder
	if err := errors.Join(folder.RemoveAll(repairDir), folder.RemoveAll(repairedDir),
		folder.Mkdir(repairDir)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, folder.RemoveAll(repairDir)) // frees the disk space for others
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

// copyRecords copies the ledger and the kept records of the journals.
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
	for _, repair := range p.out.Journals {
		if repair.Fate != JournalCut {
			continue
		}
		journal, err := l.OpenJournal(ctx, repair.Run, repair.Fence)
		if err == nil {
			err = agent.RecordLoss(ctx, journal, repair.Granted, p.state.Time)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compareRecords compares the new records with the originals.
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
		return company.E(company.EInternal,
			fmt.Sprintf("the copy of the ledger ends with event %d and not with %d", is.Seq, p.head.Seq))
	}
	runs, err := l.Journals(ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		journalCheck, err := l.CheckJournal(ctx, run)
		if err != nil {
			return err
		}
		was, err := p.ledger.CheckJournal(ctx, run)
		if err != nil {
			return err
		}
		if journalCheck.Broken || journalCheck.Records < was.Records {
			return company.E(company.EInternal,
				fmt.Sprintf("the copy of the journal of %s holds %d of %s", run, journalCheck.Records,
					company.Count(was.Records, "record")))
		}
	}
	return nil
}

// placeRepaired replaces the damaged records with the new ones, and returns the folder that keeps
// the damaged ones. It removes the snapshot, because it refers to records by bus sequence numbers,
// which changed.
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
		err = errors.Join(off.BusFolder.Rename(d.records, kept+"/"+d.records), off.BusFolder.Sync(kept),
			off.BusFolder.Sync("."))
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

// finishRepair moves repaired records into place if a repair was killed after it had moved the
// damaged ones away.
func finishRepair(off *office.Office) error {
	for _, busDriver := range busDrivers {
		_, err := off.BusFolder.Lstat(busDriver.records)
		if err == nil {
			continue
		}
		if _, err := off.BusFolder.Lstat(repairedDir + "/" + busDriver.records); err != nil {
			continue
		}
		err = errors.Join(off.BusFolder.Rename(repairedDir+"/"+busDriver.records, busDriver.records), off.BusFolder.Sync("."))
		if err != nil {
			return err
		}
		if err := off.BusFolder.RemoveAll(repairedDir); err != nil {
			return err
		}
	}
	return nil
}
