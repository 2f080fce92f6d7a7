package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"company/internal/lib/safetext"
)

// callText formats a tool call for people. head is one line with its main argument. body holds the text that it
// writes or replaces, as in a diff, and its other arguments. Arguments that are not a JSON object are shown
// unchanged.
func callText(arguments string) (head, body string) {
	var named map[string]any
	if json.Unmarshal([]byte(arguments), &named) != nil {
		return safetext.EscapeLine(arguments, 300), ""
	}
	var b strings.Builder
	main := mainArgument(arguments)
	head = noteArgument(arguments)
	if first, _, more := strings.Cut(main, "\n"); more {
		head = first + " …"
		writeLines(&b, "", main)
	}
	key := mainKey(named)
	delete(named, key)
	if key == "path" { // noteArgument shows its range of lines
		delete(named, "offset")
		delete(named, "limit")
	}
	if s, ok := named["content"].(string); ok {
		writeLines(&b, "+ ", s)
		delete(named, "content")
	}
	from, hasOld := named["old"].(string)
	to, hasNew := named["new"].(string)
	if hasOld && hasNew {
		writeLines(&b, "- ", from)
		writeLines(&b, "+ ", to)
		delete(named, "old")
		delete(named, "new")
	}
	writeMembers(&b, "", named)
	return safetext.EscapeLine(head, 300), b.String()
}

// writeLines writes each line of a text with a prefix.
func writeLines(b *strings.Builder, mark, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteString(mark + line + "\n")
	}
}

// writeMembers writes the members of an object, sorted by name, one per line. Values with several lines or
// members are indented below their name.
func writeMembers(b *strings.Builder, indent string, named map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(named)) {
		writeMember(b, indent, key+":", named[key])
	}
}

func writeMember(b *strings.Builder, indent, name string, v any) {
	switch v := v.(type) {
	case string:
		if !strings.Contains(strings.TrimSpace(v), "\n") {
			fmt.Fprintf(b, "%s%s %s\n", indent, name, strings.TrimSpace(v))
			return
		}
		b.WriteString(indent + name + "\n")
		writeLines(b, indent+"  ", v)
	case map[string]any:
		b.WriteString(indent + name + "\n")
		writeMembers(b, indent+"  ", v)
	case []any:
		b.WriteString(indent + name + "\n")
		for _, item := range v {
			writeMember(b, indent+"  ", "-", item)
		}
	default:
		fmt.Fprintf(b, "%s%s %v\n", indent, name, v)
	}
}
