package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"runtime"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/secretscan"
)

// logLines writes the records of company.log as lines of JSON. Each has the time, the level, the
// message and the package that wrote it. Records about a task also have the task, its phase, the
// run and the role. Secrets are masked, because an error may repeat a server's answer, and the answer may repeat its
// request.
type logLines struct{ json slog.Handler }

func newLogLines(w io.Writer, level slog.Level, secrets *secretscan.Scanner) slog.Handler {
	return logLines{slog.NewJSONHandler(
		w, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.LevelKey {
				if level, _ := a.Value.Any().(slog.Level); level <= agent.LevelTrace {
					return slog.String(a.Key, "trace")
				}
				return slog.String(a.Key, strings.ToLower(a.Value.String()))
			}
			return maskAttr(secrets, a)
		}})}
}

func (l logLines) Enabled(ctx context.Context, level slog.Level) bool {
	return l.json.Enabled(ctx, level)
}

func (l logLines) WithAttrs(attrs []slog.Attr) slog.Handler { return logLines{l.json.WithAttrs(attrs)} }

func (l logLines) WithGroup(name string) slog.Handler { return logLines{l.json.WithGroup(name)} }

// Handle writes a record.
func (l logLines) Handle(ctx context.Context, r slog.Record) error {
	line := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	line.AddAttrs(slog.String("module", moduleOf(r.PC)))
	var task, run string
	var hasRole bool
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "task_id":
			task = a.Value.String()
		case "run_id":
			run = a.Value.String()
		case "role":
			hasRole = true
		}
		if (a.Key == "task_id" || a.Key == "run_id" || a.Key == "phase") && a.Value.String() == "" {
			return true // an event of the office has no such ids
		}
		line.AddAttrs(a)
		return true
	})
	if of, _, role, _, err := company.RunID(run).Split(); err == nil {
		if task == "" {
			line.AddAttrs(slog.String("task_id", string(of)))
		}
		if !hasRole {
			line.AddAttrs(slog.String("role", string(role)))
		}
	}
	return l.json.Handle(ctx, line)
}

// moduleOf returns the package of a record's source, relative to internal/: app, forge/github.
func moduleOf(pc uintptr) string {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	path, rest := "", frame.Function
	if index := strings.LastIndexByte(rest, '/'); index >= 0 {
		path, rest = rest[:index+1], rest[index+1:]
	}
	name, _, _ := strings.Cut(rest, ".")
	module := strings.TrimPrefix(path+name, "company/internal/")
	if module == "" {
		return "company"
	}
	return module
}

// maskAttr masks strings, errors, and other values with secrets in their text. Numbers and times
// contain no secrets.
func maskAttr(secrets *secretscan.Scanner, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(secrets.Mask(a.Value.String()))
	case slog.KindAny:
		v := a.Value.Any()
		_, isError := v.(error)
		if text := fmt.Sprint(v); isError || v != nil && reflect.TypeOf(v).Kind() == reflect.String ||
			secrets.Mask(text) != text {
			a.Value = slog.StringValue(secrets.Mask(text))
		}
	}
	return a
}
