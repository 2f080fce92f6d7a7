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

// claude is Claude Code, https://code.claude.com. Its options and its output are those of the version below.
var claude = Profile{
	Name: "claude",
	Install: image.Program{Name: "claude", Version: "2.1.330", Package: "@anthropic-ai/claude-code-linux-x64",
		Integrity: "sha512-9Gn+V7DtJ8M1nztP9CeDVl9g3RtrepI7rOFTyPRRnZe8D6zebIHKmC7OvBauucuAP0X0k85SDN/LPVZyjsGezQ==",
		Files:     map[string]string{"claude": "claude"}},
	Hold:      230 * time.Second, // it waited for 240 s
	asksModel: true,
	state:     []string{".claude/projects"},
	launch:    launchClaude,
	newReader: func() reader { return &claudeReader{calls: map[string]claudeBlock{}} },
}

func launchClaude(s setup) (launch, error) {
	out := launch{
		args: []string{"-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config",
			"--permission-mode", "bypassPermissions", "--model", s.model.Model,
			// There is no network, nobody waits for what runs later, and the branch and its folder are given.
			"--disallowed-tools",
			"WebFetch,WebSearch,CronCreate,CronDelete,CronList,ScheduleWakeup,EnterWorktree,ExitWorktree"},
		env: map[string]string{"ANTHROPIC_BASE_URL": s.base, "ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1",
			"CLAUDE_CODE_MAX_OUTPUT_TOKENS": fmt.Sprint(s.model.MaxOutput),
			"CLAUDE_CODE_SUBAGENT_MODEL":    s.model.Model, "ANTHROPIC_DEFAULT_HAIKU_MODEL": s.model.Model},
		stdin: []byte(s.prompt),
	}
	if s.session != "" {
		out.args = append(out.args, "--resume", s.session)
	}
	return out, nil
}

// claudeReader reads the lines of `claude -p --output-format stream-json`.
type claudeReader struct {
	calls  map[string]claudeBlock // without a result yet, by id
	said   string                 // the last text
	failed string
	ended  bool

	session string
}

// claudeBlock is a part of a message.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"` // of a result: a text, or parts
	IsError   bool            `json:"is_error"`

	at time.Time
}

// claudeLine is one line.
type claudeLine struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	SessionID string    `json:"session_id"`
	Parent    *string   `json:"parent_tool_use_id"` // of the words of an agent that it started itself
	Timestamp time.Time `json:"timestamp"`
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Errors  []string `json:"errors"`
}

func (r *claudeReader) readLine(text []byte) (steps []agent.ProgramStep, isKnown bool) {
	var line claudeLine
	if json.Unmarshal(text, &line) != nil || line.Type == "" || line.SessionID == "" {
		return nil, false
	}
	r.session = line.SessionID
	switch line.Type {
	case "assistant", "user":
		r.failed, r.ended = "", false
		var blocks []claudeBlock
		_ = json.Unmarshal(line.Message.Content, &blocks) // a text is no step of the program's
		for _, block := range blocks {
			block.at = line.Timestamp
			if step, ok := r.readBlock(block, line.Parent == nil); ok {
				steps = append(steps, step)
			}
		}
	case "result":
		r.ended = true
		if line.IsError {
			r.failed = cmp.Or(line.Result, strings.Join(line.Errors, "; "), line.Subtype, "an error without words")
			steps = []agent.ProgramStep{{Text: "error: " + safetext.EscapeLine(r.failed, 1000)}}
		} else {
			r.said = cmp.Or(line.Result, r.said)
		}
	}
	return steps, true
}

// maxOpenCalls limits the calls whose results are awaited, because each keeps its arguments.
const maxOpenCalls = 64

// readBlock returns what the program says or does in a block. isOwn is false for the words of an agent that it started.
func (r *claudeReader) readBlock(block claudeBlock, isOwn bool) (step agent.ProgramStep, ok bool) {
	switch block.Type {
	case "text":
		if isOwn {
			r.said = block.Text
		}
		return agent.ProgramStep{Text: safetext.Escape(block.Text)}, true
	case "tool_use":
		if len(r.calls) < maxOpenCalls {
			r.calls[block.ID] = block
		}
	case "tool_result":
		call := r.calls[block.ToolUseID]
		delete(r.calls, block.ToolUseID)
		step := agent.ProgramStep{Tool: cmp.Or(call.Name, "unknown"), CallID: block.ToolUseID, Args: string(call.Input),
			Text: joinParts(block.Content), IsError: block.IsError}
		if !call.at.IsZero() && block.at.After(call.at) {
			step.Took = block.at.Sub(call.at)
		}
		return step, true
	}
	return agent.ProgramStep{}, false
}

// joinParts returns the text of a result, which may be a list of parts.
func joinParts(content json.RawMessage) string {
	var text string
	var parts []claudeBlock
	switch {
	case json.Unmarshal(content, &text) == nil:
	case json.Unmarshal(content, &parts) == nil:
		for _, part := range parts {
			text += cmp.Or(part.Text, "["+part.Type+"]") + "\n"
		}
	}
	return text
}

func (r *claudeReader) readSession() string { return r.session }

func (r *claudeReader) isFinal() bool { return r.ended }

func (r *claudeReader) readVerdict() verdict { return judgeWords(r.said, r.failed, r.ended) }
