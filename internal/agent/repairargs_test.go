package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"company/internal/adapters"
)

// Schemas as the tools have them, shortened.
const (
	readSchema   = `{"type":"object","properties":{"path":{"type":"string","minLength":1},"offset":{"type":"integer","minimum":1},"limit":{"type":"integer"}},"required":["path"],"additionalProperties":false}`
	editSchema   = `{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string","minLength":1},"new":{"type":"string"},"replace_all":{"type":"boolean"}},"required":["path","old","new"],"additionalProperties":false}`
	putSchema    = `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}`
	shellSchema  = `{"type":"object","properties":{"command":{"type":"string","minLength":1},"timeout_s":{"type":"integer","maximum":900},"background":{"type":"boolean"}},"required":["command"],"additionalProperties":false}`
	findSchema   = `{"type":"object","properties":{"pattern":{"type":"string"},"glob":{"type":"string"}},"required":["pattern"],"additionalProperties":false}`
	listSchema   = `{"type":"object","properties":{"glob":{"type":"string"}},"additionalProperties":false}`
	todoSchema   = `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"status":{"enum":["pending","in_progress","done"]}},"required":["text","status"],"additionalProperties":false}}},"required":["items"],"additionalProperties":false}`
	planSchema   = `{"type":"object","properties":{"why":{"type":"string"},"waves":{"type":"array","items":{"type":"object","properties":{"subtasks":{"type":"array","items":{"type":"object","properties":{"title":{"type":"string"},"write_set":{"type":"array","items":{"type":"string"}}},"required":["title"],"additionalProperties":false}}},"required":["subtasks"],"additionalProperties":false}}},"required":["waves"],"additionalProperties":false}`
	reviewSchema = `{"type":"object","additionalProperties":false,"required":["verdict"],"properties":{"verdict":{"enum":["approve","request_changes"]},"evidence":{"type":"array","items":{"type":"string"}},"findings":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["severity","what"],"properties":{"severity":{"enum":["blocking","minor"]},"file":{"type":"string"},"line":{"type":"integer","minimum":0},"what":{"type":"string","minLength":1}}}}}}`
)

func nilRun(context.Context, json.RawMessage) (Result, error) { return Result{}, nil }

// WRK-6: arguments that can be read in one way are done; the others come back with
// what is wrong and the schema.
func TestArgumentsAreRepaired(t *testing.T) {
	for name, tc := range map[string]struct {
		schema, args string
		want         string // the arguments that run; empty: the call is refused
		says         string // of the refusal
	}{
		"fits":                         {readSchema, `{"path":"a","offset":3}`, `{"offset":3,"path":"a"}`, ""},
		"all in a string":              {readSchema, `"{\"path\":\"a\"}"`, `{"path":"a"}`, ""},
		"twice in a string":            {readSchema, `"\"{\\\"path\\\":\\\"a\\\"}\""`, `{"path":"a"}`, ""},
		"under a wrapper":              {readSchema, `{"arguments":{"path":"a"}}`, `{"path":"a"}`, ""},
		"under a wrapper, in a string": {readSchema, `{"input":"{\"path\":\"a\"}"}`, `{"path":"a"}`, ""},
		"a number in a string":         {readSchema, `{"path":"a","offset":"12"}`, `{"offset":12,"path":"a"}`, ""},
		"null for what may be absent":  {readSchema, `{"path":"a","offset":null,"limit":null}`, `{"path":"a"}`, ""},
		"null for what must be there":  {readSchema, `{"path":null}`, "", "got null, want string"},
		"no number in a string":        {readSchema, `{"path":"a","offset":"twelve"}`, "", "got string, want integer"},
		"file_path":                    {readSchema, `{"file_path":"a"}`, `{"path":"a"}`, ""},
		"filePath":                     {readSchema, `{"filePath":"a","startLine":4}`, `{"offset":4,"path":"a"}`, ""},
		"a name that nothing has": {readSchema, `{"path":"a","colour":"red"}`, "",
			"additional property 'colour' not allowed"},
		"both names": {readSchema, `{"path":"a","file_path":"b"}`, "",
			"additional property 'file_path' not allowed"},
		"old_string, new_string": {editSchema, `{"file_path":"a","old_string":"x","new_string":"y","replaceAll":"true"}`,
			`{"new":"y","old":"x","path":"a","replace_all":true}`, ""},
		"old_str, new_str": {editSchema, `{"path":"a","old_str":"x","new_str":""}`,
			`{"new":"","old":"x","path":"a"}`, ""},
		"lines in a list": {putSchema, `{"path":"a","content":["x","y"]}`, `{"content":"x\ny","path":"a"}`, ""},
		"file_text":       {putSchema, `{"path":"a","file_text":"x"}`, `{"content":"x","path":"a"}`, ""},
		"a text that is JSON stays": {putSchema, `{"file_path":"a","content":"{\"x\":1}"}`,
			`{"content":"{\"x\":1}","path":"a"}`, ""},
		"cmd":          {shellSchema, `{"cmd":"ls","timeout":60}`, `{"command":"ls","timeout_s":60}`, ""},
		"milliseconds": {shellSchema, `{"command":"ls","timeout":120000}`, "", "want at most 900"},
		"query": {findSchema, `{"query":"x","path":"internal"}`,
			`{"glob":"internal","pattern":"x"}`, ""},
		"a folder to list": {listSchema, `{"path":"internal"}`, `{"glob":"internal"}`, ""},
		"todos": {todoSchema,
			`{"todos":[{"content":"x","status":"completed"},{"content":"y","status":"In Progress"}]}`,
			`{"items":[{"status":"done","text":"x"},{"status":"in_progress","text":"y"}]}`, ""},
		"one item without its list": {todoSchema, `{"items":{"text":"x","status":"done"}}`,
			`{"items":[{"status":"done","text":"x"}]}`, ""},
		"waves in a string": {planSchema,
			`{"why":"w","waves":"[{\"subtasks\":[{\"title\":\"t\",\"files\":\"a.go\"}]}]"}`,
			`{"waves":[{"subtasks":[{"title":"t","write_set":["a.go"]}]}],"why":"w"}`, ""},
		"subtasks in a string": {planSchema, `{"waves":[{"subtasks":"[{\"title\":\"t\"}]"}]}`,
			`{"waves":[{"subtasks":[{"title":"t"}]}]}`, ""},
		"waves that are not JSON": {planSchema, `{"waves":"first this, then that"}`, "", "got string, want array"},
		"approved": {reviewSchema, `{"verdict":"approved","evidence":"the test fails without it"}`,
			`{"evidence":["the test fails without it"],"verdict":"approve"}`, ""},
		"evidence as a list in text": {reviewSchema, `{"verdict":"Approve","evidence":"- a\n- b\n"}`,
			`{"evidence":["a","b"],"verdict":"approve"}`, ""},
		"changes requested": {reviewSchema,
			`{"verdict":"changes requested","findings":{"severity":"critical","path":"a.go","line":"7","description":"x"}}`,
			`{"findings":[{"file":"a.go","line":7,"severity":"blocking","what":"x"}],"verdict":"request_changes"}`, ""},
		"a verdict of no meaning": {reviewSchema, `{"verdict":"maybe"}`, "", "value must be one of"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			tools, err := newToolset([]Tool{{Spec: adapters.Tool{Name: "f", Schema: json.RawMessage(tc.schema)}, Run: nilRun}})
			if err != nil {
				t.Fatal(err)
			}
			j := tools.prepareCall(pendingCall{ToolCall: adapters.ToolCall{Name: "f", Arguments: tc.args}})
			if j.answer == nil {
				got = string(j.args)
			} else if !strings.Contains(j.answer.Text, tc.says) || !strings.Contains(j.answer.Text, tc.schema) {
				t.Errorf("the refusal lacks %q or the schema: %s", tc.says, j.answer.Text)
			}
			if got != tc.want {
				t.Errorf("%s\nis done as %q\nwant       %q\n%+v", tc.args, got, tc.want, j.answer)
			}
		})
	}
}

// What goes back to the server is the call that was done, and the journal has what the
// model wrote.
func TestEncodedArgumentsGoBackAsAnObject(t *testing.T) {
	b := newBench(t, replies(calls(`read "{\"path\":\"a\"}"`), finish))
	out := b.mustRun(t)
	requireSane(t, b.model.last())
	if got := b.model.last().Messages[2].ToolCalls[0].Arguments; got != `{"path":"a"}` {
		t.Errorf("the call goes back with %s", got)
	}
	if got := out.Transcript.ToolCalls[0].Arguments; got != `"{\"path\":\"a\"}"` || out.Transcript.ToolCalls[0].IsError {
		t.Errorf("the transcript has %s", got)
	}
	for _, e := range b.events {
		if e.Kind == ToolDone && e.Tool == "read" && e.Args != "a" {
			t.Errorf("people are shown %q", e.Args)
		}
	}
}

// FuzzRepair: whatever comes as arguments is refused, or done with arguments that fit.
func FuzzRepair(f *testing.F) {
	for _, s := range []string{`{"path":"a"}`, `"{}"`, `{"items":"[]"}`, `[[]]`, `{"arguments":{"arguments":{}}}`,
		`{"evidence":[1,"a"]}`} {
		f.Add(s)
	}
	var schemas []*argSchema
	for _, text := range []string{readSchema, editSchema, todoSchema, planSchema, reviewSchema} {
		s, err := parseSchema([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		schemas = append(schemas, s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		v, err := parseArguments(args)
		if err != nil {
			return
		}
		before := canonicalJSON(args)
		for _, s := range schemas {
			once := s.repairValue(v)
			if _, err := json.Marshal(once); err != nil {
				t.Errorf("%s becomes what is not JSON: %v", args, err)
			}
			if now, err := json.Marshal(v); err != nil || canonicalJSON(string(now)) != before {
				t.Errorf("the arguments were changed in place: %s, was %s", now, before)
			}
		}
	})
}
