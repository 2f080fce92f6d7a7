package toml

import (
	"strings"
	"testing"

	"company/internal/lib/boundedparse/parsetest"
)

func TestDecodeBoundsTheStack(t *testing.T) {
	for name, text := range map[string]string{
		"lists":                  "a = " + strings.Repeat("[", 1<<20),
		"tables":                 "a = " + strings.Repeat("{a = ", 1<<17),
		"signs in quotes":        "a = " + strings.Repeat("[']',", 1<<17),
		"signs in long quotes":   "a = " + strings.Repeat("['''']''',", 1<<17),
		"signs in comments":      "a = " + strings.Repeat("[ # ]\n", 1<<17),
		"signs in escaped texts": "a = " + strings.Repeat(`["\"]",`, 1<<17),
		"dotted keys":            strings.Repeat("a.", 1<<18) + "a = 1",
		"dotted tables":          "[" + strings.Repeat("a.", 1<<18) + "a]",
	} {
		var into map[string]any
		var err error
		stack, _ := parsetest.Measure(func() { err = Decode([]byte(text), &into) })
		if err == nil || stack > 8*parsetest.MiB {
			t.Errorf("%s: %d MiB of stack, %v", name, stack>>20, err)
		}
	}
	var into struct{ A []string }
	if err := Decode([]byte("a = [']', \"[[[\"] # [[[\n"), &into); err != nil || len(into.A) != 2 {
		t.Error(into, err)
	}
}

// FuzzDecode looks for a text that hides its depth.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{"a=[", "[']',", "[\"\\\"]\",", "[#]\n", "'''']", "a.b=", "{a=", "\"\"\"]\"\"\"\"["} {
		f.Add("a = ", text, uint16(60_000))
	}
	f.Fuzz(func(t *testing.T, before, text string, times uint16) {
		var into map[string]any
		text = before + strings.Repeat(text, min(int(times), 1<<20/max(1, len(text))))
		if stack, _ := parsetest.Measure(func() { _ = Decode([]byte(text), &into) }); stack > 8*parsetest.MiB {
			t.Errorf("%d bytes: %d MiB of stack", len(text), stack>>20)
		}
	})
}
