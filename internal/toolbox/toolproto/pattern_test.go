package toolproto

import (
	"strings"
	"testing"
)

// T3: nothing ends a match under way, so a pattern and the line that it meets are bounded together.
func TestPatternsAreBounded(t *testing.T) {
	for _, c := range []struct{ name, pattern, fault string }{
		{"words", `\b(func|type)\s+\w+(?i:handler)\(`, ""},
		{"forty names", strings.TrimSuffix(strings.Repeat(`someLongName|`, 40), "|"), ""},
		{"an unpaired bracket", `(`, "not a regular expression"},
		{"a repetition of a repetition", `(.?){1000}`, "too large"},
		{"many stars", strings.Repeat(`[a-z]*`, 600), "too large"},
		{"a long one", strings.Repeat("a", 5000), "5000 bytes, 4096 are allowed"},
	} {
		_, err := CompilePattern(c.pattern)
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.fault)
		}
	}
	p, err := CompilePattern(`needle$`)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := p.Match(append(make([]byte, 4<<20), "needle"...)); !ok || err != nil {
		t.Errorf("a plain pattern in a line of 4 MiB: %v, %v", ok, err)
	}
	if p, err = CompilePattern(strings.Repeat(`(a|b?)`, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Match(make([]byte, 4<<20)); err == nil || !strings.Contains(err.Error(), "too long for this pattern") {
		t.Errorf("a large pattern in a line of 4 MiB: %v", err)
	}
}
