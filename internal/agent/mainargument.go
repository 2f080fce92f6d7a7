package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"company/internal/company"
)

// mainArgument returns the most descriptive argument of a call: the path, the command, the search text.
// Arguments that are not an object are returned unchanged. An object without such a member returns "".
func mainArgument(arguments string) string {
	var named map[string]any
	if err := json.Unmarshal([]byte(arguments), &named); err != nil {
		return arguments
	}
	main, _ := named[mainKey(named)].(string)
	return main
}

// mainKey returns the name of the main argument, or "" if there is none.
func mainKey(named map[string]any) string {
	for _, key := range []string{"path", "command", "pattern", "glob", "message", "summary", "verdict", "process_id",
		"question", "reason", "advice", "text"} {
		if v, ok := named[key].(string); ok && v != "" {
			return key
		}
	}
	return ""
}

// noteArgument extends mainArgument for a feed: it adds the range of lines that are read, or the number that are
// written or replaced.
func noteArgument(arguments string) string {
	main := mainArgument(arguments)
	var given struct {
		Path, Content string
		Old, New      *string
		Offset, Limit int
	}
	if json.Unmarshal([]byte(arguments), &given) != nil || given.Path == "" {
		return main
	}
	switch {
	case given.Old != nil && given.New != nil:
		return fmt.Sprintf("%s (+%d −%d)", main, countLines(*given.New), countLines(*given.Old))
	case given.Content != "":
		return fmt.Sprintf("%s (%s)", main, company.Count(countLines(given.Content), "line"))
	case given.Offset > 0 && given.Limit > 0:
		return fmt.Sprintf("%s:%d-%d", main, given.Offset, given.Offset+given.Limit-1)
	case given.Offset > 0:
		return fmt.Sprintf("%s:%d-", main, given.Offset)
	}
	return main
}

// countLines counts lines, including a last line without a line end.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
