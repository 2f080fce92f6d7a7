package program

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"company/internal/agent"
	"company/internal/container/image"
	"company/internal/lib/safetext"
)

// codex is https://github.com/openai/codex. Its options and its output are those of the version below.
var codex = Profile{
	Name: "codex",
	Install: image.Program{Name: "codex", Version: "0.169.0", Package: "@openai/codex", Platform: "-linux-x64",
		Integrity: "sha512-o05NyAOCDygSPRo1yinzxvkRSdmsZyBD9E7mbpmjRanSfM8lypqWtQgEo4XfNkwhuCR2aFu8mlGOsQGFXVbVww==",
		Files:     map[string]string{"vendor/x86_64-unknown-linux-musl/bin/codex": "codex"}},
	Hold:      230 * time.Second, // it waited for 240 s
	asksModel: true,
	state:     []string{".codex/sessions"},
	launch:    launchCodex,
	newReader: func() reader { return &codexReader{} },
}

func launchCodex(s setup) (launch, error) {
	args := []string{"exec"}
	if s.session != "" {
		args = append(args, "resume", s.session)
	}
	args = append(args, "--json", "--skip-git-repo-check", "--ignore-user-config",
		// The container is its sandbox: Codex's own needs rights that there are none of.
		"--dangerously-bypass-approvals-and-sandbox", "-m", s.model.Model)
	options := []string{"model_provider=relay", "model_providers.relay.name=relay",
		"model_providers.relay.base_url=" + s.base + "/v1", "model_providers.relay.env_key=RELAY_KEY",
		"model_providers.relay.wire_api=responses", "web_search=disabled", "analytics.enabled=false"}
	if s.model.ContextTokens > 0 {
		options = append(options, fmt.Sprintf("model_context_window=%d", s.model.ContextTokens))
	}
	for _, option := range options {
		args = append(args, "-c", option)
	}
	return launch{args: append(args, "-"), env: map[string]string{"RELAY_KEY": "none"}, stdin: []byte(s.prompt)}, nil
}

// codexReader reads the lines of `codex exec --json`.
type codexReader struct {
	said   string // the last text
	failed string
	ended  bool

	session string
}

// codexLine is one line.
type codexLine struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Item     struct {
		ID      string          `json:"id"`
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Message string          `json:"message"`
		Command string          `json:"command"`
		Output  string          `json:"aggregated_output"`
		Exit    *int            `json:"exit_code"`
		Status  string          `json:"status"`
		Changes json.RawMessage `json:"changes"`
		Tool    string          `json:"tool"`
		Args    json.RawMessage `json:"arguments"`
	} `json:"item"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (r *codexReader) readLine(text []byte) (steps []agent.ProgramStep, isKnown bool) {
	var line codexLine
	if json.Unmarshal(text, &line) != nil || line.Type == "" {
		return nil, false
	}
	switch line.Type {
	case "thread.started":
		r.session = line.ThreadID
	case "turn.started":
		r.failed, r.ended = "", false
	case "item.completed":
		steps = r.readItem(line)
	case "turn.completed":
		r.ended = true
	case "turn.failed":
		r.ended, r.failed = true, cmp.Or(line.Error.Message, "an error without words")
		steps = []agent.ProgramStep{{Text: "error: " + safetext.EscapeLine(r.failed, 1000)}}
	case "error": // it may go on
		steps = []agent.ProgramStep{{Text: "error: " + safetext.EscapeLine(line.Message, 1000)}}
	}
	return steps, true
}

// readItem returns what the program says or does in an item.
func (r *codexReader) readItem(line codexLine) []agent.ProgramStep {
	item := line.Item
	step := agent.ProgramStep{Tool: item.Type, CallID: item.ID, IsError: item.Status == "failed"}
	switch item.Type {
	case "agent_message":
		r.said = item.Text
		return []agent.ProgramStep{{Text: safetext.Escape(item.Text)}}
	case "error":
		return []agent.ProgramStep{{Text: "error: " + safetext.EscapeLine(item.Message, 1000)}}
	case "reasoning", "todo_list", "":
		return nil
	case "command_execution":
		step.Args, step.Text = encodeArgs("command", item.Command), item.Output
		if item.Exit != nil && *item.Exit != 0 {
			step.Text = strings.TrimRight(item.Output, "\n") + fmt.Sprintf("\nexit code %d", *item.Exit)
		}
	case "file_change":
		step.Args, step.Text = encodeArgs("changes", item.Changes), item.Status
	default:
		step.Tool = cmp.Or(item.Tool, item.Type)
		step.Args, step.Text = string(item.Args), item.Status
	}
	return []agent.ProgramStep{step}
}

// encodeArgs returns the arguments of a call.
func encodeArgs(name string, value any) string {
	data, err := json.Marshal(map[string]any{name: value})
	if err != nil { // a member that is missing is no JSON
		return "{}"
	}
	return string(data)
}

func (r *codexReader) readSession() string { return r.session }

func (r *codexReader) isFinal() bool { return r.ended }

func (r *codexReader) readVerdict() verdict { return judgeWords(r.said, r.failed, r.ended) }
