package ecosystem

import (
	"encoding/json"
	"testing"
)

func TestExplainJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{\"scripts\": {\n\"test\": \"a\",}": "line 2 is not JSON: invalid character '}' looking for beginning of " +
			"object key string",
		"[\"a\"]":                                "line 1: it is not an object (array)",
		"{\n\"scripts\": {\n\"test\": 1\n}}":     "line 3: scripts is of another type (number)",
		"":                                       "line 1 is not JSON: unexpected end of JSON input",
		"{\"scripts\": \"\u202e\", \"x\": true}": "line 1: scripts is of another type (string)",
	} {
		var p struct {
			Scripts map[string]string `json:"scripts"`
		}
		err := json.Unmarshal([]byte(text), &p)
		if err == nil {
			t.Fatalf("%q was read", text)
		}
		if got := ExplainJSON([]byte(text), err); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
