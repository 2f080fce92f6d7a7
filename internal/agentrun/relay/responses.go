package relay

import (
	"encoding/json"
	"slices"

	"company/internal/adapters/exchange"
)

// namespace is the type of a group of tools on the responses wire.
const namespace = "namespace"

var (
	namespaceMembers = listNames("type name description tools")
	programTools     = []string{"function", "custom", "local_shell", "apply_patch", namespace}
)

// isProgramTool reports whether a tool of the responses wire runs in the program.
func isProgramTool(tool exchange.Members) bool {
	return slices.Contains(programTools, tool.Word("type"))
}

// items lists what may pass of each kind of item of the responses wire.
var items = map[string]map[string]bool{
	"message":                 listNames("type id role content status phase"),
	"reasoning":               listNames("type id summary content encrypted_content status"),
	"function_call":           listNames("type id call_id name namespace arguments status"),
	"function_call_output":    listNames("type id call_id output status"),
	"custom_tool_call":        listNames("type id call_id name namespace input status"),
	"custom_tool_call_output": listNames("type id call_id output status"),
	"local_shell_call":        listNames("type id call_id action status"),
	"local_shell_call_output": listNames("type id call_id output status"),
	"apply_patch_call":        listNames("type id call_id operation status"),
	"apply_patch_call_output": listNames("type id call_id output status"),
}

// itemParts lists what may pass of each kind of part of an item.
var itemParts = map[string]map[string]bool{
	"input_text":     listNames("type text"),
	"output_text":    listNames("type text annotations logprobs"),
	"refusal":        listNames("type refusal"),
	"summary_text":   listNames("type text"),
	"reasoning_text": listNames("type text"),
	"input_image":    listNames("type image_url detail"),
}

// checkResponses checks the items of the responses wire. The server is told to store nothing.
func (c *checker) checkResponses(body map[string]json.RawMessage) error {
	body["store"] = json.RawMessage("false")
	const thoughts = "reasoning.encrypted_content" // which the program sends back, as nothing is stored
	var included []string
	for _, raw := range exchange.Members(body).List("include") {
		var name string
		if json.Unmarshal(raw, &name) == nil && name == thoughts {
			included = []string{thoughts}
		} else {
			c.noteLeft("include " + string(raw))
		}
	}
	delete(body, "include")
	if included != nil {
		if err := setMember(body, "include", included); err != nil {
			return err
		}
	}
	if exchange.IsEmpty(body["input"]) {
		return newRefusal("the request has no input")
	}
	return c.checkParts(body, "input", c.checkItem)
}

// checkItem checks one item of the responses wire.
func (c *checker) checkItem(item exchange.Members) error {
	kind := item.Word("type")
	if kind == "" && item.Word("role") != "" {
		kind = "message"
	}
	if items[kind] == nil {
		return refuseUnbounded(kind)
	}
	c.keepListed(item, items[kind], "an item")
	for _, member := range []string{"content", "summary", "output"} {
		if err := c.checkParts(item, member, c.checkItemPart); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkItemPart(part exchange.Members) error {
	kind := part.Word("type")
	if itemParts[kind] == nil {
		return refuseUnbounded(kind)
	}
	c.keepListed(part, itemParts[kind], "a part")
	if kind == "input_image" {
		return c.addInlineImage(part.Word("image_url"))
	}
	return nil
}
