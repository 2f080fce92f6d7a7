package anthropic

import (
	"encoding/json"

	"company/internal/adapters"
)

// request is the body of POST /v1/messages (https://docs.anthropic.com/en/api/messages).
type request struct {
	Model       string    `json:"model"`
	MaxTokens   int       `json:"max_tokens"`
	Stream      bool      `json:"stream"`
	Temperature *float64  `json:"temperature,omitempty"`
	Tools       []tool    `json:"tools,omitempty"`
	System      []content `json:"system,omitempty"`
	Messages    []message `json:"messages"`

	// forwarded is set for a request of another client. body is then sent instead of the members above.
	forwarded *adapters.Forwarded
	body      map[string]json.RawMessage
}

// chooseDocument returns what is sent.
func (r request) chooseDocument() any {
	if r.forwarded != nil {
		return r.body
	}
	return r
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

// message is one message of the user or the assistant.
type message struct {
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

// content is one block of a message. Its fields depend on Type: text, image, tool_use, tool_result, thinking or
// redacted_thinking.
type content struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	Source       *source         `json:"source,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      []content       `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"` // may be empty
	Signature    *string         `json:"signature,omitempty"`
	Data         string          `json:"data,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

// source is an image.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// cacheControl marks the end of the part that the server should cache for later requests.
type cacheControl struct {
	Type string `json:"type"`
}

// event is one event of a streamed reply (https://docs.anthropic.com/en/api/messages-streaming). Texts are raw, because
// a piece may end in the middle of a character.
type event struct {
	Type         string     `json:"type"`
	Index        int        `json:"index"`
	Message      started    `json:"message"`
	ContentBlock replyBlock `json:"content_block"`
	Delta        struct {
		Text        json.RawMessage `json:"text"`
		Thinking    json.RawMessage `json:"thinking"`
		Signature   string          `json:"signature"`
		PartialJSON json.RawMessage `json:"partial_json"`
		StopReason  string          `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// started is the beginning of a message.
type started struct {
	ID    string `json:"id"`
	Model string `json:"model"`
	Usage usage  `json:"usage"`
}

// messageDocument is a whole message.
type messageDocument struct {
	started
	Content    []replyBlock `json:"content"`
	StopReason string       `json:"stop_reason"`
}

// replyBlock is a block of a reply, or its beginning.
type replyBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Text      json.RawMessage `json:"text"`
	Thinking  json.RawMessage `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	Input     json.RawMessage `json:"input"`
}

// usage holds the server's counts of tokens.
type usage struct {
	Input   int `json:"input_tokens"`
	Read    int `json:"cache_read_input_tokens"`
	Written int `json:"cache_creation_input_tokens"`
	Output  int `json:"output_tokens"`
}
