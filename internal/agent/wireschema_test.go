package agent

import (
	"context"
	"encoding/json"
	"testing"

	"company/internal/adapters"
)

// toolOf is a tool with this schema.
func toolOf(schema string) Tool {
	return Tool{Spec: adapters.Tool{Name: "x", Schema: json.RawMessage(schema)},
		Run: func(context.Context, json.RawMessage) (Result, error) { return Result{}, nil }}
}

// A model is given what tells it how to call, and code checks the rest (WRK-1).
func TestSchemasAreSentWithoutWhatCodeChecks(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"a <b> & c"},
"minimum":{"type":"integer","minimum":1,"maximum":900}},
"required":["path"],"additionalProperties":false}`: `{"type":"object","properties":{"path":{"type":"string","description":"a <b> & c"},"minimum":{"type":"integer"}},"required":["path"]}`,
		`{"type":"array","maxItems":3,"items":{"enum":["a",1,true,null]}}`: `{"type":"array","items":{"enum":["a",1,true,null]}}`,
		`{"$defs":{"maxItems":{"type":"string"}}}`:                         `{"$defs":{"maxItems":{"type":"string"}}}`,
		`{"broken":`: `{"broken":`,
		``:           ``,
	} {
		got := sendableSchema(json.RawMessage(in))
		if string(got) != want {
			t.Errorf("%s\nis sent as %s\nwant       %s", in, got, want)
		}
	}
	if got := sendableSchema(
		json.RawMessage(
			`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}},"b":{"type":"string"}}}`),
		"b"); string(got) != `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}` {
		t.Errorf("without b: %s", got)
	}
	// The check is that of the whole schema.
	tools, err := newToolset(
		[]Tool{toolOf(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"additionalProperties":false}`)})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(tools.specs[0].Schema); got != `{"type":"object","properties":{"n":{"type":"integer"}}}` {
		t.Errorf("sent: %s", got)
	}
	for _, args := range []string{`{"n":0}`, `{"m":1}`} {
		if j := tools.prepareCall(
			pendingCall{ToolCall: adapters.ToolCall{ID: "c", Name: "x", Arguments: args}}); j.answer == nil ||
			!j.answer.IsError {
			t.Errorf("%s is run", args)
		}
	}
}
