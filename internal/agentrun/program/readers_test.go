package program

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agent/agenttest"
	"company/internal/company"
	"company/internal/toolbox/toolproto"
)

// driveInstalled runs a program of the company's list, without a server behind its model.
func driveInstalled(t *testing.T, name string, s *sandbox, change func(*agent.Job, *Driver)) (agent.Outcome, error) {
	t.Helper()
	return s.drive(t.Context(), t, func(job *agent.Job, d *Driver) {
		d.Program, d.Bin = profiles[name], nil
		if change != nil {
			change(job, d)
		}
	})
}

// ADP-13: what the installed programs printed in a run with two calls is read: their words, their calls and how they
// ended. The files are the output of the versions in the profiles.
func TestOutputOfInstalledPrograms(t *testing.T) {
	for name, want := range map[string]struct {
		shown       string
		first       agent.TranscriptCall // of the calls
		isTimed     bool
		firstIsHard bool // it failed
	}{
		"opencode": {shown: "printed  I look.|tool_done bash hello|tool_done write Wrote file successfully.|" +
			"printed  Two lines.", isTimed: true,
			first: agent.TranscriptCall{Name: "bash", Arguments: "echo hello; exit 3", Result: "hello\n"}},
		"claude": {shown: "printed  I look.|tool_done Bash Exit code 3 hello|printed  I look.|" +
			"tool_done Write File created successfully at: /work/repo/a.txt (file state is current in your " +
			"context — no need to Read it back)|printed  Two lines.", isTimed: true, firstIsHard: true,
			first: agent.TranscriptCall{Name: "Bash", Arguments: "echo hello; exit 3", Result: "Exit code 3\nhello"}},
		"codex": {shown: "printed  error: Model metadata for `gpt-5` not found. Defaulting to fallback metadata; " +
			"this can degrade performance and cause issues.|" +
			"printed  I look.|tool_done command_execution hello exit code 3|" +
			"printed  I look.|tool_done file_change completed|printed  Two lines.", firstIsHard: true,
			first: agent.TranscriptCall{Name: "command_execution", Arguments: "echo hello; exit 3",
				Result: "hello\nexit code 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			recorded, err := os.ReadFile("testdata/" + name + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			kept := &agenttest.Journal{}
			var shown []string
			s := &sandbox{prints: pieces(string(recorded))}
			out, err := driveInstalled(t, name, s, func(job *agent.Job, _ *Driver) {
				job.Journal = kept
				job.OnEvent = func(e agent.Event) {
					shown = append(shown, strings.TrimSpace(string(e.Kind)+" "+e.Tool+" "+e.Text))
				}
			})
			if err != nil || out.End != agent.EndFinal || !strings.HasPrefix(string(out.Final),
				`{"summary":"All is done.\nTwo lines.",`) {
				t.Fatalf("%+v, %s, %v", out, out.Final, err)
			}
			if got := strings.Join(shown, "|"); got != want.shown {
				t.Errorf("shown %s\nwant  %s", got, want.shown)
			}
			read, err := agent.ReadTranscript(t.Context(), "t12-01.2", "w1", nil,
				func(fn func(string, json.RawMessage) error) error {
					return kept.Read(t.Context(), func(_ int, kind string, data json.RawMessage) error {
						return fn(kind, data)
					})
				})
			if err != nil || len(read.ToolCalls) != 2 {
				t.Fatalf("%+v, %v", read, err)
			}
			if c := read.ToolCalls[0]; c.Name != want.first.Name ||
				!strings.Contains(c.Arguments, want.first.Arguments) || c.Result != want.first.Result ||
				c.IsError != want.firstIsHard || c.DurationMS > 0 != want.isTimed {
				t.Errorf("%+v", c)
			}
			if path := s.asked.Argv[0]; path != "/opt/agents/"+name+"/"+name {
				t.Error(path)
			}
			if s.message != "Limit it\n\nAll is done.\nTwo lines." {
				t.Errorf("committed as %q", s.message)
			}
		})
	}
}

func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// ADP-13: how a run ends by what an installed program printed.
func TestEndsOfInstalledPrograms(t *testing.T) {
	opencodeLine := func(fields string) string { return `{"sessionID":"s",` + fields + "}\n" }
	claudeLine := func(fields string) string { return `{"session_id":"s",` + fields + "}\n" }
	codexItem := func(text string) string {
		return `{"type":"item.completed","item":{"type":"agent_message","text":` + quote(text) + "}}\n"
	}
	opencodeSaid := func(text string) string {
		return opencodeLine(`"type":"text","part":{"text":` + quote(text) + `}`)
	}
	claudeSaid := func(text string) string {
		return claudeLine(`"type":"assistant","message":{"content":[{"type":"text","text":` + quote(text) + `}]}`)
	}
	claudeResult := func(text string, isError bool) string {
		subtype := map[bool]string{true: "error_during_execution", false: "success"}[isError]
		return claudeLine(`"type":"result","subtype":"` + subtype + `","is_error":` +
			map[bool]string{true: "true", false: "false"}[isError] + `,"result":` + quote(text))
	}
	const codexEnd, begin = "{\"type\":\"turn.completed\"}\n", "{\"type\":\"turn.started\"}\n"
	stop := opencodeLine(`"type":"step_finish","part":{"reason":"stop"}`)
	for _, x := range []struct {
		program, name string
		prints        string
		exit          int
		end           agent.End
		code          company.Code
		says          string
	}{
		{program: "opencode", name: "asks for help", prints: opencodeSaid("I looked.\nESCALATE: two ways") + stop,
			end: agent.EndEscalated, says: "two ways"},
		{program: "opencode", name: "an error", exit: 1, code: company.EAgent,
			prints: opencodeLine(`"type":"error","error":{"name":"APIError","data":{"message":"out of turns"}}`),
			says:   "opencode 1.18.33 failed: out of turns (exit code 1)"},
		{program: "opencode", name: "cut", code: company.EAgent, says: "ended with length",
			prints: opencodeLine(`"type":"step_finish","part":{"reason":"length"}`)},
		{program: "opencode", name: "no end", prints: opencodeSaid("done"), end: agent.EndFinal, says: "done"},
		{program: "opencode", name: "no end, bad", prints: opencodeSaid("done"), exit: 7, code: company.EAgent,
			says: "opencode 1.18.33: exit code 7"},
		{program: "opencode", name: "goes on", prints: stop + opencodeLine(`"type":"step_start"`), exit: 1,
			code: company.EAgent, says: "exit code 1"},
		{program: "opencode", name: "other lines", end: agent.EndFinal, says: "done",
			prints: "a warning\n{\"a\":1}\n" + opencodeLine(`"type":"new"`) + opencodeSaid("done") + stop},

		{program: "claude", name: "good", prints: claudeSaid("on it") + claudeResult("done", false),
			end: agent.EndFinal, says: "done"},
		{program: "claude", name: "asks for help", prints: claudeSaid("x") + claudeResult("ESCALATE: two ways", false),
			end: agent.EndEscalated, says: "two ways"},
		{program: "claude", name: "an error", prints: claudeSaid("x") + claudeResult("API Error: 400 paused", true),
			exit: 1, code: company.EAgent, says: "claude 2.1.330 failed: API Error: 400 paused (exit code 1)"},
		{program: "claude", name: "an error without words", prints: claudeResult("", true), exit: 1,
			code: company.EAgent, says: "failed: error_during_execution"},
		{program: "claude", name: "goes on", prints: claudeResult("API Error", true) + claudeSaid("again") +
			claudeResult("done", false), end: agent.EndFinal, says: "done"},
		{program: "claude", name: "words of an agent of its own", end: agent.EndFinal, says: "mine",
			prints: claudeSaid("mine") + claudeLine(`"type":"assistant","parent_tool_use_id":"c","message":`+
				`{"content":[{"type":"text","text":"ESCALATE: theirs"}]}`)},
		{program: "claude", name: "odd lines", end: agent.EndFinal, says: "done",
			prints: "a warning\n" + claudeLine(`"type":"user","message":{"content":"hi"}`) +
				claudeLine(`"type":"stream_event"`) + claudeLine(`"type":"user","message":{"content":`+
				`[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"a"},{"type":"image"}]}]}`) +
				claudeResult("done", false)},

		{program: "codex", name: "good", prints: begin + codexItem("done") + codexEnd, end: agent.EndFinal,
			says: "done"},
		{program: "codex", name: "asks for help", prints: codexItem("ESCALATE: two ways") + codexEnd,
			end: agent.EndEscalated, says: "two ways"},
		{program: "codex", name: "failed", exit: 1, code: company.EAgent,
			prints: begin + "{\"type\":\"error\",\"message\":\"retry\"}\n" +
				"{\"type\":\"turn.failed\",\"error\":{\"message\":\"paused\"}}\n",
			says: "codex 0.169.0 failed: paused (exit code 1)"},
		{program: "codex", name: "an error that it overcame", end: agent.EndFinal, says: "done",
			prints: "{\"type\":\"error\",\"message\":\"retry\"}\n" + codexItem("done") + codexEnd},
		{program: "codex", name: "killed", prints: begin + codexItem("on it"), exit: 137, code: company.EAgent,
			says: "codex 0.169.0: exit code 137"},
		{program: "codex", name: "other items", end: agent.EndFinal, says: "done",
			prints: `{"type":"item.completed","item":{"type":"web_search","query":"x"}}` + "\n" +
				`{"type":"item.completed","item":{"type":"mcp_tool_call","tool":"t","arguments":{"a":1}}}` + "\n" +
				`{"type":"item.completed","item":{"type":"reasoning","text":"hm"}}` + "\n" + codexItem("done") +
				codexEnd},
	} {
		s := &sandbox{prints: []toolproto.ProgramOutput{stdout(x.prints)}, exit: x.exit}
		out, err := driveInstalled(t, x.program, s, nil)
		text := string(out.Final)
		if err != nil {
			text = err.Error()
		}
		if out.End != x.end || company.CodeOf(err) != x.code && err != nil || !strings.Contains(text, x.says) {
			t.Errorf("%s, %s: %+v, %s", x.program, x.name, out.End, text)
		}
	}
	for name, prints := range map[string]string{"opencode": opencodeSaid("done") + stop,
		"claude": claudeResult("done", false), "codex": codexItem("done") + codexEnd} {
		s := &sandbox{hangs: true, prints: []toolproto.ProgramOutput{stdout(prints)}}
		out, err := driveInstalled(t, name, s, func(_ *agent.Job, d *Driver) {
			d.Limits.Final = time.Nanosecond
		})
		if err != nil || out.End != agent.EndFinal {
			t.Errorf("%s does not end: %+v, %v", name, out, err)
		}
	}
}

// ADP-12: an installed program that does not ask its model did not begin, whatever it prints.
func TestInstalledProgramDoesNotBegin(t *testing.T) {
	begun := "{\"type\":\"thread.started\"}\n"
	s := &sandbox{prints: []toolproto.ProgramOutput{stdout(begun), stderr("Illegal instruction\n")}, exit: 132}
	d := func(_ *agent.Job, d *Driver) { d.Program, d.Bin = codex, nil }
	_, err := s.driveWithModel(t, nil, d)
	if company.CodeOf(err) != company.EAgentStart || !strings.Contains(err.Error(),
		"codex 0.169.0 did not begin: exit code 132 before it asked its model") ||
		!strings.Contains(err.Error(), "Illegal instruction") {
		t.Errorf("%v", err)
	}
	p := &player{} // it asks which models there are
	p.plays = []func(context.Context, func(string)) int{func(_ context.Context, out func(string)) int {
		p.model.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/models", nil))
		out(begun)
		return 1
	}}
	if _, err = p.drive(t, &agenttest.Journal{}, nil); company.CodeOf(err) != company.EAgentStart {
		t.Errorf("%v", err)
	}
	s = &sandbox{hangs: true, prints: []toolproto.ProgramOutput{stdout(begun)}}
	_, err = s.driveWithModel(t, nil, func(job *agent.Job, driver *Driver) {
		d(job, driver)
		driver.Limits.Begin = time.Nanosecond
	})
	if company.CodeOf(err) != company.EAgentStart ||
		!strings.Contains(err.Error(), "made no request to its model for") {
		t.Errorf("%v", err)
	}
}

// The installed programs read the ticket from their input, and are told their model and its limits.
func TestLaunchOfInstalledPrograms(t *testing.T) {
	for name, wants := range map[string][]string{
		"opencode": {`"baseURL":"http://127.0.0.1:8377/_model/v1"`, `"limit":{"context":128000,"output":8000}`,
			`"snapshot":false`},
		"claude": {"ANTHROPIC_BASE_URL=http://127.0.0.1:8377/_model", "ANTHROPIC_API_KEY=none", "--model big",
			"CLAUDE_CODE_MAX_OUTPUT_TOKENS=8000"},
		"codex": {"-c model_providers.relay.base_url=http://127.0.0.1:8377/_model/v1", "-m big", "RELAY_KEY=none"},
	} {
		start, err := profiles[name].launch(setup{base: "http://127.0.0.1:8377/_model", prompt: "do it",
			model: adapters.Info{Model: "big", MaxOutput: 8000}})
		if err != nil || string(start.stdin) != "do it" {
			t.Fatal(err, start)
		}
		var env []string
		for key, value := range start.env {
			env = append(env, key+"="+value)
		}
		slices.Sort(env)
		all := strings.Join(append(start.args, env...), " ") + " "
		for _, want := range wants {
			if !strings.Contains(all, want) {
				t.Errorf("%s lacks %s: %s", name, want, all)
			}
		}
	}
}

// Only programs that the config does not have in the image are installed, each once.
func TestInstalls(t *testing.T) {
	got := Installs(company.Bindings{Models: map[string]company.ModelBinding{
		"a": {Adapter: company.AdapterProgram, Model: "opencode"},
		"b": {Adapter: company.AdapterProgram, Model: "opencode"},
		"c": {Adapter: company.AdapterProgram, Model: "stdio-json", Bin: []string{"/a"}},
		"d": {Adapter: "openai", Model: "opencode"}, "e": {Adapter: company.AdapterProgram, Model: "codex"},
	}})
	if len(got) != 2 || got[0].Name != "opencode" || got[1].Name != "codex" {
		t.Errorf("%+v", got)
	}
	if got := Installs(company.Bindings{Models: map[string]company.ModelBinding{
		"a": {Adapter: company.AdapterProgram, Model: "opencode",
			Bin: []string{"/usr/bin/opencode"}}}}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
