package api

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/feed"
)

// UI-5: the streams of the whole office and of one task, or of one run of an agent, with the headers of such a stream.
func TestStreamsByShortAddress(t *testing.T) {
	d, c, _ := serveFakeOffice(t)
	for _, id := range []string{"a", "b"} {
		cmd := company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}
		if _, err := d.DoID(t.Context(), id, company.President, cmd); err != nil {
			t.Fatal(err)
		}
	}
	d.mu.Lock()
	task := *d.state.Tasks["t2"]
	task.Runs = map[company.RunID]*company.Run{"t2-plan.1": {ID: "t2-plan.1"}}
	d.state.Tasks["t2"] = &task
	d.feed = append(d.feed, feed.Item{Seq: 100, Task: "t2", Run: "t2-plan.1", Kind: "run.claimed", Text: "plans"},
		feed.Item{Seq: 101, Task: "t2", Kind: "end"}) // behind what is asked for, so that the streams end
	d.mu.Unlock()
	ask := func(address string) (status int, header http.Header, text string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://office"+address, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.way.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		whole, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header, string(whole)
	}
	for address, want := range map[string][]string{
		"/sse/global?until=100":         {"t1", "t2", "t2-plan.1"},
		"/sse/runs/t1?until=100":        {"t1"},
		"/sse/runs/t2?until=100":        {"t2", "t2-plan.1"},
		"/sse/runs/t2-plan.1?until=100": {"t2-plan.1"},

		"/api/v1/events?until=100&run=t2-plan.1":                        {"t2-plan.1"},
		"/api/v1/events?until=100&task=t2&kind=task.submitted":          {"t2"},
		"/api/v1/events?until=100&kind=task.submitted&kind=run.claimed": {"t1", "t2", "t2-plan.1"},
		"/api/v1/events?until=100&run=t2-plan.1&kind=run.ended":         nil,
		"/sse/runs/t2?until=100&kind=run.claimed":                       {"t2-plan.1"},
	} {
		_, header, text := ask(address)
		var got []string
		for line := range strings.Lines(text) {
			for _, id := range []string{"t2-plan.1", "t1", "t2"} {
				if strings.Contains(line, `"`+id+`"`) && !slices.Contains(got, id) {
					got = append(got, id)
					break
				}
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s has items of %v, want %v\n%s", address, got, want, text)
		}
		if header.Get("Content-Type") != "text/event-stream" || header.Get("Connection") != "keep-alive" ||
			!strings.Contains(header.Get("Cache-Control"), "no-cache") {
			t.Errorf("%s: %v", address, header)
		}
	}
	for address, status := range map[string]int{"/sse/runs/t9": 404, "/sse/runs/t2-plan.9": 404, "/sse/runs/x": 400, "/sse/global?from=x": 400,
		"/sse/other": 404, "/api/v1/events?run=x": 400, "/api/v1/events?run=t2-plan.9": 404,
		"/api/v1/events?task=t1&run=t2-plan.1": 400, "/api/v1/events?kind=run.endet": 400} {
		if got, _, text := ask(address); got != status || !strings.Contains(text, `"code":"E_`) {
			t.Errorf("%s: %d %s", address, got, text)
		}
	}
}
