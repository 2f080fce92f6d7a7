package e2e

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"company/internal/lib/hosttest"
	"company/test/safebuffer"
	"company/test/testenv"
)

// callTool calls a tool of a company mcp, and gives its text and whether it is an error.
func callTool(t *testing.T, s *mcp.ClientSession, tool string, args m) (text string, failed bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, c := range r.Content {
		text += c.(*mcp.TextContent).Text + "\n"
	}
	return text, r.IsError
}

// startMCP starts company mcp and connects the SDK's client to its stdio.
func startMCP(t *testing.T, h *testenv.House, args ...string) *mcp.ClientSession {
	t.Helper()
	cmd := h.Command(append([]string{"mcp"}, args...)...)
	var errs safebuffer.Buffer
	cmd.Stderr = &errs
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(
		t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil || cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("company mcp ended: %v, %v\n%s", err, cmd.ProcessState, errs.String())
		}
	})
	return s
}

// TestMCP: a client of the Model Context Protocol submits, waits, and reads what came of it,
// at an office that is not there yet, that a company starts apart for it, and that another
// process serves and then leaves (SUB-1).
func TestMCP(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, farewells())
	s := startMCP(t, h, "--allow-write")
	expect := func(tool string, args m, want ...string) {
		t.Helper()
		text, failed := callTool(t, s, tool, args)
		for _, w := range want {
			if failed || !strings.Contains(text, w) {
				t.Errorf("%s %v: no %q, failed %v:\n%s", tool, args, w, failed, text)
			}
		}
	}
	finish := func(task string) {
		t.Helper()
		for range 20 {
			text, failed := callTool(t, s, "wait", m{"tasks": []string{task}, "timeout_seconds": 60})
			if failed {
				t.Fatal(text)
			}
			if !strings.Contains(text, "call wait again") {
				if !strings.Contains(text, "COMPLETE") || strings.Contains(text, "INCOMPLETE") {
					t.Fatalf("%s: %s", task, text)
				}
				return
			}
		}
		t.Fatalf("%s does not end", task)
	}

	expect("status", m{}, "data")
	if text, failed := callTool(t, s, "show", m{"id": "t1"}); !failed || !strings.Contains(text, "E_NOT_FOUND") {
		t.Errorf("a task of no office: %s", text)
	}
	if text, failed := callTool(t, s, "approve", m{"question": "a1"}); !failed ||
		!strings.Contains(text, "started without --allow-approve") {
		t.Errorf("approve without its flag: %s", text)
	}

	once := m{"instruction": "say goodbye", "request_id": "one"}
	expect("submit", once, "t1 is submitted")
	expect("submit", once, "t1 is submitted") // the same request is done once
	finish("t1")
	checkDelivered(t, h, 1, 1, 1)
	expect("show", m{"id": "t1"}, "say goodbye")
	expect("diff", m{"id": "t1"}, "diff --git", "--- data ")
	expect("diff", m{"id": "#1"}, "diff --git")
	expect("logs", m{"id": "t1-01"}, "run t1-01.1")
	expect("pr_list", m{}, "#1")
	expect("pr_show", m{"pull_request": "1"}, "#1  open")
	if h.Background() == 0 {
		t.Error("no company works in the background")
	}

	p := startServing(t, h) // it takes the office over
	again := m{"instruction": "say goodbye again", "attach": []m{{"name": "spec.md", "text": "# Goodbye\n"}}}
	if text, failed := callTool(t, s, "submit",
		m{"instruction": "say goodbye again", "attach": []m{{"name": "spec.pdf", "base64": "JVBERi0xLjcK"}}}); !failed ||
		!strings.Contains(text, "it is a PDF") || !strings.Contains(text, "E_USAGE") {
		t.Errorf("a PDF: %s", text)
	}
	expect("submit", again, "t2 is submitted")
	expect("show", m{"id": "t2"}, "spec.md")
	finish("t2")
	expect("status", m{}, "running (pid ")
	endServing(t, p)
	expect("status", m{"all": true}, "say goodbye again")
	r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "company://tasks/t2"})
	if err != nil || !strings.Contains(r.Contents[0].Text, `"status":"completed"`) {
		t.Errorf("%v: %+v", err, r)
	}
}

// TestMCPOutlivesItsCompany: the company that serves the office ends in the middle of a wait.
// The wait says that the task rests, and the next call is answered all the same.
func TestMCPOutlivesItsCompany(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	held := stopAt("t1-01.1", 1)
	h := openFarewells(t, held)
	p := startServing(t, h)
	s := startMCP(t, h, "--allow-write")
	if text, failed := callTool(t, s, "submit", m{"instruction": "say goodbye"}); failed {
		t.Fatal(text)
	}
	held.wait(t, p)
	waited := make(chan string, 1)
	go func() {
		r, err := s.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "wait", Arguments: m{"tasks": []string{"t1"}, "timeout_seconds": 300}})
		if err != nil {
			waited <- err.Error()
			return
		}
		waited <- r.Content[0].(*mcp.TextContent).Text
	}()
	endServing(t, p)
	held.release()
	if text := <-waited; !strings.Contains(text, "INCOMPLETE") {
		t.Errorf("the wait: %s", text)
	}
	if text, failed := callTool(t, s, "show", m{"id": "t1"}); failed || !strings.Contains(text, "say goodbye") {
		t.Errorf("after the end: %s", text)
	}
	if text, failed := callTool(t, s, "cancel", m{"task": "t1"}); failed || !strings.Contains(text, "t1 is cancelled") {
		t.Errorf("cancel: %s", text)
	}
}

// TestMCPPiped: requests that a pipe brings are answered before the end, and stdout has
// nothing else.
func TestMCPPiped(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openTinyProject(t, farewells())
	cmd := h.Command("mcp")
	cmd.Stdin = strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"status","arguments":{}}}
`)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if !strings.HasPrefix(line, `{"jsonrpc":"2.0"`) {
			t.Errorf("stdout has %q", line)
		}
	}
	if !strings.Contains(out.String(), `"id":3`) || strings.Contains(out.String(), `"submit"`) || errs.Len() > 0 {
		t.Errorf("%s\n%s", out.String(), errs.String())
	}
}

// TestMCPInspector: the client that the protocol's makers publish, in another language than
// ours, lists the tools, calls one, and reads a resource.
func TestMCPInspector(t *testing.T) {
	hosttest.Long(t, "another client of the protocol than the one of TestMCP")
	t.Parallel()
	h := openTinyProject(t, farewells())
	dir := t.TempDir()
	install := exec.CommandContext(
		t.Context(), "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
		"@modelcontextprotocol/inspector@2.12.0")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--method", "tools/list"}, `"name": "pr_show"`},
		{[]string{"--method", "tools/call", "--tool-name", "status"}, "--- data "},
		{[]string{"--method", "tools/call", "--tool-name", "show", "--tool-arg", "id=t1"}, "E_NOT_FOUND"},
		{[]string{"--method", "resources/read", "--uri", "company://office"}, "needs_you"},
	} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules", ".bin", "mcp-inspector"),
			append([]string{"--cli", h.Bin, "mcp"}, c.args...)...)
		cmd.Dir, cmd.Env = h.Repo, h.Env
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
}
