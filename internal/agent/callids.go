package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"company/internal/adapters"
)

// uniqueID returns an id that is unique in the conversation and that every server accepts.
func (c *conversation) uniqueID(id string, i int) string {
	base := adapters.WireName(id)
	if id == "" {
		base = fmt.Sprintf("call_%d_%d", c.turns, i+1)
	}
	id = base
	for n := 2; c.ids[id]; n++ {
		suffix := fmt.Sprintf("_%d", n)
		id = base[:min(len(base), 64-len(suffix))] + suffix
	}
	c.ids[id] = true
	return id
}

// isObject reports whether arguments are a JSON object.
func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s))
}
