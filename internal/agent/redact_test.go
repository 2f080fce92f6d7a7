package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// ADP-11, LOG-7: a secret in a result reaches neither the model nor the records, and a tool does not write its mask
// into a file.
func TestSecretsInResultsAreMasked(t *testing.T) {
	const key = "sk-the-secret"
	b := newBench(t, replies(calls(`write {"path":"[MASKED:OPENAI_KEY] before"}`), calls(`read {"path":"a"}`),
		calls(`write {"path":"k=[MASKED:OPENAI_KEY]"}`), calls(`write {"path":"other"}`), finish))
	b.cfg.Redact = func(text string) string { return strings.ReplaceAll(text, key, maskStart+"OPENAI_KEY]") }
	b.cfg.Tools[0].Run = func(context.Context, json.RawMessage) (Result, error) {
		return Result{Text: "k=" + key, Blob: []byte("all of it: " + key)}, nil
	}
	b.cfg.Tools[1].StoresText = true
	out := b.mustRun(t)
	got := answers(out.Messages)
	if got[1] != "k=[MASKED:OPENAI_KEY]" {
		t.Errorf("the model reads %q", got[1])
	}
	if !strings.HasPrefix(got[0], "wrote") || got[2] != writesMask || !strings.HasPrefix(got[3], "wrote") {
		t.Errorf("%q", got)
	}
	whole, err := b.blobs.GetBlob(t.Context(), out.Transcript.ToolCalls[1].Whole)
	if err != nil || string(whole) != "all of it: [MASKED:OPENAI_KEY]" {
		t.Errorf("%s, %v", whole, err)
	}
	for _, rec := range b.journal.records {
		if strings.Contains(string(rec), key) {
			t.Errorf("a record has it: %s", rec)
		}
	}
	for _, e := range b.events {
		if strings.Contains(e.Text+e.Args, key) {
			t.Errorf("an event has it: %+v", e)
		}
	}
}
