package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// rewritten is a request as it may be sent.
type rewritten struct {
	wire    adapters.Wire
	body    map[string]json.RawMessage
	header  http.Header
	request adapters.Request // bounds the cost; it has not the real messages
	hash    company.Hash
	tools   bool     // it offers tools
	left    []string // what was left out
}

// rules are the rules of a wire.
type rules struct {
	members  map[string]bool // that may pass at the top
	refused  map[string]bool // that may not be there, because the request would be another one without them
	tool     map[string]bool // that may pass of a tool
	message  map[string]bool // that may pass of a message
	isOwn    func(tool exchange.Members) bool
	check    func(c *checker, body map[string]json.RawMessage) error
	betas    map[string]bool
	maxNames []string // of the limit of the reply
}

// wireRules holds the rules of each wire.
var wireRules = map[adapters.Wire]rules{
	adapters.WireChat: {
		members: listNames(`model messages tools tool_choice parallel_tool_calls stream stream_options temperature top_p
			top_k min_p max_tokens max_completion_tokens stop seed presence_penalty frequency_penalty repetition_penalty
			logit_bias logprobs top_logprobs response_format reasoning_effort reasoning thinking enable_thinking
			chat_template_kwargs verbosity n user prompt_cache_key safety_identifier`),
		refused: listNames("previous_response_id conversation background prompt mcp_servers"),
		tool:    listNames("type function custom cache_control"),
		message: listNames(`role content name tool_calls tool_call_id refusal reasoning_content reasoning
			reasoning_details cache_control audio`),
		isOwn: func(tool exchange.Members) bool {
			kind := tool.Word("type")
			return kind == "function" || kind == "custom"
		},
		check:    (*checker).checkChat,
		maxNames: []string{"max_tokens", "max_completion_tokens"},
	},
	adapters.WireResponses: {
		members: listNames(`model input instructions tools tool_choice parallel_tool_calls stream stream_options
			temperature top_p top_logprobs max_output_tokens reasoning text include store truncation prompt_cache_key
			user safety_identifier`),
		refused:  listNames("previous_response_id conversation background prompt"),
		tool:     listNames("type name description parameters strict format"),
		isOwn:    isProgramTool,
		check:    (*checker).checkResponses,
		maxNames: []string{"max_output_tokens"},
	},
	adapters.WireMessages: {
		members: listNames(`model messages system tools tool_choice stream temperature top_p top_k max_tokens
			stop_sequences thinking output_config output_format context_management`),
		refused: listNames("mcp_servers container"),
		tool: listNames(`type name description input_schema cache_control strict max_characters input_examples
			defer_loading eager_input_streaming`),
		message: listNames("role content"),
		isOwn:   isClientTool,
		check:   (*checker).checkMessages,
		betas: listNames(`claude-code-20250219 interleaved-thinking-2025-05-14 fine-grained-tool-streaming-2025-05-14
			token-efficient-tools-2025-02-19 prompt-caching-2024-07-31 context-management-2025-06-27 effort-2025-11-24
			structured-outputs-2025-11-13 output-128k-2025-02-19`),
		maxNames: []string{"max_tokens"},
	},
}

func listNames(words string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		out[word] = true
	}
	return out
}

// refusal is why a request is not passed on.
type refusal string

func (r refusal) Error() string { return string(r) }

func newRefusal(format string, args ...any) error {
	return refusal(safetext.EscapeLine(fmt.Sprintf(format, args...), 300))
}

// rewriteRequest checks a request and returns what may be sent of it. What could cost without a bound is left out, or
// is an error if the rest would be another request.
func rewriteRequest(wire adapters.Wire, data []byte, header http.Header) (rewritten, error) {
	rule := wireRules[wire]
	if countValues(data) > maxValues {
		return rewritten{}, newRefusal("the request has more than %d values", maxValues)
	}
	body, err := decodeObject(data)
	if err != nil {
		return rewritten{}, err
	}
	c := &checker{rule: rule}
	for _, name := range slices.Sorted(maps.Keys(body)) {
		switch {
		case rule.refused[name] && !exchange.IsEmpty(body[name]) && string(body[name]) != "false":
			return rewritten{}, newRefusal("%s cannot be passed on: its cost has no bound", name)
		case !rule.members[name]:
			delete(body, name)
			if !rule.refused[name] {
				c.noteLeft(name)
			}
		}
	}
	if n, ok := exchange.Members(body).Count("n"); !ok || n > 1 {
		return rewritten{}, newRefusal("n cannot be more than 1")
	}
	if err := c.filterTools(body); err != nil {
		return rewritten{}, err
	}
	if err := rule.check(c, body); err != nil {
		return rewritten{}, err
	}
	out := rewritten{wire: wire, body: body, hash: agent.TextHash(string(data)),
		tools:  !exchange.IsEmpty(body["tools"]),
		header: c.filterBetas(header, rule.betas)}
	out.left = c.left
	out.request = c.boundRequest(body)
	for _, name := range rule.maxNames {
		if limit, ok := exchange.Members(body).Count(name); ok && limit > 0 {
			out.request.MaxTokens = limit
		}
	}
	return out, nil
}

// decodeObject decodes the document. Members that are there twice are refused, since servers differ in which one
// counts.
func decodeObject(data []byte) (map[string]json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, newRefusal("the request is not a JSON object")
	}
	out := map[string]json.RawMessage{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, newRefusal("the request is not JSON: %s", err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, newRefusal("the request is not JSON: %s", err)
		}
		text := fmt.Sprint(name)
		if _, twice := out[text]; twice {
			return nil, newRefusal("the request has %q twice", text)
		}
		out[text] = value
	}
	_, err := decoder.Token()
	if _, after := decoder.Token(); err != nil || after != io.EOF {
		return nil, newRefusal("the request is not one JSON object")
	}
	return out, nil
}

// maxValues limits the members and elements of a request, because each takes a hundred times its bytes of memory.
const maxValues = 200_000

// countValues counts the members and elements of a JSON document, roughly.
func countValues(data []byte) (n int) {
	inString := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == '{' || c == '['):
			n++
		}
	}
	return n
}

// checker collects what is found in a request.
type checker struct {
	rule       rules
	left       []string
	images     []adapters.Image
	imageBytes int // of their data

	inNamespace bool // its tools are looked through; each level copies all below it
}

// keepListed removes the members that are not listed.
func (c *checker) keepListed(of exchange.Members, listed map[string]bool, place string) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if !listed[name] {
			delete(of, name)
			c.noteLeft(name + " of " + place)
		}
	}
}

func (c *checker) noteLeft(what string) { c.left = append(c.left, exchange.Clip(what)) }

// filterTools leaves out tools that a server would run. A namespace of tools is one of its own.
func (c *checker) filterTools(body map[string]json.RawMessage) error {
	offered := exchange.Members(body).List("tools")
	var kept []exchange.Members
	var hosted []string
	for _, raw := range offered {
		tool := exchange.MembersOf(raw)
		if tool == nil {
			return newRefusal("a tool is not an object")
		}
		if !c.rule.isOwn(tool) {
			hosted = append(hosted, tool.Word("type"))
			c.noteLeft("the tool " + tool.Word("type"))
			continue
		}
		if tool.Word("type") == namespace {
			if c.inNamespace {
				return newRefusal("a namespace of tools cannot hold another one")
			}
			c.inNamespace = true
			c.keepListed(tool, namespaceMembers, "a namespace")
			err := c.filterTools(tool)
			if c.inNamespace = false; err != nil {
				return err
			}
		} else {
			c.keepListed(tool, c.rule.tool, "a tool")
		}
		shortenCache(tool)
		kept = append(kept, tool)
	}
	switch {
	case len(offered) == 0:
		delete(body, "tools")
		return nil
	case len(kept) == 0:
		return newRefusal("none of the tools that it offers can be used here: %s", strings.Join(hosted, ", "))
	}
	return setMember(body, "tools", kept)
}

// setMember encodes a member.
func setMember(body map[string]json.RawMessage, name string, value any) error {
	data, err := encodeJSON(value)
	if err != nil {
		return newRefusal("%s cannot be encoded: %s", name, err)
	}
	body[name] = data
	return nil
}

// encodeJSON returns JSON without escapes for HTML, because bytes are counted.
func encodeJSON(value any) (json.RawMessage, error) {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(data.Bytes()), err
}

// shortenCache replaces a mark of an hour by the usual one, whose price is known.
func shortenCache(members exchange.Members) {
	if !exchange.IsEmpty(members["cache_control"]) {
		members["cache_control"] = json.RawMessage(`{"type":"ephemeral"}`)
	}
}

// eachMessage passes the messages to check, which may change them.
func (c *checker) eachMessage(body map[string]json.RawMessage, check func(message exchange.Members) error) error {
	var messages []exchange.Members
	for _, raw := range exchange.Members(body).List("messages") {
		message := exchange.MembersOf(raw)
		if message == nil {
			return newRefusal("a message is not an object")
		}
		c.keepListed(message, c.rule.message, "a message")
		shortenCache(message)
		if err := check(message); err != nil {
			return err
		}
		messages = append(messages, message)
	}
	if len(messages) == 0 {
		return newRefusal("the request has no messages")
	}
	return setMember(body, "messages", messages)
}

// checkParts checks the parts of a member, if it is a list.
func (c *checker) checkParts(
	of map[string]json.RawMessage, member string, check func(part exchange.Members) error,
) error {
	raw := bytes.TrimSpace(of[member])
	if len(raw) == 0 || raw[0] != '[' && raw[0] != '{' {
		return nil // a text
	}
	parts := []exchange.Members{} // an empty list stays one
	for _, raw := range exchange.Members(of).List(member) {
		part := exchange.MembersOf(raw)
		if part == nil {
			return newRefusal("a part of %s is not an object", member)
		}
		shortenCache(part)
		if err := check(part); err != nil {
			return err
		}
		parts = append(parts, part)
	}
	return setMember(of, member, parts)
}

// refuseUnbounded refuses a part of a message.
func refuseUnbounded(kind string) error {
	return newRefusal("a part of type %q cannot be passed on: its cost has no bound", kind)
}

// boundRequest returns a request with the bound of the cost of body: a token for each byte, the tools once more, and
// each image by its size.
func (c *checker) boundRequest(body map[string]json.RawMessage) adapters.Request {
	size := 0
	for name, value := range body {
		if name != "tools" {
			size += len(name) + len(value) + len(`"":,`)
		}
	}
	message := adapters.Message{Role: adapters.User, Content: strings.Repeat(" ", max(0, size-c.imageBytes)),
		Images: c.images}
	out := adapters.Request{Messages: []adapters.Message{message}}
	if tools := body["tools"]; len(tools) > 0 {
		out.Tools = []adapters.Tool{{Schema: tools}}
	}
	return out
}

// filterBetas returns the header with the listed betas.
func (c *checker) filterBetas(header http.Header, listed map[string]bool) http.Header {
	var kept []string
	for _, line := range header.Values("Anthropic-Beta") {
		for beta := range strings.SplitSeq(line, ",") {
			if beta = strings.TrimSpace(beta); listed[beta] {
				kept = append(kept, beta)
			} else if beta != "" {
				c.noteLeft("the beta " + beta)
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return http.Header{"Anthropic-Beta": {strings.Join(kept, ",")}}
}
