package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"company/internal/company"
	"company/internal/lib/retry"
)

// watchScript counts what a page does, before it does anything: frames in which something in
// it changed, the longest time that its thread was busy at a stretch, when the tasks were
// there, and when each event was in the feed. Times are of the machine's clock, in ms.
const watchScript = `(() => {
  const c = { frames: 0, longest: 0, tasks: 0, seen: {} };
  window.benchCounts = c;
  let dirty = false;
  new MutationObserver(() => {
    if (!c.tasks && document.querySelector("[data-testid^='task-t']")) c.tasks = performance.now();
    const newest = document.querySelector("[data-testid=feed] li[data-seq]");
    if (newest && !c.seen[newest.dataset.seq]) c.seen[newest.dataset.seq] = performance.timeOrigin + performance.now();
    if (dirty) return;
    dirty = true;
    requestAnimationFrame(() => { dirty = false; c.frames++; });
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  new PerformanceObserver((list) => {
    for (const e of list.getEntries()) c.longest = Math.max(c.longest, e.duration);
  }).observe({ type: "longtask" });
})()`

// measurePage measures the page, in a browser where there is one.
func (o *watchedOffice) measurePage(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	n, err := o.pageBytes(ctx)
	if err != nil {
		return nil, err
	}
	size := Line{What: "the page until its first paint, gzip", Unit: "kB", Ours: float64(n) / 1e3, Samples: 1}
	lines = append(lines, size.withTarget("≤ 300 kB", n <= 300_000))
	program := findChromium()
	if program == "" {
		return append(
			lines, Line{What: "the page in a browser", Unit: "ms", Target: "≤ 300 ms",
				Note: "there is no chromium in PATH: on Debian, apt-get install chromium"}), nil
	}
	b, err := startChromium(ctx, program, filepath.Join(w.dir, "chromium"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close(ctx)) }()
	for _, measure := range []func(context.Context, *benchEnv, *chromium) (
		[]Line, error){o.measurePaint, o.measureDOM, o.measureRenders} {
		more, err := measure(ctx, w, b)
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	return lines, nil
}

// openPage opens a fresh link to the page, and waits until the tasks are there.
func (o *watchedOffice) openPage(ctx context.Context, b *chromium) (*tab, error) {
	t, err := b.openTab(ctx, watchScript)
	if err != nil {
		return nil, err
	}
	link, err := o.server.NewLink()
	if err == nil {
		err = t.open(ctx, link.URL)
	}
	if err == nil {
		err = t.awaitTrue(ctx, "window.benchCounts?.tasks")
	}
	if err != nil {
		return nil, errors.Join(err, t.close(ctx))
	}
	return t, nil
}

// measurePaint measures the first paint with nothing in the cache, while the office rests.
func (o *watchedOffice) measurePaint(ctx context.Context, w *benchEnv, b *chromium) ([]Line, error) {
	w.Progress("the page is opened in Chromium")
	var paints, tasks []time.Duration
	for n := range w.sampleCount(10, 1) + 1 {
		t, err := o.openPage(ctx, b)
		if err != nil {
			return nil, err
		}
		var at struct{ Paint, Tasks float64 }
		err = t.awaitTrue(ctx, "performance.getEntriesByName('first-contentful-paint').length")
		if err == nil {
			err = t.evaluateScript(
				ctx, "({paint: performance.getEntriesByName('first-contentful-paint')[0].startTime, tasks: benchCounts.tasks})",
				&at)
		}
		if err := errors.Join(err, t.close(ctx)); err != nil {
			return nil, err
		}
		if n > 0 { // the first one starts the browser's own processes
			paints, tasks = append(paints, fromMillis(at.Paint)), append(tasks, fromMillis(at.Tasks))
		}
	}
	paint := Line{What: "first paint of the page", Unit: "ms", Ours: medianMillis(paints), Samples: len(paints),
		Note: "in Chromium, from the begin of the navigation, nothing in its cache"}
	shown := Line{What: "until its tasks are there", Unit: "ms", Ours: medianMillis(tasks), Samples: len(tasks)}
	return []Line{paint.withTarget("≤ 300 ms", paint.Ours <= 300), shown}, nil
}

func fromMillis(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// domPause lies between two events that are looked for in the page, so that each comes by
// itself: the page has shown the numbers of the one before, and its ages of the second.
const domPause = 1100 * time.Millisecond

// measureDOM measures from the append of an event until the page has it in its feed.
func (o *watchedOffice) measureDOM(ctx context.Context, w *benchEnv, b *chromium) (lines []Line, err error) {
	t, err := o.openPage(ctx, b)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close(ctx)) }()
	if err := t.awaitTrue(ctx, "document.querySelector('[data-testid=feed] li[data-seq]')"); err != nil {
		return nil, err
	}
	var took []time.Duration
	for n := range w.sampleCount(30, 3) {
		if err := retry.Sleep(ctx, domPause); err != nil {
			return nil, err
		}
		called := time.Now()
		if err := o.do(company.President, company.Pause{Task: o.state.Open[0], Off: n%2 == 1}); err != nil {
			return nil, err
		}
		seen := fmt.Sprintf("benchCounts.seen[%d]", o.state.Seq)
		if err := t.awaitTrue(ctx, seen); err != nil {
			return nil, err
		}
		var at float64
		if err := t.evaluateScript(ctx, seen, &at); err != nil {
			return nil, err
		}
		took = append(took, time.UnixMicro(int64(at*1000)).Sub(called))
	}
	if o.state.Tasks[o.state.Open[0]].Paused {
		if err := o.do(company.President, company.Pause{Task: o.state.Open[0], Off: true}); err != nil {
			return nil, err
		}
	}
	l := Line{What: "append → in the page", Unit: "ms", Ours: medianMillis(took), Samples: len(took),
		Note: "in its DOM, of an event that comes by itself"}
	return []Line{l.withTarget("≤ 100 ms", l.Ours <= 100)}, nil
}

// renderPace is what happens in an office within a second while its page is looked at.
const (
	renderSteps = 20 // commands
	renderTools = 60 // calls of tools
)

// pageCounts are what a page has counted since it was opened.
type pageCounts struct {
	Renders, Most, Requests, Streams, Frames int
	Longest                                  float64
	Elements                                 int
	Now                                      float64
}

// measureRenders measures what the page does while many events come.
func (o *watchedOffice) measureRenders(ctx context.Context, w *benchEnv, b *chromium) (lines []Line, err error) {
	seconds := w.sampleCount(10, 2)
	task := o.state.Open[len(o.state.Open)/2]
	for _, page := range []struct {
		what, path string
		there      string // selector of what it shows
		resources  int    // that it shows, with the overview in its frame
	}{
		{"the overview", "/", "[data-testid=workers] a", 2},
		{"all tasks", "/?all=1", "[data-testid^=task-t]", 3},
		{"a task", "/t/" + string(task), "[data-testid=graph] .graph-node", 2},
		{"a task's timeline", "/t/" + string(task) + "?tab=time", "[data-testid=gantt]", 2},
	} {
		w.Progress(
			fmt.Sprintf("Chromium shows %s for %d s while %d events and tool calls a second come", page.what, seconds,
				renderSteps+renderTools))
		before, after, err := o.countRenders(ctx, w, b, page.path, page.there, seconds)
		if err != nil {
			return nil, err
		}
		took := (after.Now - before.Now) / 1000
		renders := Line{What: "renders in the busiest second, " + page.what, Unit: "1/s", Ours: float64(after.Most),
			Samples: after.Renders - before.Renders,
			Note: fmt.Sprintf("%.1f a second, %d frames in which something changed; %.0f ms without a pause at most; %d "+
				"elements",
				float64(after.Renders-before.Renders)/took, after.Frames-before.Frames, after.Longest, after.Elements)}
		asked := after.Requests - before.Requests
		requests := Line{What: "requests, " + page.what, Unit: "1/s", Ours: float64(asked) / took, Samples: asked,
			Note: fmt.Sprintf("of %s; %d streams were begun", company.Count(page.resources, "resource"),
				after.Streams-before.Streams)}
		// Each resource may be asked for once at the very beginning.
		lines = append(lines, renders.withTarget("≤ 4/s", after.Most <= 4),
			requests.withTarget(fmt.Sprintf("≤ %d/s", 4*page.resources),
				float64(asked-page.resources) <= float64(4*page.resources)*took))
	}
	return lines, nil
}

// countRenders opens a page, and counts what it does within some seconds of work.
func (o *watchedOffice) countRenders(
	ctx context.Context, w *benchEnv, b *chromium, path, there string, seconds int,
) (before, after pageCounts, err error) {
	t, err := o.openPage(ctx, b)
	if err != nil {
		return before, after, err
	}
	defer func() { err = errors.Join(err, t.close(ctx)) }()
	if path != "/" {
		if err := t.open(ctx, o.url+path); err != nil {
			return before, after, err
		}
	}
	if err := t.awaitTrue(
		ctx, fmt.Sprintf("location.href.endsWith(%q) && window.benchCounts && document.querySelector(%q)", path,
			there)); err != nil {
		return before, after, err
	}
	count := func(c *pageCounts) error {
		return t.evaluateScript(
			ctx, "({...companyCounts, ...benchCounts, seen: undefined, now: performance.now(), elements: "+
				"document.querySelectorAll('*').length})", c)
	}
	for n := range seconds + 1 {
		if n == 1 { // what the page does to come up has been done
			if err := t.evaluateScript(ctx, "benchCounts.longest = companyCounts.most = 0", nil); err != nil {
				return before, after, err
			}
			if err := count(&before); err != nil {
				return before, after, err
			}
		}
		if err := o.liveSecond(ctx); err != nil {
			return before, after, err
		}
	}
	if err := count(&after); err != nil || w.seen == nil {
		return before, after, err
	}
	picture, err := t.takePicture(ctx)
	if err == nil {
		w.seen(path, picture)
	}
	return before, after, err
}

// liveSecond is a second of an office in which much happens, by the machine's clock.
func (o *watchedOffice) liveSecond(ctx context.Context) error {
	for range renderSteps {
		began := time.Now()
		if err := o.doOne(); err != nil {
			return err
		}
		for range renderTools / renderSteps {
			o.useTool()
		}
		if err := retry.Sleep(ctx, time.Second/renderSteps-time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}
