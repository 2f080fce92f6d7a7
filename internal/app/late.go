package app

import (
	"cmp"
	"fmt"
	"runtime/pprof"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/present/feed"
)

// Time limits of a stop. A process that exceeds them ends like after kill -9, which loses no data
// of the ledger.
const (
	stopPatience  = 90 * time.Second // for all work to return; a cleanup in Docker may take 60 s
	apiPatience   = 3 * time.Second  // for answers of the API, before the work is stopped as well
	closePatience = 5 * time.Second  // for closing the parts while some work has not returned
)

// reportLate reports an effect that does not end, and one that ended late.
func (a *App) reportLate(late orchestrator.LateEffect) {
	effect, since := late.Effect, a.Now().Sub(late.Since).Round(time.Second)
	item := feed.Item{Task: effect.Task, Subtask: effect.Subtask, Run: effect.Run, Kind: "late", Mark: feed.Stalled}
	if late.Ended {
		item.Mark, item.Text = feed.Done, fmt.Sprintf("%s has ended after all, %s late", effect.Key, since)
	} else {
		file := a.writeStacks(
			fmt.Sprintf("%s was to end at %s (%v) and has not returned.\n\n%s", effect.Key,
				late.Since.UTC().Format(time.RFC3339),
				late.Cause, late.Stacks))
		item.Text = fmt.Sprintf("%s was to end %s ago and goes on; its stack: %s", effect.Key, since, file)
	}
	a.publishItem(item)
}

// writeStacks writes stacks to the office's logs folder and returns the file's name.
func (a *App) writeStacks(text string) string {
	name := fmt.Sprintf("stacks-%s-%d.txt", a.Now().UTC().Format("20060102T150405"), a.stacksFiles.Add(1))
	if err := a.office.LogsFolder.WriteFile(name, []byte(text), 0o600); err != nil {
		a.log.Error("stacks are not written", "file", name, "err", err, "stacks", text)
		return companyLog
	}
	return a.office.LogsFolder.Join(name)
}

// Stop stops the work, if it has started, and waits for it. It returns the error with which the work
// failed. If an effect ignores its cancellation, Stop gives up after a time limit. The error then
// wraps company.ErrUnended, and the process must exit.
func (a *App) Stop() error {
	a.cancelWork()
	a.starting.Lock()
	defer a.starting.Unlock()
	if a.worked == nil || a.unended {
		return nil
	}
	a.atWork.Store(false)
	patience := cmp.Or(a.stopPatience, stopPatience)
	bound := time.NewTimer(patience)
	defer bound.Stop()
	select {
	case <-a.worked:
		return a.failed
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

// unendedError returns the error of a stop that timed out.
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
		Because("it ignores the stop: Docker does not answer, or this is a bug. The process exits " +
			"without it").
		Fix("nothing of the ledger is lost: company resume, or company serve, goes on. The stacks are in " + file +
			": where Docker answers (company doctor), send them with a report").
		Wrap(company.ErrUnended)
}

// closeWithin closes the parts within a time limit. It is for an office with work that has not
// returned.
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
