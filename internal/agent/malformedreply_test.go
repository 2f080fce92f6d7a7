package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/lib/hosttest"
)

// WRK-6: what is wrong with a call comes back to the model, and the run goes on.
func TestBadCallsAreToolErrors(t *testing.T) {
	b := newBench(t, replies(
		calls(`read {"path":`, `read {"colour":"a"}`, `read {"path":7}`, `rm {"path":"a"}`, `read [1]`,
			`read {"path":"a"} {}`, `poll`),
		finish))
	out := b.mustRun(t)
	for i, want := range [][]string{
		{"not valid JSON", "unexpected EOF", pathSchema},
		{"do not fit its schema", "path", "colour", pathSchema},
		{"do not fit its schema", "/path", "want string", pathSchema},
		{`no tool "rm"`, "read, write, poll, fail, finish, escalate"},
		{"do not fit its schema", "want object"},
		{"not valid JSON"},
		{"still running"}, // no arguments at all are the empty object
	} {
		for _, w := range want {
			if got := answers(out.Messages)[i]; !strings.Contains(got, w) {
				t.Errorf("answer %d lacks %q:\n%s", i, w, got)
			}
		}
	}
	if len(b.ran) != 2 {
		t.Errorf("ran %v", b.ran)
	}
	requireSane(t, b.model.last())
}

func TestDuplicateCallIDsAreMadeUnique(t *testing.T) {
	r := calls(`read {"path":"a"}`, `read {"path":"b"}`, `read {"path":"c"}`, `read {"path":"d"}`)
	for i, id := range []string{"x", "x", "", "bad id\n"} {
		r.Message.ToolCalls[i].ID = id
	}
	b := newBench(t, replies(r, r, finish))
	b.mustRun(t)
	requireSane(t, b.model.last())
	if len(b.ran) != 9 {
		t.Errorf("ran %v", b.ran)
	}
}

func TestCutReplyRunsNothing(t *testing.T) {
	cut := calls(`write {"path":"a"}`)
	cut.Finish = adapters.FinishLength
	text := says("I will now")
	text.Finish = adapters.FinishLength
	b := newBench(t, replies(cut, text, finish))
	out := b.mustRun(t)
	if a := answers(out.Messages)[0]; !strings.HasPrefix(a, "not executed because the reply was cut") {
		t.Errorf("answer %q", a)
	}
	if n := newest(b.model.last()); !strings.Contains(n, "cut at the model's output limit") {
		t.Errorf("newest message %q", n)
	}
	if len(b.ran) != 1 {
		t.Errorf("ran %v", b.ran)
	}
}

func TestTextIsNotCompletion(t *testing.T) {
	b := newBench(
		t, replies(says("All done!"), says("Really."), calls(`read {"path":"a"}`), says("Done."), says("Done."),
			says("Done.")))
	out := b.mustRun(t)
	if out.End != EndNoTools || out.Turns != 6 {
		t.Fatalf("end %s after %d turns", out.End, out.Turns)
	}
	if n := newest(b.model.last()); !strings.Contains(n, "called no tool") || !strings.Contains(n, "finish, escalate") {
		t.Errorf("newest message %q", n)
	}
}

func TestEmptyRepliesAreAskedAgainThenNudgedThenFatal(t *testing.T) {
	for name, bad := range map[string]error{"empty": nil,
		"garbage": &adapters.Error{Kind: adapters.MalformedReply, Message: "not JSON", Unanswered: true}} {
		t.Run(name, func(t *testing.T) {
			m := replies(says(" \n"))
			m.reply = func(n int, _ adapters.Request) (adapters.Response, error) {
				if n == 3 {
					return finish, nil
				}
				return says(" \n"), bad
			}
			b := newBench(t, m)
			if out := b.mustRun(t); out.End != EndFinal || out.Turns != 1 {
				t.Errorf("outcome %+v", out)
			}
			if len(m.requests[0].Messages) != len(m.requests[1].Messages) || newest(m.requests[0]) != newest(m.requests[1]) {
				t.Error("the second request is not the first again")
			}
			if !strings.Contains(newest(m.requests[2]), "empty or malformed") {
				t.Error("the third request has no reminder")
			}

			m = replies(says(""))
			m.reply = func(int, adapters.Request) (adapters.Response, error) { return says(""), bad }
			b = newBench(t, m)
			if _, err := b.run(t); company.CodeOf(err) != company.EModel || len(m.requests) != 3 {
				t.Errorf("%d requests, error %v", len(m.requests), err)
			}
			if got := b.allowance.Balance(); bad != nil && got.Spent.Tokens < 3*1000 {
				t.Errorf("spent %+v: a reply that was lost may have been paid for", got)
			}
		})
	}
}

// Malformed replies of a model: each ends bounded and understood (ADP-4).
func TestModelGarbage(t *testing.T) {
	hosttest.NotRaced(t, "one run after the other, each like those of the other tests")
	filtered := says("I cannot help with that")
	filtered.Finish = adapters.FinishFilter
	huge := calls(`write {"path":"` + strings.Repeat("x", 10<<20) + `"}`)
	named := calls(`read {"path":"a"}`)
	named.Model = strings.Repeat("m", 10<<20)
	thought := calls(`read {"path":"a"}`)
	thought.Message.Opaque = json.RawMessage(`{"thinking":"` + strings.Repeat("hm ", 4<<20) + `"}`)
	flood := calls(strings.Split(strings.Repeat(`read {"path":"a"}|`, 500), "|")[:500]...)
	for name, tc := range map[string]struct {
		reply adapters.Response
		err   error
		end   End
		code  company.Code
		most  int // model calls
	}{
		"empty": {reply: says(""), code: company.EModel, most: 3},
		"truncated": {err: &adapters.Error{Kind: adapters.MalformedReply, Message: "unexpected EOF"},
			code: company.EModel, most: 3},
		"not JSON":         {reply: calls(`read path=a`), end: EndStuck, most: 5},
		"unknown tool":     {reply: calls(`delete_everything {}`), end: EndStuck, most: 5},
		"bad argument":     {reply: calls(`read {"path":{}}`), end: EndStuck, most: 5},
		"duplicate id":     {reply: calls(`read {"path":"a"}`), end: EndStuck, most: 5},
		"10 MB of call":    {reply: huge, end: EndStuck, most: 5},
		"10 MB of text":    {reply: says(strings.Repeat("blah ", 2<<20)), end: EndNoTools, most: 3},
		"10 MB of a name":  {reply: named, end: EndStuck, most: 5},
		"12 MB of thought": {reply: thought, end: EndStuck, most: 5},
		"bad UTF-8":        {reply: calls("read {\"path\":\"\xff\xfe\"}", "\xff {}"), end: EndStuck, most: 5},
		"refusal":          {reply: filtered, code: company.EModel, most: 1},
		"refusal in words": {reply: says("I cannot help with that"), end: EndNoTools, most: 3},
		"same call":        {reply: calls(`write {"path":"a"}`), end: EndStuck, most: 5},
		"500 calls":        {reply: flood, end: EndStuck, most: 2},
		"no such error":    {err: errors.New("?"), code: company.EInternal, most: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := replies(tc.reply)
			m.reply = func(int, adapters.Request) (adapters.Response, error) { return tc.reply, tc.err }
			b := newBench(t, m)
			out, err := b.run(t)
			if out.End != tc.end || company.CodeOf(err) != tc.code || len(m.requests) != tc.most {
				t.Fatalf("end %q, error %v, %d model calls", out.End, err, len(m.requests))
			}
			for _, req := range m.requests {
				requireSane(t, req)
			}
			for _, r := range b.journal.records {
				if len(r) > 1<<20 {
					t.Errorf("a journal record of %d bytes", len(r))
				}
			}
			back, err := DecodeTranscript(out.Transcript.Encode())
			if err != nil {
				t.Fatal(err)
			}
			requireEqual(t, back, out.Transcript)
		})
	}
}

// Of a member that stands there twice the check sees the last, and Go reads both into one value.
func TestCheckedArgumentsAreRun(t *testing.T) {
	var ran []json.RawMessage
	set, err := newToolset([]Tool{{
		Spec: adapters.Tool{Name: "t",
			Schema: json.RawMessage(
				`{"type":"object","additionalProperties":false,"properties":{"list":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string","maxLength":2},"b":{"type":"string"}}}}}}`)},
		Run: func(_ context.Context, args json.RawMessage) (Result, error) {
			ran = append(ran, args)
			return Result{}, nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`{"list":[{"a":"much too long"}],"list":[{"b":"x"}]}`,
		`{"list":[{"a":"much too long","b":"x"},{}],"list":[{}]}`, ` {"list" : [ {"a":"<&"} ] }`} {
		j := set.prepareCall(pendingCall{ToolCall: adapters.ToolCall{ID: "c", Name: "t", Arguments: args}})
		if j.answer != nil {
			t.Fatalf("%s: %s", args, j.answer.Text)
		}
		if _, err := j.tool.Run(t.Context(), j.args); err != nil {
			t.Fatal(err)
		}
		var got struct{ List []struct{ A, B string } }
		if err := json.Unmarshal(ran[len(ran)-1], &got); err != nil || len(got.List) != 1 || len(got.List[0].A) > 2 {
			t.Errorf("%s was run as %s: %+v, %v", args, ran[len(ran)-1], got, err)
		}
	}
}

// A model that writes 9 MiB with each reply is ended before its replies fill the memory.
func TestRepliesOfARunAreBounded(t *testing.T) {
	hosttest.Long(t, "it has 64 MiB of replies")
	hosttest.NotRaced(t, "one run after the other with replies of megabytes; shorter ones are raced")
	model := replies(finish)
	model.reply = func(n int, _ adapters.Request) (adapters.Response, error) {
		specs := make([]string, 10)
		for i := range specs {
			specs[i] = fmt.Sprintf(`read {"path":"%d %d %s"}`, n, i, strings.Repeat("x", 900<<10))
		}
		return calls(specs...), nil
	}
	b := newBench(t, model)
	_, err := b.run(t)
	if company.CodeOf(err) != company.EModel || !strings.Contains(err.Error(), "64 MiB") || len(model.requests) > 9 {
		t.Errorf("%v, after %d replies", err, len(model.requests))
	}
}
