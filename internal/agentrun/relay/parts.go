package relay

import (
	"encoding/base64"
	"encoding/json"
	"image"
	_ "image/gif"  // to read the sizes of images
	_ "image/jpeg" // to read the sizes of images
	_ "image/png"  // to read the sizes of images
	"io"
	"strings"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// chatParts lists what may pass of each kind of part of the chat wire.
var chatParts = map[string]map[string]bool{
	"text":      listNames("type text cache_control"),
	"refusal":   listNames("type refusal"),
	"thinking":  listNames("type thinking"),
	"reasoning": listNames("type reasoning text"),
	"image_url": listNames("type image_url cache_control"),
}

// checkChat checks the messages of the chat wire.
func (c *checker) checkChat(body map[string]json.RawMessage) error {
	return c.eachMessage(body, func(message exchange.Members) error {
		if !exchange.IsEmpty(message["audio"]) {
			return refuseUnbounded("audio")
		}
		delete(message, "audio")
		return c.checkParts(message, "content", func(part exchange.Members) error {
			kind := part.Word("type")
			if chatParts[kind] == nil {
				return refuseUnbounded(kind)
			}
			c.keepListed(part, chatParts[kind], "a part")
			if kind != "image_url" {
				return nil
			}
			address := exchange.MembersOf(part["image_url"])
			if address == nil {
				address = exchange.Members{"url": part["image_url"]}
			}
			c.keepListed(address, listNames("url detail"), "an image")
			if err := c.addInlineImage(address.Word("url")); err != nil {
				return err
			}
			return setMember(part, "image_url", address)
		})
	})
}

// addInlineImage counts an image whose address holds all of it. Others are refused.
func (c *checker) addInlineImage(address string) error {
	data, isInline := strings.CutPrefix(address, "data:image/")
	_, encoded, isBase64 := strings.Cut(data, ";base64,")
	if !isInline || !isBase64 {
		return newRefusal("an image must be in the request itself, as data:image/…;base64,…")
	}
	c.addImage(encoded)
	return nil
}

// addImage counts an image of the request by its size, if that can be read.
func (c *checker) addImage(encoded string) {
	var picture adapters.Image
	header := io.LimitReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(encoded)), 256<<10)
	if size, _, err := image.DecodeConfig(header); err == nil {
		picture.Width, picture.Height = size.Width, size.Height
	}
	c.images = append(c.images, picture)
	c.imageBytes += len(encoded)
}

// isClientTool reports whether a tool of the messages wire runs in the program. The vendor defines some of them.
func isClientTool(tool exchange.Members) bool {
	kind := tool.Word("type")
	if kind == "" || kind == "custom" {
		return true
	}
	for _, own := range []string{"bash_", "text_editor_", "memory_"} {
		if strings.HasPrefix(kind, own) {
			return true
		}
	}
	return false
}

// checkMessages checks the messages of the messages wire.
func (c *checker) checkMessages(body map[string]json.RawMessage) error {
	if err := c.filterEdits(body); err != nil {
		return err
	}
	if err := c.checkParts(body, "system", c.checkBlock); err != nil {
		return err
	}
	return c.eachMessage(body, func(message exchange.Members) error {
		return c.checkParts(message, "content", c.checkBlock)
	})
}

// filterEdits leaves out changes of the context for which the server asks the model once more.
func (c *checker) filterEdits(body map[string]json.RawMessage) error {
	context := exchange.MembersOf(body["context_management"])
	if context == nil {
		delete(body, "context_management")
		return nil
	}
	c.keepListed(context, listNames("edits"), "context_management")
	kept := []json.RawMessage{}
	for _, raw := range context.List("edits") {
		kind := exchange.MembersOf(raw).Word("type")
		if strings.HasPrefix(kind, "clear_") {
			kept = append(kept, raw)
		} else {
			c.noteLeft("the context edit " + kind)
		}
	}
	if err := setMember(context, "edits", kept); err != nil {
		return err
	}
	return setMember(body, "context_management", context)
}

// blocks lists what may pass of each kind of block of the messages wire.
var blocks = map[string]map[string]bool{
	"text":              listNames("type text citations cache_control"),
	"thinking":          listNames("type thinking signature"),
	"redacted_thinking": listNames("type data"),
	"tool_use":          listNames("type id name input cache_control"),
	"tool_result":       listNames("type tool_use_id content is_error cache_control"),
	"image":             listNames("type source cache_control"),
	"document":          listNames("type source title context citations cache_control"),
}

// checkBlock checks one block of the messages wire.
func (c *checker) checkBlock(block exchange.Members) error {
	kind := block.Word("type")
	if blocks[kind] == nil {
		return refuseUnbounded(kind)
	}
	c.keepListed(block, blocks[kind], "a block")
	source := exchange.MembersOf(block["source"])
	c.keepListed(source, listNames("type media_type data"), "a source")
	switch from := source.Word("type"); {
	case kind == "tool_result":
		return c.checkParts(block, "content", func(part exchange.Members) error {
			if part.Word("type") == "tool_result" { // each level copies all below it
				return newRefusal("a result cannot hold another one")
			}
			return c.checkBlock(part)
		})
	case kind == "image" && from != "base64":
		return newRefusal("an image must be in the request itself, as base64")
	case kind == "document" && from != "text":
		return refuseUnbounded("document from " + from)
	case kind == "image":
		c.addImage(source.Word("data"))
	case kind != "document":
		return nil
	}
	return setMember(block, "source", source)
}
