package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"company/internal/company"
)

// ScaleSize is how much the bench scale does. Zero fields stand for the full size.
type ScaleSize struct {
	Subtasks int    // 10,000
	Tasks    int    // that they are in; 1,000
	Workers  int    // 64
	Driver   string // of the bus; empty: each of them
}

// mostPerTask is how many subtasks one wave of a plan may have.
const mostPerTask = 16

// withDefaults is the size of a run; a size that cannot be is an EUsage error.
func (s ScaleSize) withDefaults(w *benchEnv) (ScaleSize, error) {
	s.Subtasks = cmp.Or(s.Subtasks, w.sampleCount(10_000, 20))
	s.Tasks, s.Workers = cmp.Or(s.Tasks, max(1, s.Subtasks/10)), cmp.Or(s.Workers, w.sampleCount(64, 4))
	switch {
	case s.Subtasks < 10 || s.Tasks < 1 || s.Workers < 1 || s.Subtasks%s.Tasks != 0 || s.Subtasks/s.Tasks > mostPerTask:
		return s, company.E(company.EUsage,
			fmt.Sprintf("the bench scale cannot have %d subtasks in %d tasks on %d workers", s.Subtasks, s.Tasks, s.Workers)).
			Fix(fmt.Sprintf("give each task the same number of subtasks, %d at most, and all of them 10 or more", mostPerTask))
	case s.Driver != "" && !slices.Contains(busDriverNames, s.Driver):
		return s, company.E(company.EUsage, "there is no driver of the bus "+s.Driver).Fix("file or nats")
	}
	return s, nil
}

// scaleTargets are how many subtasks a second each driver is to carry.
var scaleTargets = map[string]float64{"file": 500, "nats": 150}

// benchScale measures how much work the engine carries, beside what containers, models,
// git and gates take, and whether it is as quick and as small after ten times as much.
func benchScale(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	size, err := w.Scale.withDefaults(w)
	if err != nil {
		return nil, err
	}
	for _, driver := range busDriverNames {
		if size.Driver != "" && size.Driver != driver {
			continue
		}
		mute, err := w.measureScale(ctx, size, driver, true)
		if err != nil {
			return nil, err
		}
		full, err := w.measureScale(ctx, size, driver, false)
		if err != nil {
			return nil, err
		}
		lines = append(lines, full.talkLines(size, driver)...)
		lines = append(lines, mute.muteLines(full, driver)...)
	}
	return lines, nil
}

// scaleRun is what an office took for all of it.
type scaleRun struct {
	began, ended time.Time   // ended: when the last of them is merged and the files of its runs are written
	merged       []time.Time // of each subtask that counts
	stored       counts      // up to the last of them
	processor    time.Duration
	memory       [2]float64 // after a tenth, and in the end
	bytes        int64      // on disk in the end
	done         int        // subtasks in the end, with those that were under way
}

func (r *scaleRun) totalTime() time.Duration { return r.ended.Sub(r.began) }
func (r *scaleRun) mergeRate() float64       { return float64(len(r.merged)) / r.totalTime().Seconds() }

// processorEach is the processor's time for each subtask, in milliseconds.
func (r *scaleRun) processorEach() float64 {
	return float64(r.processor) / float64(time.Millisecond) / float64(r.stored.merged)
}

// talkLines are the numbers of an office whose agents talk.
func (r *scaleRun) talkLines(size ScaleSize, driver string) []Line {
	tenth, all := len(r.merged)/10, len(r.merged)
	rate := Line{What: "subtasks, " + driver, Unit: "1/s", Ours: r.mergeRate(), Samples: all,
		Note: fmt.Sprintf("in %.1f s on %d workers; %.1f events, %.1f records of journals and %.1f blobs for each",
			r.totalTime().Seconds(), size.Workers,
			r.stored.perSubtask(r.stored.events), r.stored.perSubtask(r.stored.records), r.stored.perSubtask(r.stored.blobs))}
	target := scaleTargets[driver]
	first := float64(tenth) / r.merged[tenth-1].Sub(r.began).Seconds()
	last := float64(tenth) / r.merged[all-1].Sub(r.merged[all-1-tenth]).Seconds()
	flat := Line{What: "the last tenth of them", Unit: "1/s", Ours: last, Against: "the first tenth", Bare: first,
		Ratio: last / first, Samples: tenth}
	held := Line{What: fmt.Sprintf("memory after %d", all), Unit: "MB", Ours: r.memory[1],
		Against: fmt.Sprintf("after %d", tenth), Bare: r.memory[0], Ratio: r.memory[1] / r.memory[0], Samples: 1}
	return []Line{
		rate.withTarget(fmt.Sprintf("≥ %g/s", target), rate.Ours >= target),
		flat.withTarget("≥ 1/1.1", flat.Ratio >= 1/1.1),
		held.withTarget("≤ 1.2", held.Ratio <= 1.2),
		{What: "processor time for each", Unit: "ms", Ours: r.processorEach(), Samples: all},
		{What: "commits of the ledger", Unit: "1/s", Ours: float64(r.stored.commits) / r.totalTime().Seconds(),
			Samples: int(r.stored.commits),
			Note:    fmt.Sprintf("%.1f events in each", float64(r.stored.events)/float64(r.stored.commits))},
		{What: "on disk, for each", Unit: "kB", Ours: float64(r.bytes) / 1e3 / float64(r.done), Samples: r.done,
			Note: fmt.Sprintf("%.0f MB together", float64(r.bytes)/1e6)},
	}
}

// muteLines are the numbers of an office whose agents say nothing, beside one whose
// agents do.
func (r *scaleRun) muteLines(full *scaleRun, driver string) []Line {
	rate := Line{What: "without conversations, " + driver, Unit: "1/s", Ours: r.mergeRate(), Against: "with them",
		Bare: full.mergeRate(), Samples: len(r.merged),
		Note: "no journals, no transcripts, no results: the core, the orchestrator, the ledger and the queue"}
	each := Line{What: "processor time for each of those", Unit: "ms", Ours: r.processorEach(), Against: "with them",
		Bare: full.processorEach(), Samples: len(r.merged)}
	rate.Ratio, each.Ratio = rate.Ours/rate.Bare, each.Ours/each.Bare
	return []Line{rate, each}
}

// measureScale has an office do all of it. Tasks go on being submitted until the last
// subtask that counts is merged, so that it is as busy in the end as at first.
func (w *benchEnv) measureScale(
	ctx context.Context, size ScaleSize, driver string, mute bool,
) (r *scaleRun, err error) {
	perTask := size.Subtasks / size.Tasks
	// Twice as many subtasks at work as there are workers: while some are judged and
	// merged, others are written.
	active := max(1, (2*size.Workers+perTask-1)/perTask)
	name := fmt.Sprintf("scale-%s-%t", driver, mute)
	n, err := w.openNullOffice(ctx,
		nullOptions{name: name, driver: driver, workers: size.Workers, active: active, subtasks: perTask, mute: mute})
	if err != nil {
		return nil, err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, n.close())
		}
	}()
	how := map[bool]string{true: ", without conversations", false: ""}[mute]
	w.Progress(
		fmt.Sprintf("%d subtasks in %d tasks on %d workers, %s%s", size.Subtasks, size.Tasks, size.Workers, driver, how))
	early, all := n.whenMerged(size.Subtasks/10), n.whenMerged(size.Subtasks)

	r = &scaleRun{}
	spent := processorTime()
	r.began = time.Now()
	var presidents sync.WaitGroup
	errs := make([]error, 2*active+1)
	for i := range 2 * active {
		presidents.Go(func() {
			if errs[i] = n.submitUntil(all); errs[i] != nil {
				n.stop(errs[i])
			}
		})
	}
	for i, reached := range []<-chan struct{}{early, all} {
		if errs[2*active] = n.awaitDone(reached); errs[2*active] != nil {
			break
		}
		// What runs have left to be written counts, too.
		if errs[2*active] = n.files.Await(ctx); errs[2*active] != nil {
			break
		}
		r.ended = time.Now()
		r.stored, r.processor = n.countStored(), processorTime()-spent
		debug.FreeOSMemory() // memory that is about to be collected counts at neither time
		if r.memory[i], errs[2*active] = ownMemory(os.Getpid()); errs[2*active] != nil {
			break
		}
	}
	presidents.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	closed = true
	if err := n.close(); err != nil {
		return nil, err
	}
	r.merged, r.done = n.merged[:size.Subtasks], len(n.merged)
	dir := filepath.Join(w.dir, name)
	if r.bytes, err = sizeOfFiles(dir); err != nil {
		return nil, err
	}
	return r, os.RemoveAll(dir)
}

// processorTime is what this process has used of processors.
func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// submitUntil has one task after the other done and archived.
func (n *nullOffice) submitUntil(enough <-chan struct{}) error {
	for {
		select {
		case <-enough:
			return nil
		default:
		}
		id, err := n.liveTask()
		if err == nil {
			err = n.archiveTask(id)
		}
		if err != nil {
			return err
		}
	}
}

// counts are what an office has stored, and for how many subtasks.
type counts struct {
	merged, events, commits, records, blobs int64
}

func (n *nullOffice) countStored() counts {
	n.mu.Lock()
	defer n.mu.Unlock()
	return counts{int64(len(n.merged)), n.events, n.bus.commits.Load(), n.bus.records.Load(), n.bus.blobs.Load()}
}

// perSubtask is a count for each subtask.
func (c counts) perSubtask(n int64) float64 { return float64(n) / float64(c.merged) }
