package cli

import (
	"testing"

	"company/internal/api"
)

// requestOf has the request of the API that does the same as a command, by the command: a
// route, or a kind of command. Those without one have the reason in docs/decisions/api.md.
var requestOf = map[string]string{
	"agents": "GET agents", "answer": "answer", "approve": "answer", "budget add": "raise_budget",
	"budget show": "GET costs/{id}", "cancel": "cancel", "config show": "GET config",
	"costs": "GET spending", "diff": "GET diffs/{id}", "doctor": "GET doctor", "feed": "GET events", "fire": "staff",
	"hire": "staff", "list": "GET tasks",
	"logs": "GET runs/{id}/transcript", "open": "POST tickets", "pause": "pause", "plan edit": "edit_plan",
	"plan show": "GET shown/{id}", "pr close": "POST prs/{id}/close", "pr diff": "GET diffs/{id}", "pr list": "GET prs",
	"pr show": "GET prs/{id}/page", "pr sync": "POST prs/sync", "project add": "add_project",
	"project list": "GET projects", "prompt": "GET prompts/{id}", "rollback": "roll_back",
	"evidence verify": "GET evidence/{id}", "project remove": "remove_project",
	"reject": "answer", "resume": "resume", "retry": "retry", "show": "GET shown/{id}", "status": "GET overview",
	"stop": "stop", "submit": "POST submissions",
	"tell": "tell", "version": "GET hello", "wait": "GET summaries/{id}",

	"bus convert": "", "cleanup": "GET leftovers",
	"completion": "", "config check": "", "config get": "GET config", "config schema": "", "config set": "POST config",
	"config unset": "POST config", "git trust-host": "", "help": "", "image build": "", "image explain": "",
	"image list": "", "image prune": "", "init": "", "mcp": "",
	"migrate": "", "pr checkout": "", "pr merge": "", "replay": "", "serve": "", "trust": "", "watch": "",
}

// TestVerbsHaveARequest: each command has a request of the API that does the same, or is one
// of those that stay on the machine (UI-4).
func TestVerbsHaveARequest(t *testing.T) {
	requests := map[string]bool{"": true}
	for _, r := range api.Routes() {
		requests[r.Method+" "+r.Path] = true
	}
	for _, k := range api.CommandKinds() {
		requests[k.Name] = true
	}
	left := map[string]bool{}
	for name := range requestOf {
		left[name] = true
	}
	for _, path := range leafCommands(Tree()) {
		request, known := requestOf[path]
		if !known || !requests[request] {
			t.Errorf("company %s: request %q, known %v: give it one, or a reason in docs/decisions/api.md", path, request, known)
		}
		delete(left, path)
	}
	for name := range left {
		if name != "help" && name != "completion" {
			t.Errorf("company %s is not a command", name)
		}
	}
}
