package agent

import (
	"encoding/json"
	"fmt"
	"strings"
)

// uniqueID returns an id that is unique in the conversation and that every server accepts.
func (c *conversation) uniqueID(id string, i int) string {
	base := wireName(id)
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

// wireName replaces characters that some servers refuse in a name, and cuts it to 64 bytes.
func wireName(name string) string {
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if s == "" {
		return "unnamed"
	}
	return s[:min(len(s), 64)]
}

// isObject reports whether arguments are a JSON object.
func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s))
}
