package jqtemplate_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/jqtemplate"
)

func queryOf(t *testing.T, text string) func(v any) (string, error) {
	t.Helper()
	query, err := jqtemplate.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return func(v any) (string, error) {
		var out bytes.Buffer
		err := query.Print(t.Context(), &out, false, v)
		return out.String(), err
	}
}

// An expression's values are lines: texts as they are, numbers as they were, and
// nothing of the environment.
func TestQuery(t *testing.T) {
	t.Setenv("A_KEY_OF_SOMEBODY", "sk-very-secret")
	v := map[string]any{
		"tasks": []any{map[string]any{"id": "t1", "title": "a\nb \x1b[31m", "cost": 0.0347,
			"micro": int64(9007199254740993)}}}
	for text, want := range map[string]string{
		".tasks[].id":              "t1\n",
		".tasks[].title":           "a\nb \x1b[31m\n", // no terminal: as it is
		".tasks[0] | .cost":        "0.0347\n",
		".tasks[0] | .micro":       "9007199254740993\n",
		".tasks[0] | {id, cost}":   "{\"cost\":0.0347,\"id\":\"t1\"}\n",
		"[.tasks[].id]":            "[\"t1\"]\n",
		".nothing":                 "null\n",
		"empty":                    "",
		"env.A_KEY_OF_SOMEBODY":    "null\n",
		"$ENV | length":            "0\n",
		".tasks | length, halt, 3": "1\n",
		"\"<&> \\u001b\" | tojson": "\"<&> \\u001b\"\n",
	} {
		if got, err := queryOf(t, text)(v); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{".tasks.id", "error(\"x\")", ".tasks[0].id | tonumber"} {
		if _, err := queryOf(t, text)(v); company.CodeOf(err) != company.EUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, place := range map[string]string{".tasks[": "column 8", "nope": "function not defined", "\n.a |": "line 2",
		"input": "input", "import \"a\" as a; .": "module"} {
		_, err := jqtemplate.ParseQuery(text)
		var e *company.Error
		if !errors.As(err, &e) || e.Code != company.EUsage || !strings.Contains(e.Why, place) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An expression without an end ends with the command.
func TestQueryEnds(t *testing.T) {
	query, err := jqtemplate.ParseQuery("last(repeat(1))")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	cancel(interrupted)
	if err := query.Print(ctx, &bytes.Buffer{}, false, 1); !errors.Is(err, interrupted) {
		t.Errorf("%v", err)
	}
}

// On a terminal no text of a result steers it, and JSON is indented.
func TestQueryOnATerminal(t *testing.T) {
	query, err := jqtemplate.ParseQuery(`.title, {a: [.title]}, "end"`)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := query.Print(t.Context(), &out, true, map[string]any{"title": "red \x1b[31m"}); err != nil {
		t.Fatal(err)
	}
	want := "red \\x1b[31m\n{\n  \"a\": [\n    \"red \\\\x1b[31m\"\n  ]\n}\nend\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
