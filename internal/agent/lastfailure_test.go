package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// The newest failed call is told with its argument and the first lines of its error, bounded
// and safe to show; a failure that many calls have followed is none.
func TestLastFailure(t *testing.T) {
	ok := TranscriptCall{Name: "read_file", Arguments: `{"path":"a"}`, Result: "text"}
	failed := TranscriptCall{Name: "run_command", Arguments: `{"command":"go test ./...","timeout_s":5}`,
		Failure: "exit code 1",
		Result: "exit code 1 after 2.3s\nnote: x\n--- stdout ---\n\n--- FAIL: TestMul\n  mul_test.go:9: got " +
			"5\x1b[2J\nFAIL\nFAIL calc\nlast\n"}
	refused := TranscriptCall{Name: "edit_file", Arguments: `{"path":"b.go","old":"x","new":"y"}`, IsError: true,
		Result: "b.go: the text is not there\nread it"}
	for name, c := range map[string]struct {
		calls []TranscriptCall
		want  string
	}{
		"none":     {nil, ""},
		"all well": {[]TranscriptCall{ok, ok}, ""},
		"a command": {[]TranscriptCall{refused, failed, ok},
			`run_command go test ./...: exit code 1; note: x; --- FAIL: TestMul; mul_test.go:9: got 5\x1b[2J; FAIL`},
		"a refusal":  {[]TranscriptCall{failed, refused}, "edit_file b.go (+1 −1): b.go: the text is not there; read it"},
		"long ago":   {[]TranscriptCall{failed, ok, ok, ok, ok, ok, ok}, ""},
		"no message": {[]TranscriptCall{{Name: "x", IsError: true}}, "x: "},
	} {
		if got := (Transcript{ToolCalls: c.calls}).LastFailure(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	huge := strings.Repeat("\u202ex\n", 1<<20)
	if got := (Transcript{ToolCalls: []TranscriptCall{{Name: huge, Arguments: huge, Failure: huge, Result: huge}}}).
		LastFailure(); len(got) > 600 || strings.ContainsAny(got, "\n\u202e") {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}
}

// How a command failed stands in the journal: a transcript that is made from it has it.
func TestFailureIsRecorded(t *testing.T) {
	b := newBench(t, replies(calls(`write {"path":"a"}`), calls(`finish {"summary":"done"}`)))
	for i := range b.cfg.Tools {
		if b.cfg.Tools[i].Spec.Name == "write" {
			b.cfg.Tools[i].Run = func(context.Context, json.RawMessage) (Result, error) {
				return Result{Text: "exit code 3 after 1s\nno room\n", Failure: "exit code 3"}, nil
			}
		}
	}
	out := b.mustRun(t)
	if got := out.Transcript.LastFailure(); got != "write a: exit code 3; no room" {
		t.Errorf("%q", got)
	}
	if read := recordingOf(t, b); len(read.Exchanges) == 0 {
		t.Error("no recording")
	}
}

// The end of a run without a result is told with the call that failed again and again, and the command that shows the
// conversation.
func TestEndIsDescribed(t *testing.T) {
	b := newBench(t, replies(make20(calls(`read {"path":"a","ask":1}`))...))
	b.cfg.Tools[0].Spec.Schema = json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":false}`)
	const want = "it repeats itself (company logs t3-plan.2), and read failed 5 times: The arguments of read do not fit " +
		`its schema: - at '': additional property 'ask' not allowed; The schema is: {"type":"object","properties":` +
		`{"path":{"type":"string"}},"additionalProperties":false}`
	if got := b.mustRun(t).DescribeEnd("t3-plan.2"); got != want {
		t.Errorf("%s", got)
	}
	if got := (Outcome{End: EndTurns}).DescribeEnd("t3-plan.2"); got != "it is out of turns (company logs t3-plan.2)" {
		t.Errorf("%s", got)
	}
}

// The end of a run is told with the refusal that came most often, and not with a command that failed behind it. The
// command that shows the conversation comes before the reason, which surfaces cut.
func TestEndNamesTheRefusalThatCameAgain(t *testing.T) {
	t.Parallel()
	command := func(result string) TranscriptCall {
		return TranscriptCall{Name: "run_command", Failure: "exit code 1", Result: "exit code 1 after 1s\n" + result}
	}
	plan := TranscriptCall{Name: "submit_plan", IsError: true, Result: "The plan is refused:\n- wave 1: too large\n"}
	path := TranscriptCall{Name: "read_file", IsError: true, Result: "there is no such file"}
	for want, calls := range map[string][]TranscriptCall{
		", and submit_plan failed 3 times: The plan is refused: - wave 1: too large": {plan, command("a"), plan, path, plan,
			path, command("b"), {Name: "read_file"}},
		", and run_command failed 2 times: exit code 1; b": {command("b"), command("a"), command("b"), {Name: "read_file"}},
		"": {plan, plan, {}, {}, {}, {}, {}, {}},
	} {
		got := Outcome{End: EndTurns, Transcript: Transcript{ToolCalls: calls}}.DescribeEnd("t3-plan.2")
		if got != "it is out of turns (company logs t3-plan.2)"+want {
			t.Errorf("%s", got)
		}
	}
}
