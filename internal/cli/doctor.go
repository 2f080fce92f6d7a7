package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"company/internal/health"
	"company/internal/safetext"
)

// doctorTimeout is how long all checks together may take.
const doctorTimeout = 1800 * time.Millisecond

func newDoctor(a *app) *cobra.Command {
	var online, orphans bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check that this machine and this office can work",
		Example: "  company doctor\n  company doctor --quiet\n  company doctor --online -o json",
		Long: `Each check tells what it found, what is needed, and how to put it right. ! is a
warning: work goes on, but look at it; ? could not be checked. Nothing outside of
this machine is asked without --online. With --quiet only what is not in order
is shown.

--list-orphans lists containers of ours that no company looks after any more.
It removes none: those of this office go with its next start.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if orphans {
				return a.listOrphans(c.Context())
			}
			return a.runDoctor(c.Context(), online)
		},
	}
	c.Flags().BoolVar(&online, "online", false, "also ask the models' servers and the git remote")
	c.Flags().BoolVar(&orphans, "list-orphans", false, "list containers without a company, and check nothing")
	return c
}

// doctorResult is one check with what it saw.
type doctorResult struct {
	Name   string `json:"name"`
	Status string `json:"status"` // pass | fail | warn | unknown
	health.Result
	Unknown bool `json:"unknown,omitempty"` // it could not be checked in time
}

// doctorCheck is one part of doctor: it may give several results.
type doctorCheck struct {
	name string
	run  func(ctx context.Context) []doctorResult
}

func singleResult(name string, r health.Result) []doctorResult {
	return []doctorResult{{Name: name, Result: r}}
}

func (a *app) runDoctor(ctx context.Context, online bool) error {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	checks := a.doctorChecks(ctx, online)
	results := make([][]doctorResult, len(checks))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() {
			got := c.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			results[i] = got
		})
	}
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }() // a check that hangs ends with the process
	select {
	case <-finished:
	case <-ctx.Done():
		// Let those that saw the end of their time say so.
		select {
		case <-finished:
		case <-time.After(100 * time.Millisecond):
		}
	}
	mu.Lock()
	defer mu.Unlock()
	all := []doctorResult{}
	code := exitComplete
	for i, c := range checks {
		if results[i] == nil {
			results[i] = []doctorResult{{Name: c.name, Unknown: true, Result: health.Result{Found: "no answer in time", Fix: "try again, or look at it yourself"}}}
		}
		for _, v := range results[i] {
			if v.Status = v.statusLabel(); v.OK {
				v.Warn, v.Fix = false, "" // there is nothing to do
			}
			if v.Status != "pass" || !a.quiet {
				all = append(all, v)
			}
			switch {
			case v.Unknown && code == exitComplete:
				code = exitIncomplete
			case !v.Unknown && !v.OK && !v.Warn:
				code = exitError
			}
		}
	}
	if a.output == "json" {
		if err := a.printJSON(a.out, map[string]any{"schema_version": 1, "ok": code == exitComplete, "checks": all}); err != nil {
			return err
		}
	} else {
		for _, v := range all {
			fmt.Fprintf(a.out, "%s %-16s %s\n", v.statusMark(), v.Name, safetext.EscapeLine(v.Found, 300))
			if !v.OK && v.Needed != "" {
				fmt.Fprintf(a.out, "    needed: %s\n", safetext.EscapeLine(v.Needed, 300))
			}
			if !v.OK && v.Fix != "" {
				fmt.Fprintf(a.out, "    fix:    %s\n", safetext.EscapeLine(v.Fix, 300))
			}
		}
	}
	if code != exitComplete {
		return &exitCode{code: code}
	}
	return nil
}

func (v doctorResult) statusLabel() string {
	switch {
	case v.Unknown:
		return "unknown"
	case v.OK:
		return "pass"
	case v.Warn:
		return "warn"
	}
	return "fail"
}

func (v doctorResult) statusMark() string {
	return map[string]string{"unknown": "?", "pass": "+", "warn": "!", "fail": "x"}[v.statusLabel()]
}
