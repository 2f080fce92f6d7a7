package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/secret"
	"company/internal/lib/secretscan"
)

// A line has its time, level, message and module, and the ids that are known; what is
// below the level is not there (LOG-1).
func TestLogLines(t *testing.T) {
	var out bytes.Buffer
	traced := slog.New(newLogLines(&out, agent.LevelTrace, nil))
	traced.Log(t.Context(), agent.LevelTrace, "message", "text", "hello")
	log := slog.New(newLogLines(&out, slog.LevelInfo, nil))
	log.Debug("not written")
	log.Info("event", "seq", 7, "kind", "task.submitted", "task_id", company.TaskID("t1"), "phase", "plan", "run_id",
		company.RunID(""))
	log.Info("event", "seq", 8, "kind", "office.started", "task_id", company.TaskID(""), "phase", "", "run_id",
		company.RunID(""))
	log.With("part", "x").Warn("run", "run_id", company.RunID("t1-02.1"), "took", time.Second)
	log.Info("merged", "run_id", company.RunID("t1-02-review.1"), "role", company.Merger)
	log.Error("broken", "err", errors.New("no\nroom"))
	var lines []map[string]any
	for line := range bytes.Lines(out.Bytes()) {
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if at, err := time.Parse(time.RFC3339Nano, v["time"].(string)); err != nil || time.Since(at) > time.Hour {
			t.Errorf("%s: %v", line, err)
		}
		delete(v, "time")
		lines = append(lines, v)
	}
	want := []map[string]any{
		{"level": "trace", "msg": "message", "module": "app", "text": "hello"},
		{"level": "info", "msg": "event", "module": "app", "seq": 7.0, "kind": "task.submitted", "task_id": "t1",
			"phase": "plan"},
		{"level": "info", "msg": "event", "module": "app", "seq": 8.0, "kind": "office.started"},
		{"level": "warn", "msg": "run", "module": "app", "part": "x", "run_id": "t1-02.1", "task_id": "t1", "role": "worker",
			"took": 1e9},
		{"level": "info", "msg": "merged", "module": "app", "run_id": "t1-02-review.1", "task_id": "t1", "role": "merger"},
		{"level": "error", "msg": "broken", "module": "app", "err": "no\nroom"},
	}
	if !slices.EqualFunc(lines, want, func(a, b map[string]any) bool {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return bytes.Equal(x, y)
	}) {
		t.Errorf("%v\nwant\n%v", lines, want)
	}
}

// No secret of the office reaches the log, wherever in a record it stands.
func TestLogHidesSecrets(t *testing.T) {
	const key, token = "sk-0123456789-very-secret", "ghp_0123456789abcdefABCDEF"
	var out bytes.Buffer
	log := slog.New(
		newLogLines(&out, slog.LevelDebug,
			secretscan.New([]secretscan.Own{{Name: "OPENAI_API_KEY", Value: key + "\n"}, {Name: "SHORT", Value: "x"}}, "")))
	log.Info("said "+key, "text", "a "+key+" b", "err", errors.New("Authorization: Bearer "+key), "list",
		[]string{"x", key},
		"url", "https://me:pw-"+key+"@host/x", "token", token, "value", secret.New(key), slog.Group("of", "inner", key),
		"fields", map[string]string{"k": key})
	log.With("with", key).Error("other", "wrapped",
		company.E(company.EGit, "push failed").Wrap(errors.New("https://u:"+key+"@h")))
	for _, hidden := range []string{key, token, "pw-"} {
		if strings.Contains(out.String(), hidden) {
			t.Errorf("%q is in\n%s", hidden, out.String())
		}
	}
	if !strings.Contains(out.String(), "said [MASKED:GENERIC_SECRET]") ||
		!strings.Contains(out.String(), `"list":"[x [MASKED:GENERIC_SECRET]]"`) {
		t.Errorf("%s", out.String())
	}
}
