package secret_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"company/internal/lib/secret"
)

// TestValueIsHidden: ADP-8, T21: also inside of what somebody prints.
func TestValueIsHidden(t *testing.T) {
	v := secret.Trimmed(" canary\n")
	type holder struct {
		Key   secret.Value
		key   secret.Value
		Deep  map[string]secret.Value
		Point *secret.Value
	}
	h := holder{v, v, map[string]secret.Value{"k": v}, &v}
	encoded, err := json.Marshal(map[string]any{"v": v, "h": h, "p": &h})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v, "h", h, "p", &h)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v, "h", h, "p", &h)
	shown := []string{fmt.Sprint(v, h, &h), string(encoded), log.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, what := range []any{v, &v, h, &h, []secret.Value{v}} {
			shown = append(shown, fmt.Sprintf(verb, what))
		}
	}
	for _, text := range shown {
		if strings.Contains(text, "canary") || strings.Contains(text, "63616e617279") {
			t.Errorf("the secret shows: %s", text)
		}
	}
}

func TestValue(t *testing.T) {
	v := secret.New("canary")
	if !v.Set() || v.Reveal() != "canary" || v.String() != "SET" || v != secret.Trimmed(" canary\n") ||
		v == secret.New("other") {
		t.Errorf("%q, %s", v.Reveal(), v)
	}
	if got := v.Redact("x canary y"); got != "x [key] y" {
		t.Errorf("redacted %q", got)
	}
	none := secret.New("")
	if none.Set() || none.Reveal() != "" || none.String() != "NOT SET" || none != (secret.Value{}) ||
		none.Redact("x") != "x" {
		t.Errorf("%q, %s", none.Reveal(), none)
	}
}
