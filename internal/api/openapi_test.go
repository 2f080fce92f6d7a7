package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/lib/hosttest"
)

// contract is the description of the API, held against real answers.
type contract struct {
	doc    *openapi3.T
	router routers.Router
}

// readContract reads the description. It is made strict: an answer with a field that
// the description does not name breaks it, where a client has to let it pass.
func readContract(t *testing.T) contract {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(description, &tree); err != nil {
		t.Fatal(err)
	}
	closeObjects(tree)
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatalf("it is not an OpenAPI document: %v", err)
	}
	doc.Servers = nil
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return contract{doc, router}
}

// closeObjects refuses fields that a schema with properties does not name.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, part := range v {
			closeObjects(part)
		}
	case []any:
		for _, part := range v {
			closeObjects(part)
		}
	}
}

var contractOptions = &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
	MultiError: true}

// reply is the head of an answer.
type reply struct {
	StatusCode int
	Header     http.Header
}

// check sends a request, and holds it and its answer to the description. A request that
// is wrong on purpose is not held.
func (c contract) check(t *testing.T, client *http.Client, r *http.Request, wrong bool) (reply, []byte) {
	t.Helper()
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Fatal(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	seen := r.Clone(context.WithoutCancel(r.Context()))
	seen.Body = io.NopCloser(bytes.NewReader(body))
	seen.URL.Path = strings.TrimPrefix(seen.URL.Path, "/api/v1")
	seen.URL.Host, seen.URL.Scheme, seen.Host = "", "", ""
	route, params, err := c.router.FindRoute(seen)
	if err != nil {
		t.Fatalf("%s %s is not described: %v", r.Method, r.URL, err)
	}
	in := &openapi3filter.RequestValidationInput{Request: seen, PathParams: params, Route: route, Options: contractOptions}
	if err := openapi3filter.ValidateRequest(r.Context(), in); !wrong && err != nil {
		t.Errorf("%s %s: the request %.300s: %v", r.Method, r.URL, body, err)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	stream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: resp.StatusCode,
		Header: resp.Header, Options: contractOptions}
	if file := strings.HasPrefix(resp.Header.Get("Content-Type"), "image/"); file || stream ||
		resp.StatusCode == http.StatusNotModified {
		out.Options = &openapi3filter.Options{ExcludeResponseBody: true}
	}
	out.SetBodyBytes(text)
	if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
		t.Errorf("%s %s: the answer %d %.2000s\n%v", r.Method, r.URL, resp.StatusCode, text, err)
	}
	if stream {
		c.checkStream(t, r, text)
	}
	return reply{resp.StatusCode, resp.Header}, text
}

// checkStream holds each event of a stream to the schema that the description names.
func (c contract) checkStream(t *testing.T, r *http.Request, text []byte) {
	t.Helper()
	name := "feed.Item"
	switch path.Base(r.URL.Path) {
	case "transcript":
		name = "agent.TranscriptEntry"
	case "record":
		name = "replay.Entry"
	}
	schema, n := c.doc.Components.Schemas[name], 0
	err := readStream(bytes.NewReader(text), func(data []byte) error {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return err
		}
		n++
		return schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020())
	})
	if !errors.Is(err, errStreamEnd) || n == 0 {
		t.Errorf("%s: %d events, then %v", r.URL, n, err)
	}
}

// serveBusyOffice serves an office whose tasks are in many states: one pending, one with
// a question, one at work, one at its pull request, one that is cancelled.
func serveBusyOffice(t *testing.T) (*fakeOffice, *Client) {
	t.Helper()
	o := newFakeOffice(t)
	d := decidertest.Over(t, o)
	oid := func(digit string) company.OID { return company.OID(strings.Repeat(digit, 40)) }
	plan := company.Plan{Why: "they share no file", Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{
		Title: "write a", Description: "Write a with its test, so that it works for everybody who needs it.",
		AcceptanceCriteria: []string{"a is there"}, WriteSet: []string{"a/**"}, Effort: company.EffortMedium,
	}}}}}
	executing := func(text string) company.TaskID {
		id := d.Submit(text, "/p")
		d.Prepare(id, oid("1"), company.GateCommand{Name: "test", Command: "true"})
		d.Plan(id, plan)
		return id
	}
	delivered := executing("deliver a")
	sub := company.NewSubtaskID(delivered, 1)
	d.Work(sub, oid("2"), company.Change{Path: "a/a.go", Action: "created"})
	d.Gate(sub, oid("3"))
	d.Approve(sub)
	d.Must(company.RecordMergeGate{Task: delivered, Subtask: sub, Head: oid("2"), Onto: oid("1"), Tree: oid("3"),
		Result: d.Green(delivered, oid("3")), Message: "merge"})
	d.Must(company.RecordMerge{Task: delivered, Commit: oid("2")})
	d.Must(company.RecordGateResult{Task: delivered,
		GateFinished: company.GateFinished{Head: oid("2"), Onto: oid("2"), Result: d.Green(delivered, oid("3"))}})
	run := company.NewRunID(delivered, "", company.Reviewer, 1)
	d.Must(company.EndRun{Run: run, Fence: d.Claim(run, oid("2")), Outcome: company.RunEnded{Status: company.RunSuccess},
		Review: &company.ReviewRecorded{
			Head: oid("2"), Onto: oid("2"), PatchID: "p", Verdict: company.Approve,
		}})
	d.Must(company.IntendDelivery{Task: delivered})
	d.Must(company.RecordDelivery{Task: delivered, Head: oid("2"), Number: d.Task(delivered).Delivery.Number,
		URL: "file:///page", Evidence: &company.Evidence{Head: oid("2"), Tree: oid("3"),
			Files: []company.VerifiedFile{{Path: "a", Action: "created", Exists: true}}}})

	executing("work on a")
	working := company.NewRunID("t2", company.NewSubtaskID("t2", 1), company.Worker, 1)
	d.Must(company.Offer{Run: working})
	d.Claim(working, "")
	d.Must(company.Submit{Instruction: "wait", Project: company.Project{ID: "project", Path: "/p"},
		Attachments: []company.AttachedFile{attachText("shot.png", "image/png", fakePNG)}})
	ask := d.Submit("ask", "/p")
	d.Prepare(ask, oid("1"), company.GateCommand{Name: "test", Command: "true"})
	planning := company.NewRunID(ask, "", company.Manager, 1)
	d.Must(company.EndRun{Run: planning, Fence: d.Claim(planning, ""), Question: "Which door?",
		Outcome: company.RunEnded{Status: company.RunSuccess}})
	d.Must(company.Cancel{Task: d.Submit("never mind", "/p"), Why: "no"})
	return o, dialOffice(t, o, fakeDesk{})
}

// dialOffice serves an office with a desk, or without one, on a socket of the test's own,
// and dials it.
func dialOffice(t *testing.T, o Office, d Desk) *Client {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := New(o, ServerInfo{Version: "test", Office: "abcd", PID: 1, Serving: true}, slog.New(slog.DiscardHandler), nil)
	srv.SetDesk(d)
	srv.Start(l)
	c := Dial(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	})
	t.Cleanup(func() {
		c.Close()
		srv.Stop()
	})
	return c
}

// TestRoutesAreDescribed: each route of the mux is in the OpenAPI document, and each one
// in the document is answered (UI-4).
func TestRoutesAreDescribed(t *testing.T) {
	c := readContract(t)
	routed := map[string]bool{}
	for _, r := range Routes() {
		routed[r.Method+" /"+r.Path] = true
		item := c.doc.Paths.Value("/" + r.Path)
		if item == nil || item.GetOperation(r.Method) == nil {
			t.Errorf("%s %s is not described: make docs", r.Method, r.Path)
			continue
		}
		op := item.GetOperation(r.Method)
		for _, p := range r.Query {
			if op.Parameters.GetByInAndName("query", p.Name) == nil {
				t.Errorf("%s %s: ?%s= is not described: make docs", r.Method, r.Path, p.Name)
			}
		}
	}
	for path, item := range c.doc.Paths.Map() {
		for method := range item.Operations() {
			if !routed[method+" "+path] {
				t.Errorf("%s %s is described, and no route", method, path)
			}
		}
	}
	kinds := map[string]bool{}
	for _, one := range c.doc.Components.Schemas["api.CommandEnvelope"].Value.OneOf {
		kinds[one.Value.Properties["kind"].Value.Const.(string)] = true
	}
	for _, k := range CommandKinds() {
		if !kinds[k.Name] {
			t.Errorf("the command %s is not described: make docs", k.Name)
		}
		delete(kinds, k.Name)
	}
	for name := range kinds {
		t.Errorf("the command %s is described, and none", name)
	}
	codes := c.doc.Components.Schemas["problem"].Value.Properties["code"].Value.Enum
	if len(codes) != len(company.ErrorGuides()) {
		t.Errorf("%d codes are described, there are %d", len(codes), len(company.ErrorGuides()))
	}
}

// TestAnswersAreAsDescribed: every resource and stream of an office with tasks in many
// states answers what the OpenAPI document says, and nothing more (UI-4).
func TestAnswersAreAsDescribed(t *testing.T) {
	hosttest.NotRaced(t, "schemas are checked; other tests make the same requests")
	o, client := serveBusyOffice(t)
	c := readContract(t)
	seq, asked := o.View().Seq, string(o.View().OpenApprovals("")[0].ID)
	ids := map[string][]string{
		"tasks/{id}": {"t1", "t2", "t3", "t4", "t5"}, "subtasks/{id}": {"t1-01", "t2-01"},
		"runs/{id}":  {"t1-01.1", "t2-01.1"},
		"shown/{id}": {"t1", "t1-01", "t1-01.1", asked}, "approvals/{id}": {asked}, "summaries/{id}": {"t1", "t2", "t4"},
		"ranges/{id}": {"t1", "t1-01"},
		"costs/{id}":  {"t1", "t2"}, "spending/{id}": {"t1", "t1-01", "t1-01.1"}, "prs/{id}": {"t1"},
		"prompts/{id}":         {"t2-01"},
		"runs/{id}/transcript": {string(fakeActivity.Run)}, "tasks/{id}/record": {"t1"}, "evidence/{id}": {"t1", "t2"},
		"tasks/{id}/attachment": {"t3"},
		"diffs/{id}":            {"t1", "t1-01"}, "prs/{id}/page": {"t1"},
	}
	queries := map[string]string{
		"overview": "?all=true", "work": "?task=t1&task=t2", "tasks": "?limit=2&cursor=t4&state=open&priority=medium",
		"spending": "?since=2026-03-01T00:00:00Z", "spending/{id}": "?requests=true&dearest=true",
		"events": "?from=1&until=" + strconv.FormatUint(seq-1, 10), "runs/{id}/transcript": "?follow=false",
		"doctor": "?online=true", "prompts/{id}": "?role=worker", "config": "?project=app", "tasks/{id}/attachment": "?name=shot.png",
	}
	for _, r := range Routes() {
		if r.Method != http.MethodGet {
			continue
		}
		paths := []string{r.Path}
		if strings.Contains(r.Path, "{id}") {
			paths = nil
			for _, id := range ids[r.Path] {
				paths = append(paths, strings.ReplaceAll(r.Path, "{id}", id))
			}
			if paths == nil {
				t.Errorf("%s is not tried", r.Path)
			}
		}
		for _, at := range paths {
			for _, query := range []string{"", queries[r.Path]} {
				if query == "" && (r.Path == "events" || r.Path == "prompts/{id}" || r.Media != nil) {
					continue // it does not end, or a role or a name is needed
				}
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://office/api/v1/"+at+query, nil)
				if err != nil {
					t.Fatal(err)
				}
				if resp, text := c.check(t, client.way.http, req, false); resp.StatusCode != http.StatusOK {
					t.Errorf("%s: %d %s", at, resp.StatusCode, text)
				}
			}
		}
	}
}

// TestCommandsAreAsDescribed: what a client sends is what the OpenAPI document says, and
// so are answers and refusals. A field that is needed is needed by the office, too.
func TestCommandsAreAsDescribed(t *testing.T) {
	hosttest.NotRaced(t, "schemas are checked; other tests make the same requests")
	o, client := serveBusyOffice(t)
	c := readContract(t)
	send := func(path string, body any, wrong bool) (int, string) {
		t.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(
			t.Context(), http.MethodPost, "http://office/api/v1/"+path, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, answer := c.check(t, client.way.http, req, wrong)
		return resp.StatusCode, string(answer)
	}
	before := o.View().Seq
	for _, k := range CommandKinds() {
		// As a client in Go sends it, with nothing set: well formed, and refused or done.
		send("trials", map[string]any{"kind": k.Name, "command": k.Example}, false)
		status, text := send("trials", map[string]any{"kind": k.Name, "command": map[string]any{}}, len(k.Required) > 0)
		if len(k.Required) > 0 && (status == http.StatusOK || !strings.Contains(text, `"code":"E_`)) {
			t.Errorf("%s without its fields: %d %s", k.Name, status, text)
		}
		if status, text := send("commands", map[string]any{"kind": k.Name, "command": map[string]any{"Colour": "red"}},
			true); status != http.StatusBadRequest || !strings.Contains(text, `unknown field`) {
			t.Errorf("%s with a field that is none: %d %s", k.Name, status, text)
		}
	}
	if o.View().Seq != before {
		t.Error("something was decided")
	}
	submit := company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}, Tags: []string{"a"},
		Issue: nil}
	if status, text := send("commands", CommandEnvelope{ID: "c-1", Kind: "submit", Command: must(json.Marshal(submit))},
		false); status != http.StatusOK || !strings.Contains(text, `"task":"t6"`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := send("commands",
		CommandEnvelope{ID: "c-2", Kind: "cancel", Command: must(json.Marshal(company.Cancel{Task: "t9"}))},
		false); status != http.StatusNotFound {
		t.Errorf("%d %s", status, text)
	}
}

func must[T any](b T, err error) T {
	if err != nil {
		panic(err)
	}
	return b
}

// TestBadQueries: an unknown id, a bad cursor and a bad number are problem documents
// with a code, as described.
func TestBadQueries(t *testing.T) {
	_, client := serveBusyOffice(t)
	c := readContract(t)
	for path, want := range map[string]struct {
		status int
		code   company.Code
	}{
		"tasks/t99": {404, company.ENotFound}, "tasks/t1-01": {404, company.ENotFound}, "runs/nothing": {400, company.EUsage},
		"approvals/a99": {404, company.ENotFound},
		"prs/99":        {404, company.ENotFound}, "tasks?cursor=t99": {400, company.EInvalid},
		"tasks?cursor=": {400, company.EInvalid}, "tasks?cursor=x": {400, company.EInvalid},
		"tasks?limit=-1": {400, company.EInvalid}, "tasks?state=blue": {400, company.EUsage},
		"spending?since=today": {400, company.EInvalid},
		"events?from=x":        {400, company.EInvalid}, "runs/t9-01.1/transcript": {404, company.ENotFound},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://office/api/v1/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, text := c.check(t, client.way.http, req, true)
		var p Problem
		if err := json.Unmarshal(text, &p); err != nil || resp.StatusCode != want.status || p.Code != want.code ||
			p.Status != want.status {
			t.Errorf("%s: %d %s", path, resp.StatusCode, text)
		}
	}
}

// TestTaskPages: next of each list leads to the tasks behind it, until all were there once.
func TestTaskPages(t *testing.T) {
	_, client := serveBusyOffice(t)
	type list struct {
		Tasks []struct{ ID string }
		More  int
		Next  string
	}
	var seen []string
	for path := "tasks?limit=2"; ; {
		page, err := Get[list](t.Context(), client, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range page.Tasks {
			seen = append(seen, task.ID)
		}
		if page.Next == "" {
			if page.More != 0 {
				t.Errorf("%d more without a cursor", page.More)
			}
			break
		}
		path = "tasks?limit=2&cursor=" + page.Next
	}
	if got := strings.Join(seen, " "); got != "t5 t4 t3 t2 t1" {
		t.Errorf("the pages have %s", got)
	}
}

// TestETag: an answer that has not changed is not sent again, and one that has is.
func TestETag(t *testing.T) {
	o, client := serveBusyOffice(t)
	c := readContract(t)
	get := func(tag string) (int, string, []byte) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://office/api/v1/tasks/t3", nil)
		if err != nil {
			t.Fatal(err)
		}
		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}
		resp, text := c.check(t, client.way.http, req, false)
		return resp.StatusCode, resp.Header.Get("ETag"), text
	}
	status, tag, _ := get("")
	if status != http.StatusOK || !strings.HasPrefix(tag, `W/"`) {
		t.Fatalf("%d %s", status, tag)
	}
	for _, known := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag, "*"} {
		if status, again, text := get(known); status != http.StatusNotModified || again != tag || len(text) > 0 {
			t.Errorf("%s: %d %s %q", known, status, again, text)
		}
	}
	decidertest.Over(t, o).Must(company.Pause{Task: "t3"})
	if status, again, _ := get(tag); status != http.StatusOK || again == tag {
		t.Errorf("after a change: %d %s", status, again)
	}
}

// TestETagWithoutAges: while nothing happens, the clock alone makes no other tag, though the
// ages in an answer grow; an event does (UI-4).
func TestETagWithoutAges(t *testing.T) {
	o, client := serveBusyOffice(t)
	get := func(path, tag string) (int, string, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://office/api/v1/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}
		resp, err := client.way.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header.Get("ETag"), string(text)
	}
	tags := map[string]string{}
	for _, path := range []string{"overview?all=true", "work", "tasks", "tasks/t2", "runs/t2-01.1", "agents"} {
		_, tag, before := get(path, "")
		o.advance(time.Minute)
		if status, again, text := get(path, tag); status != http.StatusNotModified || again != tag || text != "" {
			t.Errorf("%s a minute later: %d %s, want 304 %s", path, status, again, tag)
		}
		if _, again, after := get(path, ""); after == before || again != tag {
			t.Errorf("%s has no age that grows: %s", path, after)
		}
		tags[path] = tag
	}
	decidertest.Over(t, o).Must(company.Cancel{Task: "t2"})
	for path, tag := range tags {
		// The run is held until its holder settles it.
		if status, again, _ := get(path, tag); path != "runs/t2-01.1" && (status != http.StatusOK || again == tag) {
			t.Errorf("%s after an event: %d %s", path, status, again)
		}
	}
}

// TestIdempotencyKey: the key is the command's id. It stands for one id, and not for two.
func TestIdempotencyKey(t *testing.T) {
	o, client := serveBusyOffice(t)
	post := func(body string, keys ...string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(
			t.Context(), http.MethodPost, "http://office/api/v1/commands", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header["Idempotency-Key"] = keys
		resp, err := client.way.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	const submit = `{"kind":"submit","command":{"Instruction":"do it","Project":{"ID":"p","Path":"/p"}}}`
	for range 2 {
		if status, text := post(submit, "k-1"); status != http.StatusOK || !strings.Contains(text, `"task":"t6"`) {
			t.Errorf("%d %s", status, text)
		}
	}
	before := o.View().Seq
	for name, keys := range map[string][]string{"two": {"k-1", "k-2"}, "none": {""}} {
		if status, text := post(submit, keys...); status != http.StatusBadRequest || !strings.Contains(text, "E_INVALID") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if status, text := post(`{"id":"other","kind":"stop","command":{}}`, "k-3"); status != http.StatusBadRequest {
		t.Errorf("another id in the body: %d %s", status, text)
	}
	if o.View().Seq != before {
		t.Error("something was decided")
	}
}
