package agent

import (
	"strings"
	"testing"
	"time"
)

// Calls are shown to people as what they do, never as JSON.
func TestCallText(t *testing.T) {
	for arguments, want := range map[string][2]string{
		`{"path":"src/mul.ts","content":"export\nconst x\n"}`: {"src/mul.ts (2 lines)", "+ export\n+ const x\n"},
		`{"path":"a.go","old":"one\n","new":"two\nthree"}`:    {"a.go (+2 −1)", "- one\n+ two\n+ three\n"},
		`{"path":"a.go","offset":3,"limit":7}`:                {"a.go:3-9", ""},
		`{"command":"go test ./...","timeout_s":90}`:          {"go test ./...", "timeout_s: 90\n"},
		`{"command":"cd x\ngo test"}`:                         {"cd x …", "cd x\ngo test\n"},
		`{"path":"x","content":"x"}`:                          {"x (1 line)", "+ x\n"},
		`{"pattern":"x","limit":7}`:                           {"x", "limit: 7\n"},
		`{"pattern":"x","glob":"*.go"}`:                       {"x", "glob: *.go\n"},
		`{"subtasks":[{"title":"a","files":["x","y"]}]}`: {"",
			"subtasks:\n  -\n    files:\n      - x\n      - y\n    title: a\n"},
		`{}`:       {"", ""},
		`not json`: {"not json", ""},
	} {
		if head, body := callText(arguments); head != want[0] || body != want[1] {
			t.Errorf("%s:\n%q\n%q", arguments, head, body)
		}
	}
	e := TranscriptEntry{ToolCall: &TranscriptCall{Timestamp: time.Unix(0, 0), Name: "write_file",
		Arguments: `{"path":"a\u001b[2J","content":"\u001b[31mred"}`, Result: "created"}}
	if got := e.RenderText(9); strings.Contains(got, "\x1b") || strings.Contains(got, "{") ||
		!strings.Contains(got, "+ write_file a") || !strings.HasSuffix(got, "created\n") {
		t.Errorf("%q", got)
	}
}
