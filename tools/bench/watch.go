package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"company/internal/company"
	"company/internal/lib/clock"
	"company/internal/lib/lazyregexp"
	"company/internal/present/view"
)

// watchListeners is how many listeners an office has at once.
const watchListeners = 50

// benchWatch measures what it costs to watch an office with 2,000 subtasks in 40 tasks.
func benchWatch(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	size := watchSize{tasks: 40, waves: 5, width: 10, workers: 64}
	if w.Quick {
		size = watchSize{tasks: 4, waves: 2, width: 3, workers: 4}
	}
	w.Progress(fmt.Sprintf("an office with %d subtasks in %d tasks is made", size.countSubtasks(), size.tasks))
	o, err := w.openWatched(ctx, "watch", size, clock.Machine())
	if err != nil {
		return nil, err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, o.close())
		}
	}()
	for _, measure := range []func(context.Context, *benchEnv) (
		[]Line, error){o.measureFeed, o.measureAnswers, o.measurePage} {
		more, err := measure(ctx, w)
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	if err := o.do(company.President, company.Stop{}); err != nil { // so that nothing begins where it is served
		return nil, err
	}
	closed = true
	if err := o.close(); err != nil {
		return nil, err
	}
	for _, measure := range []func(context.Context, *benchEnv) ([]Line, error){o.measureStatus, measureSoak} {
		more, err := measure(ctx, w)
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	return lines, nil
}

// measureFeed measures from the append of an event to those who listen, and what they cost.
// The next event comes when all have the one before, so that each of them is sent alone.
func (o *watchedOffice) measureFeed(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	events := w.sampleCount(500, 20)
	w.Progress(fmt.Sprintf("%d listeners get %d events, thrice", watchListeners, events))
	var took, spent [2][]time.Duration // alone, and with the others; for 1,000 events without listeners, and with them
	var a audience
	defer func() { a.close() }()
	for range w.sampleCount(3, 1) {
		for at, n := range []int{0, 1, watchListeners} {
			if a, err = o.gatherListeners(ctx, a, n); err != nil {
				return nil, err
			}
			began, cpu := o.state.Seq, processorTime()
			for o.state.Seq < began+uint64(events) {
				called := time.Now()
				if err := o.doOne(); err != nil {
					return nil, err
				}
				last, err := a.awaitEvent(o.state.Seq)
				if err != nil {
					return nil, err
				}
				if n > 0 {
					took[at-1] = append(took[at-1], last.Sub(called))
				}
			}
			if n != 1 {
				each := (processorTime() - cpu) / time.Duration(o.state.Seq-began)
				spent[min(at, 1)] = append(spent[min(at, 1)], 1000*each)
			}
		}
		a.close()
		a = nil
	}
	alone := Line{What: "append → a listener", Unit: "ms", Ours: medianMillis(took[0]), Samples: len(took[0]),
		Note: "from the command, with its sync"}
	all := Line{What: fmt.Sprintf("append → the last of %d listeners", watchListeners), Unit: "ms",
		Ours: medianMillis(took[1]), Samples: len(took[1])}
	both, work := medianMillis(spent[1])/1000, medianMillis(spent[0])/1000
	cost := Line{What: fmt.Sprintf("processor for 1,000 events to %d listeners", watchListeners), Unit: "s",
		Ours: max(0.001, both-work), Against: "for what happens", Bare: work, Samples: len(spent[1]),
		Note: "with that of the listeners, who are in the same process; each event is sent alone"}
	cost.Ratio = cost.Ours / cost.Bare
	return []Line{alone.withTarget("≤ 100 ms", alone.Ours <= 100), all.withTarget("≤ 100 ms", all.Ours <= 100),
		cost.withTarget("≤ 1 s", cost.Ours <= 1)}, nil
}

// measureAnswers measures what a page asks for again, and what that costs the office.
func (o *watchedOffice) measureAnswers(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	task := string(o.state.Open[len(o.state.Open)/2])
	ask := func(path string, size *int64) func() (time.Duration, error) {
		return timeFunc(func() error {
			resp, err := o.sendRequest(ctx, path)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			*size, err = io.Copy(io.Discard, resp.Body)
			return err
		})
	}
	paths := []struct{ what, path string }{{"overview", "overview"}, {"agents", "agents"}, {"a task", "tasks/" + task}}
	sizes := make([]int64, len(paths))
	var fns []func() (time.Duration, error)
	for i, p := range paths {
		fns = append(fns, ask(p.path, &sizes[i]))
	}
	got, err := takeSamples(ctx, w.sampleCount(50, 2), fns...)
	if err != nil {
		return nil, err
	}
	for i, p := range paths {
		lines = append(
			lines, Line{What: "answer to a page, " + p.what, Unit: "ms", Ours: medianMillis(got[i]), Samples: len(got[i]),
				Note: fmt.Sprintf("%.0f kB", float64(sizes[i])/1e3)})
	}
	return lines, nil
}

// measureStatus measures company status as a process, at a company serve that holds the office.
func (o *watchedOffice) measureStatus(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	w.Progress("company serve serves it, and company status is asked")
	h := newPastOffice(w, o.dir, o.size.tasks)
	serve, err := h.startServing(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, serve.end()) }()
	run := func(args ...string) func() (time.Duration, error) {
		return timeFunc(func() error {
			out, err := h.newCommand(ctx, args...).Output()
			if err != nil {
				return company.E(company.EInternal, fmt.Sprintf("company %v failed", args)).Wrap(err)
			}
			if len(args) > 1 { // -o json
				var v view.Overview
				if err := json.Unmarshal(out, &v); err != nil || !v.Open || len(v.Tasks) < o.size.tasks {
					return company.E(company.EInternal,
						fmt.Sprintf("company status shows %d tasks of %d", len(v.Tasks), o.size.tasks)).Wrap(err)
				}
			}
			return nil
		})
	}
	got, err := takeSamples(ctx, w.sampleCount(40, 1), run("version"), run("status"), run("status", "-o", "json"))
	if err != nil {
		return nil, err
	}
	text, object := compareLine("company status", "company version", got[1], got[0]),
		compareLine("company status -o json", "company version", got[2], got[0])
	return []Line{text.withTarget("≤ 50 ms", text.Ours <= 50), object.withTarget("≤ 50 ms", object.Ours <= 50)}, nil
}

// loadedAssets finds what the page's HTML loads.
var loadedAssets = lazyregexp.New(`(?:src|href)="(/assets/[^"]+\.(?:js|css))"`)

// pageBytes is how much the first paint of the page loads, compressed.
func (o *watchedOffice) pageBytes(ctx context.Context) (n int64, err error) {
	get := func(path string) (packed []byte, err error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url+path, http.NoBody)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept-Encoding", "gzip") // the transport leaves the answer as it is
		resp, err := o.client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		packed, err = io.ReadAll(resp.Body)
		n += int64(len(packed))
		return packed, err
	}
	packed, err := get("/")
	if err != nil {
		return 0, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return 0, err
	}
	for _, path := range loadedAssets.FindAllStringSubmatch(string(text), -1) {
		if _, err := get(path[1]); err != nil {
			return 0, err
		}
	}
	return n, nil
}
