package program

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/openai"
	"company/internal/adapters/scripted"
	"company/internal/adapters/scriptedtest"
	"company/internal/agent"
	"company/internal/agent/agenttest"
	"company/internal/agent/budget"
	"company/internal/company"
	"company/internal/toolbox/toolproto"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// sandbox runs a program that prints pieces and ends.
type sandbox struct {
	prints  []toolproto.ProgramOutput
	asks    int // requests that it makes of its model before it prints
	exit    int
	err     error
	hangs   bool // after it has printed
	model   http.Handler
	runs    int
	replies []string
	commit  error
	asked   toolproto.ProgramRequest
	message string
	joined  bool // all its commits became one
	saved   int
	noHome  error
}

func (s *sandbox) RunProgram(
	ctx context.Context, r toolproto.ProgramRequest, out func(toolproto.ProgramOutput),
) (toolproto.ProgramExit, error) {
	s.asked = r
	s.runs++
	for range s.asks {
		answer := httptest.NewRecorder()
		s.model.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(
			`{"messages":[{"role":"user","content":"go on"}],"tools":[{"type":"function","function":{"name":"f"}}]}`)))
		s.replies = append(s.replies, answer.Body.String())
	}
	for _, piece := range s.prints {
		out(piece)
	}
	if s.hangs {
		<-ctx.Done()
		return toolproto.ProgramExit{}, ctx.Err()
	}
	return toolproto.ProgramExit{ExitCode: s.exit}, s.err
}

func (s *sandbox) GitCommit(
	_ context.Context, r toolproto.GitCommitRequest,
) (toolproto.GitCommitResult, error) {
	s.message, s.joined = r.Message, r.Join
	return toolproto.GitCommitResult{}, s.commit
}

func (s *sandbox) ServeModel(handler http.Handler) (string, func()) {
	s.model = handler
	return "http://model", func() { s.model = nil }
}

func (s *sandbox) ReportRefusal(string) {}

func (s *sandbox) TakeRecorded(context.Context, string, company.OID) error { return nil }

func (s *sandbox) ReadHome(_ context.Context, folders []string) ([]byte, error) {
	return []byte(strings.Join(folders, " ")), s.noHome
}

func (s *sandbox) Save(context.Context, int) (*agent.Saved, error) { s.saved++; return nil, nil }
func (s *sandbox) Recall(context.Context, map[string]string) error { return nil }

func stdout(text string) toolproto.ProgramOutput { return toolproto.ProgramOutput{Data: []byte(text)} }
func stderr(text string) toolproto.ProgramOutput {
	return toolproto.ProgramOutput{Data: []byte(text), Stderr: true}
}

const good = "===RESULT===\n{\"success\": true, \"summary\": \"It is done\", \"metrics\": {\"lines\": 3}}\n===END===\n"

func (s *sandbox) drive(ctx context.Context, t *testing.T, change func(*agent.Job, *Driver)) (agent.Outcome, error) {
	t.Helper()
	d := Driver{Program: stdioJSON, Bin: []string{"/opt/agent", "--task"},
		Profile: company.BriefModel{Profile: "house", Adapter: "cli", Model: "stdio-json"}}
	job := agent.Job{System: "rules", First: "ticket", Run: "t12-01.2", Journal: &agenttest.Journal{}, Workspace: s,
		Program: &agent.Program{Place: s, Ticket: agent.ProgramTicket{Task: "t12", Subtask: "t12-01", Title: "Limit it",
			Branch: "agent/t12-01-limit-it", BaseBranch: "main", Attached: []string{"plan.png"},
			Commands: []string{"go"},
			Limit:    time.Hour, Earlier: []agent.EarlierRun{{Run: "t12-01.1", Summary: "test failed"}}}}}
	if change != nil {
		change(&job, &d)
	}
	return d.Drive(ctx, job)
}

// ADP-9: the program gets one JSON object, and then the end of its input.
func TestInputOfAProgram(t *testing.T) {
	s := &sandbox{prints: []toolproto.ProgramOutput{stdout(good)}}
	out, err := s.drive(t.Context(), t, nil)
	if err != nil || out.End != agent.EndFinal || !strings.HasPrefix(string(out.Final), `{"summary":"It is done"`) {
		t.Fatalf("%+v, %s, %v", out, out.Final, err)
	}
	want := `{"taskId":"t12-01","goal":"ticket\n\nrules","artifacts":{"plan.png":"/work/attached/plan.png"},` +
		`"repo":{"worktreePath":"/work/repo","baseBranch":"main","branch":"agent/t12-01-limit-it","defaultBranch":"main"},` +
		`"context":{"runId":"t12-01.2","nodeId":"t12-01","flowId":"t12",` +
		`"previousResults":[{"nodeId":"t12-01","success":false,"summary":"test failed"}]},` +
		`"constraints":{"allowedCommands":["go"],"maxTimeout":3600}}`
	if string(s.asked.Stdin) != want || strings.Join(s.asked.Argv, " ") != "/opt/agent --task" {
		t.Errorf("%v\n%s\nwant\n%s", s.asked.Argv, s.asked.Stdin, want)
	}
	if s.message != "Limit it\n\nIt is done" {
		t.Errorf("committed as %q", s.message)
	}
}

// ADP-10, ADP-12: how a run ends by what its program printed and its exit.
func TestEndsOfAProgram(t *testing.T) {
	result := func(text string) []toolproto.ProgramOutput {
		return []toolproto.ProgramOutput{stdout("===RESULT===\n" + text + "\n===END===\n")}
	}
	nothing := toolproto.Refuse(toolproto.KindNothing, "nothing to commit")
	for name, c := range map[string]struct {
		s    sandbox
		end  agent.End
		code company.Code
		says string
	}{
		"good": {s: sandbox{prints: []toolproto.ProgramOutput{stdout(good)}}, end: agent.EndFinal,
			says: "It is done"},
		"in pieces": {s: sandbox{prints: pieces("working\r\n" + strings.ReplaceAll(good, "\n", "\r\n"))},
			end: agent.EndFinal, says: "It is done"},
		"good, exit 1": {s: sandbox{prints: []toolproto.ProgramOutput{stdout(good)}, exit: 1},
			end: agent.EndFinal, says: "It is done"},
		"committed itself": {s: sandbox{prints: []toolproto.ProgramOutput{stdout(good)}, commit: nothing},
			end: agent.EndFinal, says: "It is done"},
		"the last one counts": {s: sandbox{prints: append(result(`{"success":false,"summary":"no"}`), stdout(good))},
			end: agent.EndFinal, says: "It is done"},
		"one is not whole": {s: sandbox{prints: []toolproto.ProgramOutput{stdout(good + "===RESULT===\n{")}},
			end: agent.EndFinal, says: "It is done"},
		"blocked": {s: sandbox{prints: result(`{"success":false,"summary":"the API is missing"}`)},
			end: agent.EndEscalated, says: "the API is missing"},
		"asks for help": {s: sandbox{prints: []toolproto.ProgramOutput{stdout("ESCALATE: two ways\n")}, exit: 3},
			end: agent.EndEscalated, says: "two ways"},
		"no result": {s: sandbox{prints: []toolproto.ProgramOutput{stdout("hello\n")}}, code: company.EAgent,
			says: "AGENT_RESULT_PARSE_ERROR: there is no ===RESULT=== (exit code 0)"},
		"crash": {s: sandbox{prints: []toolproto.ProgramOutput{stdout("hello\n"), stderr("panic: x\n")},
			exit: 2}, code: company.EAgent, says: "its last words: panic: x"},
		"no end": {s: sandbox{prints: []toolproto.ProgramOutput{stdout("===RESULT===\n{}")}},
			code: company.EAgent, says: "the result has no ===END==="},
		"not JSON": {s: sandbox{prints: result("{")}, code: company.EAgent, says: "the result cannot be read: "},
		"no success": {s: sandbox{prints: result(`{"summary":"x"}`)}, code: company.EAgent,
			says: "the result lacks success"},
		"no summary": {s: sandbox{prints: result(`{"success":true,"summary":" "}`)}, code: company.EAgent,
			says: "the result lacks a summary"},
		"wrong metrics": {s: sandbox{prints: result(`{"success":true,"summary":"x","metrics":{"a":"b"}}`)},
			code: company.EAgent, says: "the result cannot be read: "},
		"a large result": {s: sandbox{prints: result(strings.Repeat(strings.Repeat("x", 1000)+"\n", 1100))},
			code: company.EAgent, says: "the result has more than"},
		"an endless line": {s: sandbox{prints: pieces(strings.Repeat("x", 3<<20) + "\n" + good)}, end: agent.EndFinal,
			says: "It is done"},
		"asks at length": {s: sandbox{prints: []toolproto.ProgramOutput{stdout("ESCALATE: two parts:\n- a.go\n- b.go\n")}},
			end: agent.EndEscalated, says: `two parts:\n- a.go\n- b.go`},
		"a full disk": {s: sandbox{prints: []toolproto.ProgramOutput{stdout(good)},
			commit: toolproto.Refuse(toolproto.KindGit, "remote: No space left on device")}, says: "No space left"},
		"did not begin": {s: sandbox{prints: []toolproto.ProgramOutput{stderr("Illegal instruction\n")}, exit: 132},
			code: company.EAgentStart,
			says: "stdio-json did not begin: exit code 132 before it printed a line"},
		"printed nothing": {s: sandbox{}, code: company.EAgentStart, says: "exit code 0 before it printed a line"},
		"not in the image": {s: sandbox{err: toolproto.Refuse(toolproto.KindNotFound, "there is no /opt/agent")},
			code: company.EAgentStart,
			says: "there is no /opt/agent"},
		"cannot be committed": {s: sandbox{prints: []toolproto.ProgramOutput{stdout(good)},
			commit: toolproto.Refuse(toolproto.KindGit, "HEAD is not on the branch")}, code: company.EAgent,
			says: "HEAD is not on the branch"},
		"the container is gone": {s: sandbox{err: errors.New("the link is gone")}, says: "the link is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := c.s.drive(t.Context(), t, nil)
			if out.End != c.end && err == nil || company.CodeOf(err) != c.code && c.code != "" ||
				(err == nil) != (c.end != "") {
				t.Fatalf("%+v, %v", out, err)
			}
			text := string(out.Final)
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, c.says) {
				t.Errorf("%s lacks %q", text, c.says)
			}
			if c.code == company.EAgent && c.s.message == "" && c.s.saved == 0 {
				t.Error("its work is not kept")
			}
		})
	}
}

// pieces cuts a text as a pipe might.
func pieces(text string) (out []toolproto.ProgramOutput) {
	for len(text) > 0 {
		n := min(len(text), 7+len(text)/3)
		out = append(out, stdout(text[:n]))
		text = text[n:]
	}
	return out
}

// A program that hangs is ended when it is silent, when its run is paused, and when the run is cancelled.
func TestProgramIsEnded(t *testing.T) {
	paused, cancelled := errors.New("paused"), errors.New("cancelled")
	s := &sandbox{hangs: true, prints: []toolproto.ProgramOutput{stdout("working\n")}}
	_, err := s.drive(t.Context(), t, func(_ *agent.Job, d *Driver) { d.Limits.Silence = time.Nanosecond })
	if company.CodeOf(err) != company.ETimeout || !strings.Contains(err.Error(), "stdio-json fell silent") {
		t.Errorf("%v", err)
	}
	if _, err := s.drive(t.Context(), t, func(job *agent.Job, _ *Driver) {
		job.Halt = func() error { return paused }
	}); !errors.Is(err, paused) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	s.prints = nil
	if _, err := s.drive(ctx, t, func(*agent.Job, *Driver) { cancel(cancelled) }); !errors.Is(err, cancelled) {
		t.Errorf("%v", err)
	}
}

// Commits of the program that are refused become one of the company's.
func TestCommitsOfAProgramAreJoined(t *testing.T) {
	s := &sandbox{prints: []toolproto.ProgramOutput{stdout(good)}, commit: toolproto.Refuse(toolproto.KindGit,
		"another author")}
	if _, err := s.drive(t.Context(), t, nil); company.CodeOf(err) != company.EAgent || !s.joined {
		t.Errorf("%v, joined %v", err, s.joined)
	}
}

// Of what a program prints without end only a part is kept.
func TestFloodOfAProgram(t *testing.T) {
	kept := &agenttest.Journal{}
	s := &sandbox{}
	for range 40 {
		s.prints = append(s.prints, stdout(strings.Repeat(strings.Repeat("x", 1000)+"\n", 512)))
	}
	s.prints = append(s.prints, stdout(good))
	out, err := s.drive(t.Context(), t, func(job *agent.Job, _ *Driver) { job.Journal = kept })
	if err != nil || out.End != agent.EndFinal {
		t.Fatal(out, err)
	}
	size := 0
	for _, r := range kept.Records() {
		size += len(r.Data)
	}
	if size < agent.MaxOutput/2 || size > agent.MaxOutput+1<<20 {
		t.Errorf("%d bytes are kept", size)
	}
	if messages := out.Transcript.Messages; messages[len(messages)-1].Content != "[what follows is left out: more than 10 MiB]\n" {
		t.Errorf("%.100q", messages[len(messages)-1].Content)
	}
}

// PRC-8: a line that asks a person ends the program, unless something follows, or it is JSON or in the result.
func TestProgramThatAsks(t *testing.T) {
	for _, output := range []toolproto.ProgramOutput{stdout("? Which one\n"), stderr("Enter a name: "), stdout("Press any key"),
		stderr("Go on? [Y/n]\n"), stdout("Really [y/N] x"), stdout("Sure (yes/no)?\n")} {
		s := &sandbox{hangs: true, prints: []toolproto.ProgramOutput{stdout("working\n"), output}}
		_, err := s.drive(t.Context(), t, func(_ *agent.Job, d *Driver) { d.Limits.Prompt = time.Nanosecond })
		if company.CodeOf(err) != company.EAgent || !strings.Contains(err.Error(),
			"executor_blocked, INTERACTIVE_PROMPT: stdio-json asks: "+strings.TrimSpace(string(output.Data))) {
			t.Errorf("%q: %v", output.Data, err)
		}
	}
	for _, text := range []string{"Entering directory 'a'\n", "{\"text\": \"Go on? [Y/n]\"}\n", "Go on? [Y/n]\nyes\n", "Go on? [Y/n] y\n", "Enter the hall\n",
		"===RESULT===\nEnter "} {
		s := &sandbox{hangs: true, prints: []toolproto.ProgramOutput{stdout(text)}}
		_, err := s.drive(t.Context(), t, func(_ *agent.Job, d *Driver) {
			d.Limits = Limits{Prompt: time.Nanosecond, Silence: time.Nanosecond}
		})
		if company.CodeOf(err) != company.ETimeout {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A program that does not end after its result is ended, and its result counts.
func TestProgramThatStays(t *testing.T) {
	s := &sandbox{hangs: true, prints: []toolproto.ProgramOutput{stdout(good)}}
	out, err := s.drive(t.Context(), t, func(_ *agent.Job, d *Driver) { d.Limits.Final = time.Nanosecond })
	if err != nil || out.End != agent.EndFinal {
		t.Errorf("%+v, %v", out, err)
	}
}

// modelOf opens the model of a server.
type modelOf struct{ models *adapters.Models }

func (m modelOf) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return m.models.Open("strong", meter)
}

// driveWithModel runs a program that has a model.
func (s *sandbox) driveWithModel(
	t *testing.T, brain scripted.BrainFunc, change func(*agent.Job, *Driver),
) (agent.Outcome, error) {
	t.Helper()
	server, err := scripted.NewServer(brain, scriptedtest.OtherWires())
	if err != nil {
		t.Fatal(err)
	}
	models := adapters.NewModels(adapters.Registry{"openai": openai.Factory},
		[]adapters.Profile{{Name: "strong", Adapter: "openai", Model: "big", BaseURL: server.URL()}}, adapters.Deps{})
	defer func() { _ = errors.Join(models.Close(), server.Close()) }()
	return s.drive(t.Context(), t, func(job *agent.Job, d *Driver) {
		d.Models = modelOf{models}
		job.Allowance = budget.NewAllowance(company.Amount{MicroUSD: 1e9, Tokens: 1e9}, company.Amount{}, nil)
		if change != nil {
			change(job, d)
		}
	})
}

// TestProgramWithAModel: a program is told where its model is. Its turns are limited, and what ends its requests ends
// its run.
func TestProgramWithAModel(t *testing.T) {
	ok := func(scripted.Exchange) scripted.Reply { return scripted.Reply{Text: "ok"} }
	s := &sandbox{asks: 2, prints: []toolproto.ProgramOutput{stdout(good)}}
	out, err := s.driveWithModel(t, ok, nil)
	if err != nil || out.Turns != 2 || out.Spent.Tokens == 0 || len(out.ByModel) != 1 || s.model != nil ||
		s.asked.Env["COMPANY_MODEL_URL"] != "http://model" || s.asked.Env["COMPANY_MODEL"] != "big" {
		t.Errorf("%+v, %v, %v, %q", out, err, s.asked.Env, s.replies)
	}
	s = &sandbox{asks: 1, exit: 1}
	if _, err = s.driveWithModel(t, ok, nil); company.CodeOf(err) != company.EAgent {
		t.Errorf("it asked, so it began: %v", err)
	}
	s = &sandbox{asks: 4, hangs: true}
	out, err = s.driveWithModel(t, ok, func(job *agent.Job, d *Driver) {
		job.MaxTurns, d.Limits.Final = 3, time.Nanosecond
	})
	if err != nil || out.End != agent.EndTurns || out.Turns != 3 || s.saved != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	s = &sandbox{asks: 4, prints: []toolproto.ProgramOutput{stdout(good)}}
	out, err = s.driveWithModel(t, ok, func(job *agent.Job, _ *Driver) { job.MaxTurns = 3 })
	if err != nil || out.End != agent.EndFinal {
		t.Errorf("it was done before its model ended: %+v, %v", out, err)
	}
	s = &sandbox{asks: 1, prints: []toolproto.ProgramOutput{stdout("oh\n")}, exit: 1}
	_, err = s.driveWithModel(t, func(scripted.Exchange) scripted.Reply {
		return scripted.Reply{Fault: &scripted.Fault{Status: 401}}
	}, nil)
	if company.CodeOf(err) != company.EModelAuth || s.saved != 1 {
		t.Errorf("%v", err)
	}
}

// TestProgramIsStartedAgain: a wait for money that is longer than the program sits out ends it, and it is started again
// when the wait is over.
func TestProgramIsStartedAgain(t *testing.T) {
	s := &sandbox{asks: 1, prints: []toolproto.ProgramOutput{stdout("oh\n")}}
	_, err := s.driveWithModel(t, func(scripted.Exchange) scripted.Reply {
		s.prints = []toolproto.ProgramOutput{stdout(good)}
		return scripted.Reply{Text: "ok"}
	}, func(job *agent.Job, d *Driver) {
		// A slow machine may take longer than this also where nothing waits. The program is then started once more.
		d.Limits.Hold = 20 * time.Millisecond
		job.Allowance = budget.NewAllowance(company.Amount{}, company.Amount{},
			func(ctx context.Context, _, most company.Amount) (company.Amount, error) {
				if len(s.replies) > 0 {
					return most, nil
				}
				<-ctx.Done() // the first request finds no room
				return company.Amount{}, context.Cause(ctx)
			})
	})
	if err != nil || s.runs < 2 || !strings.Contains(s.replies[0], "the company waits for room in its budget") {
		t.Errorf("%d runs, %q, %v", s.runs, s.replies, err)
	}
}

// What a program prints is in its transcript, without control characters, and a later process reads the same.
func TestTranscriptOfAProgram(t *testing.T) {
	s := &sandbox{prints: []toolproto.ProgramOutput{stdout("one\n\x1b[31mtwo\n"), stderr("a warning\n"), stdout(good)}}
	kept := &agenttest.Journal{}
	var shown []agent.Event
	out, err := s.drive(t.Context(), t, func(job *agent.Job, _ *Driver) {
		job.Journal, job.OnEvent = kept, func(e agent.Event) { shown = append(shown, e) }
	})
	if err != nil {
		t.Fatal(err)
	}
	read, err := agent.ReadTranscript(t.Context(), "t12-01.2", "w1", nil,
		func(fn func(string, json.RawMessage) error) error {
			return kept.Read(t.Context(), func(_ int, kind string, data json.RawMessage) error {
				return fn(kind,
					data)
			})
		})
	if err != nil || len(read.Messages) != 3 || len(out.Transcript.Messages) != 3 {
		t.Fatalf("%+v, %v", read.Messages, err)
	}
	last := read.Messages[2]
	if last.Role != "assistant" || !strings.HasPrefix(last.Content, "one\n") || strings.Contains(last.Content,
		"\x1b") ||
		!strings.Contains(last.Content, "a warning\n===RESULT===\n") {
		t.Errorf("%q", last)
	}
	if len(shown) != 1 || shown[0].Kind != agent.Printed || shown[0].Text != "===END===" {
		t.Errorf("%+v", shown)
	}
	// The next holder of the run starts the program again, with the texts that the run began with.
	if _, err := s.drive(t.Context(), t, func(job *agent.Job, _ *Driver) {
		job.Journal, job.System, job.First = kept, "other rules", ""
	}); err != nil || !strings.Contains(string(s.asked.Stdin), `"goal":"ticket\n\nrules"`) {
		t.Errorf("%v, %s", err, s.asked.Stdin)
	}
	if _, err := s.drive(t.Context(), t, func(job *agent.Job, d *Driver) {
		job.Journal, d.Profile.Profile = kept, "another"
	}); company.CodeOf(err) != company.EConflict {
		t.Errorf("%v", err)
	}
}
