package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"company/internal/company"
)

// postOver posts a body under a key, holds request and answer to the description, and reads
// the answer into out.
func postOver(t *testing.T, c contract, client *Client, path, key string, body, out any, wrong bool) (int, Problem) {
	t.Helper()
	r, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, "http://office/api/v1/"+path, bytes.NewReader(must(json.Marshal(body))))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	resp, text := c.check(t, client.way.http, r, wrong)
	var p Problem
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, out); err != nil {
			t.Fatal(err)
		}
	}
	return resp.StatusCode, p
}

// TestPullsOverTheAPI: a pull request is closed and asked about over the API as by the
// commands of the same names, once under a key; a refusal of its forge, an unknown one and
// a body that is none change nothing (UI-4).
func TestPullsOverTheAPI(t *testing.T) {
	c := readContract(t)
	o, client := serveBusyOffice(t)
	var synced PullsSynced
	seq := o.View().Seq
	for _, bad := range []struct {
		path  string
		body  any
		code  company.Code
		wrong bool
	}{
		{"prs/sync", PullSyncing{PullRequests: []string{"t1", "77"}}, company.ENotFound, false},
		{"prs/sync", map[string]any{"pulls": 1}, company.EInvalid, true},
		{"prs/77/close", PullClosing{}, company.ENotFound, false},
		{"prs/1/close", PullClosing{Why: "refuse"}, company.EForge, false},
		{"prs/1/close", map[string]any{"merge": true}, company.EInvalid, true},
	} {
		if status, p := postOver(t, c, client, bad.path, "", bad.body, &synced, bad.wrong); status == http.StatusOK ||
			p.Code != bad.code || p.Hint == "" {
			t.Errorf("%s %v: %d %+v", bad.path, bad.body, status, p)
		}
	}
	if o.View().Seq != seq {
		t.Error("something was decided")
	}

	var done, again CommandResult
	for _, answer := range []*CommandResult{&done, &again} { // under one key it is done once
		if status, p := postOver(t, c, client, "prs/1/close", "k-1", PullClosing{Why: "squashed"}, answer,
			false); status != http.StatusOK {
			t.Fatalf("%d %+v", status, p)
		}
	}
	pull := o.View().Tasks["t1"].PR
	if pull.State != company.PRClosed || o.View().Seq != seq+1 || len(done.Events) != 1 ||
		!strings.Contains(string(must(json.Marshal(done.Events))), "squashed") {
		t.Errorf("%+v, %d events: %+v", pull.State, o.View().Seq-seq, done.Events)
	}
	if status, _ := postOver(t, c, client, "prs/sync", "", PullSyncing{}, &synced, false); status != http.StatusOK ||
		synced.PullRequests == nil || len(synced.PullRequests) != 0 {
		t.Errorf("none is open: %d %+v", status, synced)
	}

	o, client = serveBusyOffice(t)
	if status, p := postOver(t, c, client, "prs/sync", "", PullSyncing{PullRequests: []string{"1", "t1"}}, &synced,
		false); status != http.StatusOK || len(synced.PullRequests) != 1 {
		t.Fatalf("%d %+v %+v", status, p, synced)
	}
	if got := synced.PullRequests[0]; got.Number != 1 || got.Error != "" || got.State != company.PRMerged ||
		o.View().Tasks["t1"].PR.State != company.PRMerged {
		t.Errorf("%+v, %+v", got, o.View().Tasks["t1"].PR)
	}
}
