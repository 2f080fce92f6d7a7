package program

import (
	"cmp"
	"encoding/json"
	"time"

	"company/internal/agent"
	"company/internal/container/image"
	"company/internal/lib/safetext"
)

// opencode is https://opencode.ai. Its options and its output are those of the version below.
var opencode = Profile{
	Name: "opencode",
	Install: image.Program{Name: "opencode", Version: "1.18.33",
		// The build for processors without AVX2 runs everywhere.
		Package:   "opencode-linux-x64-baseline",
		Integrity: "sha512-1KQGBiiDDeL/VHHbHkOvvFo8Jr97WT5+C1tear+p7IcDTnXgVHXqIjU4O4jM4mHQzykTP2i884FCnW5LDa+zCA==",
		Files:     map[string]string{"bin/opencode": "opencode"}},
	Hold:      230 * time.Second, // it waited for 240 s
	asksModel: true,
	state:     []string{".local/share/opencode"},
	launch:    launchOpencode,
	newReader: func() reader { return &opencodeReader{} },
}

func launchOpencode(s setup) (launch, error) {
	type limit struct {
		Context int `json:"context"`
		Output  int `json:"output"`
	}
	type model struct {
		Name  string `json:"name"`
		Limit limit  `json:"limit"`
	}
	config, err := json.Marshal(map[string]any{
		"snapshot": false, "share": "disabled", "enabled_providers": []string{"relay"}, "model": "relay/m",
		"small_model": "relay/m",
		"provider": map[string]any{"relay": map[string]any{"npm": "@ai-sdk/openai-compatible", "name": "relay",
			"options": map[string]any{"baseURL": s.base + "/v1", "apiKey": "none"},
			"models": map[string]any{"m": model{s.model.Model,
				limit{cmp.Or(s.model.ContextTokens, agent.AssumedContext), s.model.MaxOutput}}}}},
	})
	out := launch{env: map[string]string{"OPENCODE_CONFIG_CONTENT": string(config), "OPENCODE_DISABLE_AUTOUPDATE": "1",
		"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}}
	// As an argument the prompt would be put into quotes, and could not be longer than 128 KiB.
	out.args = []string{"run", "--format", "json", "--auto", "--pure", "-m", "relay/m"}
	if s.session != "" {
		out.args = append(out.args, "--session", s.session)
	}
	out.stdin = []byte(s.prompt)
	return out, err
}

// opencodeReader reads the lines of `opencode run --format json`.
type opencodeReader struct {
	reason string // of the last finished step
	said   string // the last text
	failed string

	session string
}

// opencodeLine is one line.
type opencodeLine struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionID"`
	Part      struct {
		Text   string `json:"text"`
		Reason string `json:"reason"`
		Tool   string `json:"tool"`
		CallID string `json:"callID"`
		State  struct {
			Status string                     `json:"status"`
			Input  json.RawMessage            `json:"input"`
			Output string                     `json:"output"`
			Error  string                     `json:"error"`
			Time   struct{ Start, End int64 } // in milliseconds
		} `json:"state"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

func (r *opencodeReader) readLine(text []byte) (steps []agent.ProgramStep, isKnown bool) {
	var line opencodeLine
	if json.Unmarshal(text, &line) != nil || line.Type == "" || line.SessionID == "" {
		return nil, false
	}
	part := line.Part
	r.session = line.SessionID
	switch line.Type {
	case "step_start":
		r.reason = ""
	case "step_finish":
		r.reason = part.Reason
	case "text":
		r.said = part.Text
		steps = []agent.ProgramStep{{Text: safetext.Escape(part.Text)}}
	case "tool_use":
		steps = []agent.ProgramStep{{Tool: part.Tool, CallID: part.CallID, Args: string(part.State.Input),
			Text: cmp.Or(part.State.Error, part.State.Output), IsError: part.State.Status == "error",
			Took: time.Duration(part.State.Time.End-part.State.Time.Start) * time.Millisecond}}
	case "error":
		r.failed = cmp.Or(line.Error.Data.Message, line.Error.Name, "an error without words")
		steps = []agent.ProgramStep{{Text: "error: " + safetext.EscapeLine(r.failed, 1000)}}
	}
	return steps, true
}

func (r *opencodeReader) readSession() string { return r.session }

// isFinal reports whether the last step asked for no tool.
func (r *opencodeReader) isFinal() bool { return r.reason != "" && r.reason != "tool-calls" }

func (r *opencodeReader) readVerdict() verdict {
	failed := r.failed
	if failed == "" && r.isFinal() && r.reason != "stop" {
		failed = "its last reply ended with " + safetext.EscapeLine(r.reason, 50)
	}
	return judgeWords(r.said, failed, r.reason == "stop")
}
