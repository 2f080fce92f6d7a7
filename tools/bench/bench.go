// Command bench measures what company costs on this machine, each number
// beside the bare operation below it. It owns the measurements and their
// worlds: containers, repositories, ledgers and a model server of its own, all
// gone afterwards.
//
// It promises that a ratio compares samples that were taken in turns in one
// run, and that a number is the median of all samples, good or bad. It has the
// one unguarded Docker client of this tree, which makes the baselines; it
// touches only containers that it made. It drives Chromium over a pipe to
// measure the page. It decides nothing about passing: it prints the target
// beside the number.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"company/internal/company"
)

// Line is one number.
type Line struct {
	// pipe, start, ledger, bus, effect, turn, submit, task, cli, gate, office, scale, wall, watch, deps-npm, …
	Bench   string  `json:"bench"`
	What    string  `json:"what"`
	Unit    string  `json:"unit"` // ms, s, MB/s, 1/s, MB, kB
	Ours    float64 `json:"ours"` // median
	Against string  `json:"against,omitempty"`
	Bare    float64 `json:"bare,omitempty"`  // median of what it is measured against
	Ratio   float64 `json:"ratio,omitempty"` // Ours / Bare
	Target  string  `json:"target,omitempty"`
	Met     *bool   `json:"met,omitempty"` // nil: there is no target
	Samples int     `json:"samples"`
	Note    string  `json:"note,omitempty"`
}

// withTarget sets the target and whether it is reached.
func (l Line) withTarget(target string, ok bool) Line {
	l.Target, l.Met = target, &ok
	return l
}

// Report is a run of benches, with what one must know to read it.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Time          time.Time `json:"time"`
	CPUs          int       `json:"cpus"`
	LoadBefore    string    `json:"load_before"` // 1, 5 and 15 minutes
	LoadAfter     string    `json:"load_after"`
	Dir           string    `json:"dir"` // where files were written
	Lines         []Line    `json:"lines"`
}

// Options of a run. The zero value measures everything in full.
type Options struct {
	Dir      string            // parent of the temporary files; empty: the system's
	Quick    bool              // few small samples: does it work, not how fast
	Program  string            // the company that is measured, for the benches of whole processes
	Scale    ScaleSize         // of scale; wall takes its workers and its driver from it, too
	Progress func(line string) // may be nil
	Logger   *slog.Logger      // nil: silent

	seen func(path string, picture []byte) // takes what a browser showed, as PNG; it may be nil
}

// bench is one set of measurements.
type bench struct {
	name  string
	run   func(context.Context, *benchEnv) ([]Line, error)
	asked bool // it takes minutes: it runs where it is named, and not with all
	deps  bool // it asks registries: one of depsGroup
}

// benches in the order in which they run.
var benches = append([]bench{
	{name: "pipe", run: benchPipe}, {name: "start", run: benchStart}, {name: "ledger", run: benchLedger},
	{name: "bus", run: benchBus}, {name: "effect", run: benchEffect}, {name: "turn", run: benchTurn},
	{name: "submit", run: benchSubmit}, {name: "task", run: benchTask},
	{name: "cli", run: benchCommands}, {name: "gate", run: benchGate, asked: true},
	{name: "office", run: benchOffice, asked: true}, {name: "scale", run: benchScale, asked: true},
	{name: "wall", run: benchWall, asked: true}, {name: "watch", run: benchWatch, asked: true},
}, depsBenches()...)

// Names lists the benches, and depsGroup for those that it names together.
func Names() []string {
	var names []string
	for _, b := range benches {
		names = append(names, b.name)
	}
	return append(names, depsGroup)
}

// isWanted tells whether a bench runs for these names.
func (b bench) isWanted(names []string) bool {
	if len(names) == 0 {
		return !b.asked
	}
	return slices.Contains(names, b.name) || b.deps && slices.Contains(names, depsGroup)
}

// Run runs the named benches; when none is named, all but those that take minutes. An unknown name is an
// EUsage error.
func Run(ctx context.Context, names []string, o Options) (r Report, err error) {
	for _, n := range names {
		if !slices.Contains(Names(), n) {
			return r, company.E(company.EUsage, "there is no bench "+n).Fix("bench " + strings.Join(Names(), ", "))
		}
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	w := &benchEnv{Options: o}
	if w.dir, err = os.MkdirTemp(o.Dir, "company-bench-"); err != nil {
		return r, company.E(company.EConfig, "no folder for the benches can be made").Wrap(err).Fix("name one with --dir")
	}
	defer func() { err = errors.Join(err, w.close()) }()
	r = Report{SchemaVersion: 1, Time: time.Now().UTC(), CPUs: runtime.NumCPU(), LoadBefore: load(), Dir: w.dir}
	for _, b := range benches {
		if !b.isWanted(names) {
			continue
		}
		o.Progress("bench " + b.name)
		lines, err := b.run(ctx, w)
		if err != nil {
			return r, fmt.Errorf("bench %s: %w", b.name, err)
		}
		for i := range lines {
			lines[i].Bench = b.name
		}
		r.Lines = append(r.Lines, lines...)
	}
	r.LoadAfter = load()
	return r, nil
}

// load is how busy the machine is, as Linux says.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	f := strings.Fields(string(text))
	return strings.Join(f[:min(3, len(f))], " ")
}

// sampleCount is n, or few in a quick run.
func (w *benchEnv) sampleCount(n, few int) int {
	if w.Quick {
		return few
	}
	return n
}

// takeSamples runs each function n times, in turns and in changing order, so that
// what the machine does meanwhile meets all of them alike. A first round is
// thrown away. Each function says how long what it measures took.
func takeSamples(ctx context.Context, n int, fns ...func() (time.Duration, error)) ([][]time.Duration, error) {
	out := make([][]time.Duration, len(fns))
	for round := range n + 1 {
		for i := range fns {
			if round%2 == 1 {
				i = len(fns) - 1 - i
			}
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			d, err := fns[i]()
			if err != nil {
				return nil, err
			}
			if round > 0 {
				out[i] = append(out[i], d)
			}
		}
	}
	return out, nil
}

// timeFunc measures all of a function.
func timeFunc(fn func() error) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		began := time.Now()
		err := fn()
		return time.Since(began), err
	}
}

// medianMillis of samples, in milliseconds.
func medianMillis(d []time.Duration) float64 {
	if len(d) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(d))
	mid := s[len(s)/2]
	if len(s)%2 == 0 {
		mid = (mid + s[len(s)/2-1]) / 2
	}
	return float64(mid) / float64(time.Millisecond)
}

// compareLine makes the line of ours against bare, both in milliseconds.
func compareLine(what, against string, ours, bare []time.Duration) Line {
	l := Line{What: what, Unit: "ms", Ours: medianMillis(ours), Against: against, Bare: medianMillis(bare),
		Samples: len(ours)}
	l.Ratio = l.Ours / l.Bare
	return l
}

// rateLine makes the line of throughputs of n bytes each.
func rateLine(what, against string, n int64, ours, bare []time.Duration) Line {
	l := compareLine(what, against, ours, bare)
	l.Unit = "MB/s"
	l.Ours, l.Bare = float64(n)/1e3/l.Ours, float64(n)/1e3/l.Bare
	l.Ratio = l.Ours / l.Bare
	return l
}
