package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/lib/secretscan"
)

// TestRecordHasNoSecret: an entry with a secret of the office's, or of a known kind, is
// refused wherever it stands, and the refusal does not show it.
func TestRecordHasNoSecret(t *testing.T) {
	const own, token = "sw0rdf1sh-of-the-office", "ghp_0123456789abcdefABCDEF0123456789abcd"
	s := secretscan.New([]secretscan.Own{{Name: "OPENAI_API_KEY", Value: own}}, "x")
	inside, _ := json.Marshal(map[string]string{"command": "export A=" + own})
	arguments, _ := json.Marshal(map[string]any{"calls": []any{map[string]string{"arguments": string(inside)}}})
	for name, e := range map[string]replay.Entry{
		"an event":  {Event: &company.Event{Kind: "task.submitted", Data: json.RawMessage(`{"text":"use ` + own + `"}`)}},
		"a text":    {Run: "t1-01.1", Blob: "abc", Text: []byte("seen: " + own)},
		"a call":    {Run: "t1-01.1", Kind: "call", Data: arguments},
		"a token":   {Run: "t1-01.1", Kind: "result", Data: json.RawMessage(`{"text":"line\n` + token + `\n"}`)},
		"a setting": {Kind: "settings", Data: json.RawMessage(`{"agents.worker.persona":"` + own + `"}`)},
	} {
		err := refuseSecrets(t.Context(), s, e)
		if company.CodeOf(err) != company.EInvalid || strings.Contains(err.Error(), own) ||
			strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := refuseSecrets(t.Context(), s,
		replay.Entry{Run: "t1-01.1", Kind: "call", Data: json.RawMessage(`{"text":"password = hunter2"}`)}); err != nil {
		t.Error(err)
	}
}

type brokenStream struct{ err error }

func (b brokenStream) StreamRecord(context.Context, company.TaskID, func(replay.Entry) error) error {
	return b.err
}

// TestUnsavedRecordLeavesNothing: a record that cannot be had, or whose file is there
// already, leaves the folder as it was. A file that is no record is refused.
func TestUnsavedRecordLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("the stream broke")
	o := SaveOptions{
		Task: "t1", Env: func(string) (string, bool) { return "", false },
		Records: brokenStream{broken},
	}
	path := filepath.Join(dir, "t1.record")
	if _, err := SaveRecord(t.Context(), o, path); !errors.Is(err, broken) {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
	if err := os.WriteFile(path, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := SaveRecord(t.Context(), o, path); company.CodeOf(err) != company.EConflict {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine\n" {
		t.Errorf("%q %v", text, err)
	}
	if _, _, err := OpenRecord(t.Context(), path); company.CodeOf(err) != company.EInvalid {
		t.Error(err)
	}
	for _, none := range []string{dir, filepath.Join(dir, "none")} {
		if _, _, err := OpenRecord(t.Context(), none); company.CodeOf(err) != company.EUsage {
			t.Error(err)
		}
	}
	if _, err := SaveRecord(t.Context(), o, filepath.Join(dir, "none", "x")); company.CodeOf(err) != company.EOutput {
		t.Error(err)
	}
}
