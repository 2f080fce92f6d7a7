package orchestrator

import (
	"strings"
	"testing"
)

// LOG-8: texts of events lose their secrets. What is executed or compared stays as it is: commands, names of tests.
func TestEventsAreRedacted(t *testing.T) {
	key := "sk-" + strings.Repeat("aB3x", 8)
	data := `{"instruction":"use KEY","gates":[{"name":"test","command":"curl -H 'k: KEY'","output":"got KEY"}],` +
		`"notes":["a","KEY"],"red":["test_x[KEY]"]}`
	want := strings.ReplaceAll(data, "KEY", "[MASKED:OPENAI_KEY]")
	for _, kept := range []string{`curl -H 'k: `, `test_x[`} {
		want = strings.Replace(want, kept+"[MASKED:OPENAI_KEY]", kept+key, 1)
	}
	if got := redactText(nil, []byte(strings.ReplaceAll(data, "KEY", key))); string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
