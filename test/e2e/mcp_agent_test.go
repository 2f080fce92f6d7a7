package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// agentInstruction is what the user asks of an agent in an editor.
const agentInstruction = "Submit to company: add a farewell. Tell me how it ends."

// desktopAgent is the model of a coding agent, which has the tools of company under the name
// of that server, and the model of the company's own roles. A reply depends on nothing but
// the request.
type desktopAgent struct {
	staff *staff

	mu   sync.Mutex
	sent scripted.Exchange // the newest request of the agent
}

func (a *desktopAgent) Reply(x scripted.Exchange) scripted.Reply {
	switch {
	case x.HasHeader:
		return a.staff.Reply(x)
	case len(x.Tools) == 0: // the agent asks for a title of the conversation
		return scripted.Reply{Text: "A farewell"}
	}
	a.mu.Lock()
	a.sent = x
	a.mu.Unlock()
	return askFarewell(x)
}

// takeSent is the newest request of the agent: all that its model was ever sent.
func (a *desktopAgent) takeSent() scripted.Exchange {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sent
}

// installOpenCode installs the agent from npm, and gives the path of its program. Its
// install script links the binary of this machine.
func installOpenCode(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	install := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "opencode-ai@1.18.33")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "node_modules", ".bin", "opencode")
}

// configureOpenCode writes the config of docs/mcp.md for the checkout of h, with flags behind
// company mcp, and the model's server of h.
func configureOpenCode(t *testing.T, h *testenv.House, flags ...string) (env []string) {
	t.Helper()
	cache := ""
	for _, kv := range h.Env {
		if value, ok := strings.CutPrefix(kv, "XDG_CACHE_HOME="); ok {
			cache = value
		}
	}
	config, err := json.Marshal(m{
		"$schema": "https://opencode.ai/config.json", "model": "local/scripted",
		"provider": m{"local": m{"npm": "@ai-sdk/openai-compatible", "options": m{"baseURL": h.Model.URL(), "apiKey": "none"},
			"models": m{"scripted": m{}}}},
		"mcp": m{"company": m{"type": "local", "command": append([]string{h.Bin, "mcp"}, flags...), "enabled": true,
			"environment": m{"XDG_CACHE_HOME": cache}}}, // of the machine: it has the images
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.Dir, "opencode.json")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	// opencode takes PWD for its project, and not its working directory.
	return append(slices.Clone(h.Env), "PWD="+h.Repo, "TMPDIR="+h.Dir, "OPENCODE_CONFIG="+path,
		"XDG_DATA_HOME="+filepath.Join(h.Dir, "data"), "XDG_CACHE_HOME="+filepath.Join(h.Dir, "cache"),
		"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
}

// askOpenCode gives the agent a message, and gives what it prints: a JSON event a line.
func askOpenCode(t *testing.T, h *testenv.House, program string, env []string, message string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "run", "--format", "json", message)
	cmd.Dir, cmd.Env, cmd.WaitDelay = h.Repo, env, 10*time.Second
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, errs.String())
	}
	return string(out)
}

// TestMCPAgent: a coding agent from npm, opencode, gets company's tools by its own config
// and speaks to a model over OpenAI's protocol. Asked to submit, it lists, submits, waits,
// shows the question, answers it, waits for the end, and reads the diff and the office
// (SUB-1). Before, without --allow-write, it has no tool to submit and reads why. The model
// sees the tools and the answers as that agent passes them on.
func TestMCPAgent(t *testing.T) {
	hosttest.Long(t, "another client of the protocol than the one of TestMCP: a whole agent")
	t.Parallel()
	agent := &desktopAgent{staff: &staff{
		worker: replyByRun(replyInSteps(call("ask_president", m{"question": "Shall it say goodbye or farewell?"})),
			saysGoodbye()),
	}}
	h := openTinyProject(t, agent)
	program := installOpenCode(t)

	out := askOpenCode(t, h, program, configureOpenCode(t, h), agentInstruction)
	sent := agent.takeSent()
	if !strings.Contains(out, "It may not submit.") ||
		!strings.Contains(sent.Messages[0].Content, "when your user adds --allow-write") {
		t.Errorf("the agent that only reads:\n%s\n%s", out, sent.Messages[0].Content)
	}
	checkOffered(t, sent, "costs", "diff", "feed", "list", "logs", "pr_list", "pr_show", "show", "status", "wait")
	checkRead(t, sent, "company_show", "error[E_NOT_FOUND]: there is no task t1")
	if _, err := os.Stat(filepath.Join(h.Dir, "state", "company")); !os.IsNotExist(err) {
		t.Errorf("an agent that only reads made an office: %v", err)
	}

	out = askOpenCode(t, h, program, configureOpenCode(t, h, "--allow-write"), agentInstruction)
	sent = agent.takeSent()
	if !strings.Contains(out, "It is done: pull request #1.") {
		t.Fatalf("the agent did not come to its end:\n%s", out)
	}
	checkOffered(t, sent, "answer", "cancel", "costs", "diff", "feed", "list", "logs", "pause", "pr_list", "pr_show",
		"resume", "show", "status", "stop", "submit", "tell", "wait")
	for tool, want := range map[string]string{
		"company_list": "no task", "company_submit": "t1 is submitted", "company_wait": "[RESULT] COMPLETE",
		"company_answer": "A company continues t1",
		"company_show":   "Shall it say goodbye or farewell?", "company_diff": "+echo goodbye",
		"read_mcp_resource": `"tasks"`,
	} {
		checkRead(t, sent, tool, want)
	}
	checkDelivered(t, h, 1, 1, 1)
	var list struct{ Tasks []struct{ ID, Status string } }
	h.JSON(&list, "list")
	if len(list.Tasks) != 1 || list.Tasks[0].Status != "completed" {
		t.Errorf("the office's tasks: %+v", list.Tasks)
	}
	runAndExpect(t, h, []string{"answer goodbye, please"}, "show", "a1")
}

// checkOffered checks which of company's tools an agent offers its model: each with a
// description, and with one for each of its arguments.
func checkOffered(t *testing.T, sent scripted.Exchange, want ...string) {
	t.Helper()
	var got []string
	for _, tool := range sent.Tools {
		name, ours := strings.CutPrefix(tool.Name, "company_")
		if !ours {
			continue
		}
		got = append(got, name)
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || tool.Description == "" {
			t.Errorf("%s: %v, %q", tool.Name, err, tool.Description)
		}
		for property, p := range schema.Properties {
			if p.Description == "" {
				t.Errorf("%s: %s has no description", tool.Name, property)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the model is offered %v, want %v", got, want)
	}
}

// checkRead checks that the model read an answer of a tool.
func checkRead(t *testing.T, sent scripted.Exchange, tool, want string) {
	t.Helper()
	if all := strings.Join(sent.Results(tool), "\n"); !strings.Contains(all, want) {
		t.Errorf("%s: no %q:\n%s", tool, want, all)
	}
}

// askFarewell is the model behind the agent of TestMCPAgent.
func askFarewell(x scripted.Exchange) scripted.Reply {
	last := x.Messages[len(x.Messages)-1].Content
	has := func(tool, want string) bool {
		return slices.ContainsFunc(x.Results(tool), func(text string) bool { return strings.Contains(text, want) })
	}
	none := func(tool string) bool { return len(x.Results(tool)) == 0 }
	wait := call("company_wait", m{"tasks": []string{"t1"}, "timeout_seconds": 120})
	switch {
	case !x.Offers("company_submit") && none("company_show"):
		return call("company_show", m{"id": "t1"})
	case !x.Offers("company_submit") && !strings.Contains(last, "unavailable tool"): // the model tries all the same
		return call("company_submit", m{"instruction": "add a farewell"})
	case !x.Offers("company_submit"):
		return scripted.Reply{Text: "It may not submit."}
	case none("company_list"):
		return call("company_list", m{})
	case none("company_submit"):
		return call("company_submit", m{"instruction": "add a farewell", "request_id": "farewell"})
	case len(x.Results("company_wait")) > 20:
		return scripted.Reply{Text: "It does not end."}
	case !has("company_wait", "a1"):
		return wait
	case none("company_show"):
		return call("company_show", m{"id": "a1"})
	case none("company_answer"):
		return call("company_answer", m{"question": "a1", "text": "goodbye, please"})
	case !has("company_wait", "[RESULT] COMPLETE"):
		return wait
	case none("company_diff"):
		return call("company_diff", m{"id": "#1"})
	case none("read_mcp_resource"):
		return call("read_mcp_resource", m{"server": "company", "uri": "company://office"})
	}
	return scripted.Reply{Text: "It is done: pull request #1."}
}
