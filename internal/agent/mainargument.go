package agent

import "encoding/json"

// mainArgument returns the argument of a call that tells a person most: the
// path, the command, the text to search for. Arguments that are no object are
// shown as they are; an object without such a member shows nothing.
func mainArgument(arguments string) string {
	var named map[string]any
	if err := json.Unmarshal([]byte(arguments), &named); err != nil {
		return arguments
	}
	for _, key := range []string{"path", "command", "pattern", "glob", "message", "summary", "verdict", "process_id", "question", "reason", "guidance", "text"} {
		if v, ok := named[key].(string); ok && v != "" {
			return v
		}
	}
	return ""
}
