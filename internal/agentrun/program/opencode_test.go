package program

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agent/agenttest"
	"company/internal/company"
	"company/internal/toolbox/toolproto"
)

// driveOpencode runs opencode, which prints text, without a server behind its model.
func driveOpencode(t *testing.T, s *sandbox, change func(*agent.Job, *Driver)) (agent.Outcome, error) {
	t.Helper()
	return s.drive(t.Context(), t, func(job *agent.Job, d *Driver) {
		d.Program, d.Bin = opencode, nil
		if change != nil {
			change(job, d)
		}
	})
}

// What opencode 1.18.33 printed is read: its words, its calls and how it ended.
func TestOutputOfOpencode(t *testing.T) {
	recorded, err := os.ReadFile("testdata/opencode.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	kept := &agenttest.Journal{}
	var shown []string
	s := &sandbox{prints: pieces(string(recorded))}
	out, err := driveOpencode(t, s, func(job *agent.Job, _ *Driver) {
		job.Journal = kept
		job.OnEvent = func(e agent.Event) {
			shown = append(shown,
				strings.TrimSpace(string(e.Kind)+" "+e.Tool+" "+e.Text))
		}
	})
	if err != nil || out.End != agent.EndFinal || !strings.HasPrefix(string(out.Final),
		`{"summary":"All is done.\nTwo lines.",`) {
		t.Fatalf("%+v, %s, %v", out, out.Final, err)
	}
	want := "printed  I look.|tool_done bash hello|tool_done write Wrote file successfully.|printed  Two lines."
	if got := strings.Join(shown, "|"); got != want {
		t.Errorf("shown %s\nwant  %s", got, want)
	}
	read, err := agent.ReadTranscript(t.Context(), "t12-01.2", "w1", nil,
		func(fn func(string, json.RawMessage) error) error {
			return kept.Read(t.Context(), func(_ int, kind string, data json.RawMessage) error {
				return fn(kind,
					data)
			})
		})
	if err != nil || len(read.Messages) != 4 || len(read.ToolCalls) != 2 || read.ToolCalls[0].Name != "bash" ||
		!strings.Contains(read.ToolCalls[0].Arguments, "echo hello; exit 3") || read.ToolCalls[0].Result != "hello\n" ||
		read.ToolCalls[0].DurationMS != 147 {
		t.Errorf("%+v, %v", read, err)
	}
	if path := s.asked.Argv[0]; path != "/opt/agents/opencode/opencode" {
		t.Error(path)
	}
	if s.message != "Limit it\n\nAll is done.\nTwo lines." {
		t.Errorf("committed as %q", s.message)
	}
}

// The ends of opencode that are not a good one.
func TestEndsOfOpencode(t *testing.T) {
	line := func(fields string) string { return `{"sessionID":"s",` + fields + "}\n" }
	stop := line(`"type":"step_finish","part":{"reason":"stop"}`)
	said := func(text string) string { return line(`"type":"text","part":{"text":` + string(quote(text)) + `}`) }
	for name, x := range map[string]struct {
		prints string
		exit   int
		end    agent.End
		code   company.Code
		says   string
	}{
		"asks for help": {prints: said("I looked.\nESCALATE: two ways") + stop, end: agent.EndEscalated,
			says: "two ways"},
		"an error": {prints: line(`"type":"error","error":{"name":"APIError","data":{"message":"out of turns"}}`),
			exit: 1,
			code: company.EAgent, says: "opencode 1.18.33 failed: out of turns (exit code 1)"},
		"cut": {prints: line(`"type":"step_finish","part":{"reason":"length"}`), code: company.EAgent,
			says: "ended with length"},
		"no end":      {prints: said("done"), end: agent.EndFinal, says: "done"},
		"no end, bad": {prints: said("done"), exit: 7, code: company.EAgent, says: "opencode 1.18.33: exit code 7"},
		"goes on":     {prints: stop + line(`"type":"step_start"`), exit: 1, code: company.EAgent, says: "exit code 1"},
		"other lines": {prints: "a warning\n{\"a\":1}\n" + line(`"type":"new"`) + said("done") + stop,
			end: agent.EndFinal, says: "done"},
	} {
		s := &sandbox{prints: []toolproto.ProgramOutput{stdout(x.prints)}, exit: x.exit}
		out, err := driveOpencode(t, s, nil)
		text := string(out.Final)
		if err != nil {
			text = err.Error()
		}
		if out.End != x.end || company.CodeOf(err) != x.code && err != nil || !strings.Contains(text, x.says) {
			t.Errorf("%s: %+v, %s", name, out.End, text)
		}
	}
	s := &sandbox{hangs: true, prints: []toolproto.ProgramOutput{stdout(said("done") + stop)}}
	if out, err := driveOpencode(t, s, func(_ *agent.Job,
		d *Driver) {
		d.Limits.Final = time.Nanosecond
	}); err != nil ||
		out.End != agent.EndFinal {
		t.Errorf("%+v, %v", out, err)
	}
}

func quote(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return data
}

// opencode reads the ticket from its input, and is told its model and its limits.
func TestLaunchOfOpencode(t *testing.T) {
	start, err := launchOpencode(setup{base: "http://127.0.0.1:8377/_model", prompt: "do it",
		model: adapters.Info{Model: "gpt-5", MaxOutput: 8000}})
	if err != nil || string(start.stdin) != "do it" {
		t.Fatal(err, start)
	}
	config := start.env["OPENCODE_CONFIG_CONTENT"]
	for _, want := range []string{`"baseURL":"http://127.0.0.1:8377/_model/v1"`, `"limit":{"context":128000,"output":8000}`,
		`"snapshot":false`} {
		if !strings.Contains(config, want) {
			t.Errorf("%s lacks %s", config, want)
		}
	}
}

// Only programs that the config does not have in the image are installed, each once.
func TestInstalls(t *testing.T) {
	got := Installs(company.Bindings{Models: map[string]company.ModelBinding{
		"a": {Adapter: company.AdapterProgram, Model: "opencode"}, "b": {Adapter: company.AdapterProgram,
			Model: "opencode"},
		"c": {Adapter: company.AdapterProgram, Model: "stdio-json", Bin: []string{"/a"}}, "d": {Adapter: "openai",
			Model: "opencode"},
	}})
	if len(got) != 1 || got[0].Name != "opencode" {
		t.Errorf("%+v", got)
	}
	if got := Installs(company.Bindings{Models: map[string]company.ModelBinding{
		"a": {Adapter: company.AdapterProgram, Model: "opencode",
			Bin: []string{"/usr/bin/opencode"}}}}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
