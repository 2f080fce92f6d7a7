package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/ledger/marks"
	"company/internal/ledger/marks/away"
	"company/internal/lib/safedir/foldertest"
)

// What the company is busy with is marked: a call while it is carried out, but for its waits. While the model is asked
// nothing is, and nothing is left at the end.
func TestCallsAreMarked(t *testing.T) {
	dir := t.TempDir()
	standing := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "marks"))
		if err != nil {
			t.Error(err)
		}
		return string(bytes.ReplaceAll(text, []byte{0}, nil))
	}
	b := newBench(t, replies(calls(`read {"path":"a"}`, `write {"path":"b"}`), calls(`write {"path":"c"}`), finish))
	b.cfg.Marks = marks.Open(foldertest.Open(t, dir), slog.New(slog.DiscardHandler))
	defer func() {
		if err := b.cfg.Marks.Close(); err != nil {
			t.Error(err)
		}
	}()
	model := b.model.reply
	b.model.reply = func(n int, req adapters.Request) (adapters.Response, error) {
		if at := standing(); at != "" {
			t.Errorf("while the model is asked: %s", at)
		}
		return model(n, req)
	}
	var seen []string
	for i, tool := range b.cfg.Tools {
		run := tool.Run
		b.cfg.Tools[i].Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
			seen = append(seen, standing())
			back := away.Begin(ctx)
			if at := standing(); at != "" {
				t.Errorf("while %s waits: %s", tool.Spec.Name, at)
			}
			back()
			return run(ctx, args)
		}
	}
	b.mustRun(t)
	const want = `{"owner":"t1-01.1","doing":"making call","n":1,"part":1}
{"owner":"t1-01.1","doing":"making call","n":1,"part":2}
{"owner":"t1-01.1","doing":"making call","n":2,"part":1}
{"owner":"t1-01.1","doing":"making call","n":3,"part":1}`
	if got := strings.Join(seen, "\n"); got != want {
		t.Errorf("marked:\n%s\nwant:\n%s", got, want)
	}
	if at := standing(); at != "" {
		t.Errorf("left at the end: %s", at)
	}
}
