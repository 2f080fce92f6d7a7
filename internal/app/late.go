package app

import (
	"cmp"
	"fmt"
	"runtime/pprof"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/feed"
	"company/internal/orchestrator"
)

// Bounds of an end. A process that passes them ends as after kill -9, which loses nothing
// of the ledger.
const (
	stopPatience  = 90 * time.Second // for all that is under way to return; a clean-up in Docker may take 60 s
	apiPatience   = 3 * time.Second  // for answers of the API, before the work is told to end beside them
	closePatience = 5 * time.Second  // for the parts to close, where something has not returned
)

// reportLate tells of an effect that does not end, and of one that did so late.
func (a *App) reportLate(late orchestrator.LateEffect) {
	e, since := late.Effect, a.Now().Sub(late.Since).Round(time.Second)
	it := feed.Item{Task: e.Task, Subtask: e.Subtask, Run: e.Run, Kind: "late", Mark: feed.Stalled}
	if late.Ended {
		it.Mark, it.Text = feed.Done, fmt.Sprintf("%s has ended after all, %s late", e.Key, since)
	} else {
		file := a.writeStacks(fmt.Sprintf("%s was to end at %s (%v) and has not returned.\n\n%s", e.Key, late.Since.UTC().Format(time.RFC3339), late.Cause, late.Stacks))
		it.Text = fmt.Sprintf("%s was to end %s ago and goes on; its stack: %s", e.Key, since, file)
	}
	a.publishItem(it)
}

// writeStacks keeps stacks in the office's logs folder and returns the file's name.
func (a *App) writeStacks(text string) string {
	name := fmt.Sprintf("stacks-%s-%d.txt", a.Now().UTC().Format("20060102T150405"), a.stacksFiles.Add(1))
	if err := a.office.LogsFolder.WriteFile(name, []byte(text), 0o600); err != nil {
		a.log.Error("stacks are not written", "file", name, "err", err, "stacks", text)
		return companyLog
	}
	return a.office.LogsFolder.Join(name)
}

// Stop ends the work that start began, and waits for it; not for ever, though: an effect
// that ignores its end must not hold the process. Then the error wraps company.ErrUnended, and the
// process is to end.
func (a *App) Stop() error {
	ended := make(chan error, 1)
	go func() { ended <- a.stopWork() }()
	patience := cmp.Or(a.stopPatience, stopPatience)
	bound := time.NewTimer(patience)
	defer bound.Stop()
	select {
	case err := <-ended:
		return err
	case <-bound.C:
	}
	a.unended = true
	var all strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		all.WriteString(err.Error())
	}
	err := unendedError(a.orch.Unended(), patience, a.writeStacks(all.String()))
	a.log.Error("the stop does not wait any longer", "err", err)
	return err
}

// unendedError explains a stop that did not wait any longer.
func unendedError(late []orchestrator.LateEffect, waited time.Duration, file string) error {
	var keys []string
	for _, l := range late {
		keys = append(keys, l.Effect.Key)
	}
	what := "a part of the office"
	if len(keys) > 0 {
		what = strings.Join(keys, ", ")
	}
	return company.E(company.EInternal, fmt.Sprintf("%s did not end within %s", what, waited)).
		Because("it goes on although it was told to end: Docker does not answer, or it is a fault of company. The process ends without it").
		Fix("nothing of the ledger is lost: company resume, or company serve, goes on. The stacks are in " + file + ": where Docker answers (company doctor), send them with a report").
		Wrap(company.ErrUnended)
}

// closeWithin closes the parts as far as they do so in time. It is for an office in which
// something has not returned.
func (a *App) closeWithin(patience time.Duration) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		a.closeParts()
	}()
	bound := time.NewTimer(patience)
	defer bound.Stop()
	select {
	case <-closed:
	case <-bound.C:
		a.log.Error("not everything was closed")
	}
}
