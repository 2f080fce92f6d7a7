package e2e

import (
	"maps"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/present/feed"
	"company/test/testenv"
)

// houseWorker makes a program of the repository the worker. more is added to its profile.
func houseWorker(more string, bin ...string) string {
	return "  house: {adapter: cli, program: stdio-json, bin: [" + strings.Join(bin, ", ") + "]" + more + "}\n" +
		"agents: {worker: {model: house}}\n"
}

// TestProgramIsAWorker: another program does the ticket as it is, in the locked container, without a model. It gets
// the ticket as JSON; its work passes the checks, the reviewer and the merge like any other, and its words are in the
// log (ADP-9, ADP-10, ADP-12).
func TestProgramIsAWorker(t *testing.T) {
	t.Parallel()
	files := maps.Clone(tinyProject())
	files["agent.sh"] = "cat; echo\necho looking around >&2\necho echo goodbye >farewell.sh\n" +
		"echo 'test \"$(sh farewell.sh)\" = goodbye' >checks/farewell.sh\n" +
		"echo ===RESULT===\necho '{\"success\": true, \"summary\": \"There is a farewell\"}'\necho ===END===\n"
	h := testenv.New(t, &staff{manager: submitPlan(farewellTicket())}, files)
	h.Config(houseWorker("", "/bin/sh", "/work/repo/agent.sh") + tinyGates)
	waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	checkDelivered(t, h, 1, 1, 1)
	logs := h.MustRun(patience, "logs", "t1-01.1").Stdout
	for _, want := range []string{`"taskId":"t1-01"`, `"branch":"agent/t1-01-`, "looking around", "There is a farewell"} {
		if !strings.Contains(logs, want) {
			t.Errorf("the log lacks %q:\n%s", want, logs)
		}
	}
	runAndExpect(t, h, []string{"There is a farewell"}, "show", "t1-01", "-v")
	// A replay starts no program: it takes the recorded commit, and does the rest again.
	runAndExpect(t, h, []string{"the work of t1-01.1 is taken from the record: stdio-json"}, "replay", "t1")
	if calls := h.Model.Calls().ByRun["t1-01.1"]; calls != 0 {
		t.Errorf("a model was asked %d times", calls)
	}
}

// goAgent is an agent in Go: it does what its model asks for, and knows of the company its input, its output and where
// the model is.
const goAgent = `package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

type message struct {
	Role    string ` + "`json:\"role\"`" + `
	Content string ` + "`json:\"content\"`" + `
	Calls   []call ` + "`json:\"tool_calls,omitempty\"`" + `
	ID      string ` + "`json:\"tool_call_id,omitempty\"`" + `
}

type call struct {
	ID       string ` + "`json:\"id\"`" + `
	Type     string ` + "`json:\"type\"`" + `
	Function struct {
		Name      string ` + "`json:\"name\"`" + `
		Arguments string ` + "`json:\"arguments\"`" + `
	} ` + "`json:\"function\"`" + `
}

func main() {
	var ticket struct{ Goal string }
	check(json.NewDecoder(os.Stdin).Decode(&ticket))
	for _, line := range os.Environ() {
		if strings.Contains(line, "MODEL_KEY") {
			fmt.Println("a key:", line)
		}
	}
	said := []message{{Role: "user", Content: ticket.Goal[strings.Index(ticket.Goal, "#company"):]}}
	for {
		reply := ask(said)
		said = append(said, reply)
		if len(reply.Calls) == 0 {
			fmt.Printf("===RESULT===\n{\"success\": true, \"summary\": %q}\n===END===\n", reply.Content)
			return
		}
		for _, c := range reply.Calls {
			var args struct{ Command string }
			check(json.Unmarshal([]byte(c.Function.Arguments), &args))
			out, err := exec.Command("sh", "-c", args.Command).CombinedOutput()
			fmt.Println("ran", args.Command)
			said = append(said, message{Role: "tool", ID: c.ID, Content: fmt.Sprintf("%s%v", out, err)})
		}
	}
}

func ask(said []message) message {
	body, err := json.Marshal(map[string]any{"model": os.Getenv("COMPANY_MODEL"), "messages": said, "store": true,
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "sh",
			"parameters": map[string]any{"type": "object"}}}, map[string]any{"type": "web_search"}}})
	check(err)
	answer, err := http.Post(os.Getenv("COMPANY_MODEL_URL")+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	check(err)
	defer answer.Body.Close()
	var reply struct{ Choices []struct{ Message message } }
	check(json.NewDecoder(answer.Body).Decode(&reply))
	return reply.Choices[0].Message
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`

// openGoAgent opens the calculator, whose worker is the agent in Go, and the staff that has it add Triple.
func openGoAgent(t *testing.T, stops ...*stop) *testenv.House {
	t.Helper()
	brain := tripleStaff()
	brain.stops = stops
	brain.worker = replyInSteps(
		call("sh",
			m{"command": "printf 'package calc\\n\\n// Triple is three times n.\\nfunc Triple(n int) int { return 3 * n }\\n' >triple.go"}),
		call("sh",
			m{"command": "printf 'package calc\\n\\nimport \"testing\"\\n\\nfunc TestTriple(t *testing.T) {\\n\\tif " +
				"Triple(2) != 6 {\\n\\t\\tt.Error(Triple(2))\\n\\t}\\n}\\n' >triple_test.go; git add -A; git commit -m 'Add Triple'"}),
		scripted.Reply{Text: "Triple is there"},
	)
	files := calculator()
	files["agent/main.go"] = goAgent
	h := testenv.New(t, brain, files)
	h.Config(houseWorker(", via: default", "/usr/bin/env", "go", "run", "./agent"))
	return h
}

// TestProgramAsksItsModel: an agent in Go asks the model of its profile through the company, which adds the key, and
// counts its turns and its cost like those of any worker.
func TestProgramAsksItsModel(t *testing.T) {
	t.Parallel()
	h := openGoAgent(t)
	waitForSummary(t, h.Start("submit", "Add Triple\n\n"+tripleDescription), 0)
	checkDelivered(t, h, 1, 1, 1)
	if calls := h.Model.Calls().ByRun["t1-01.1"]; calls != 3 {
		t.Errorf("the model was asked %d times", calls)
	}
	if out := runAndExpect(t, h, []string{"ran printf"}, "logs", "t1-01.1"); strings.Contains(out, "a key:") {
		t.Errorf("the program has a key:\n%s", out)
	}
	runAndExpect(t, h, []string{"3 turns", "Triple is there"}, "show", "t1-01", "-v")
	for _, one := range h.Model.Requests() {
		if strings.Contains(string(one.Body), "web_search") || strings.Contains(string(one.Body), `"store"`) {
			t.Errorf("passed on: %s", one.Body)
		}
	}
	checkSecretNowhere(t, h, canary)
}

// TestProgramIsKilledWithTheCompany: after a kill the run of a program begins anew, and what it had spent stays spent.
func TestProgramIsKilledWithTheCompany(t *testing.T) {
	t.Parallel()
	asked := stopAt("t1-01.1", 1)
	h := openGoAgent(t, asked)
	t.Cleanup(asked.release)
	p := h.Start("submit", "Add Triple\n\n"+tripleDescription)
	asked.wait(t, p)
	p.Kill()
	asked.release()
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	runAndExpect(t, h, []string{"t1-01.1", "4 turns", "Triple is there"}, "show", "t1-01", "-v")
	if calls := h.Model.Calls().ByRun["t1-01.1"]; calls != 5 {
		t.Errorf("the model was asked %d times", calls)
	}
}

// pythonAgent asks its model what to say, and is blocked.
const pythonAgent = `import json, os, sys, urllib.request
ticket = json.load(sys.stdin)
goal = ticket["goal"][ticket["goal"].index("#company"):]
body = json.dumps({"model": "any", "messages": [{"role": "user", "content": goal}]}).encode()
answer = urllib.request.urlopen(os.environ["COMPANY_MODEL_URL"] + "/v1/chat/completions", body)
words = json.load(answer)["choices"][0]["message"]["content"]
print("===RESULT===", json.dumps({"success": False, "summary": words}), "===END===", sep="\n")
`

// TestProgramIsBlocked: an agent in Python that cannot go on is no dead end. The company answers with the reason while the
// manager thinks, who gives the ticket to a worker of the company's own.
func TestProgramIsBlocked(t *testing.T) {
	t.Parallel()
	work := writeFilesAndFinish("Know a word", "words.py", "word = 'a'\n")
	brain := &staff{
		manager: replyByRun(submitPlan([]m{ticket("Know a word", "Write words.py.", "words.py")}),
			replyInSteps(call("change_model", m{"model": "default", "advice": "There is no schema."}))),
		worker: func(x scripted.Exchange) scripted.Reply {
			if len(x.Tools) == 0 {
				return scripted.Reply{Text: "the schema is missing"}
			}
			return work(x)
		},
		stops: []*stop{stopAt("t1-plan.2", 0)},
	}
	h := testenv.New(t, brain, map[string]string{"agent.py": pythonAgent, "requirements.txt": "",
		"test_words.py": "import unittest\n\nclass Words(unittest.TestCase):\n    def test_none(self):\n        pass\n"})
	t.Cleanup(brain.stops[0].release)
	h.LetManagerPlan()
	h.Config("  house: {adapter: cli, program: stdio-json, bin: [/usr/bin/env, python3, agent.py], via: default}\n" +
		"agents: {worker: {model: house, escalate_to: [default]}}\ngates: {lint: none, test: python3 -m unittest -v}\n")
	p := h.Start("submit", "know a word")
	brain.stops[0].wait(t, p)
	runAndExpect(t, h, []string{"the schema is missing"}, "show", "t1-01", "-v")
	runAndExpect(t, h, []string{"the schema is missing"}, "logs", "t1-01.1")
	runAndExpect(t, h, []string{"stdio-json by scripted (cli, profile house)"}, "show", "t1-01.1")
	runAndExpect(t, h, []string{"know a word"}, "status")
	brain.stops[0].release()
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	runAndExpect(t, h, []string{"scripted (openai, profile default)"}, "show", "t1-01.2")
}

// TestProgramThatFails: a program that the image lacks is no fault of the work. It is tried again, and then a person is
// asked (ADP-12).
func TestProgramThatFails(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, &staff{manager: submitPlan(farewellTicket())})
	h.Config(houseWorker("", "/opt/none/agent") + tinyGates)
	p := h.Start("submit", "say goodbye")
	p.Until(patience, "the failure", func(it feed.Item) bool {
		return strings.Contains(it.Text, "stdio-json did not begin: there is no /opt/none/agent")
	})
	runAndExpect(t, h, []string{"there is no /opt/none/agent"}, "show", "t1-01", "-v")
	runAndExpect(t, h, []string{"backend_unavailable"}, "help", "E_AGENT_START")
	h.MustRun(patience, "stop")
}
