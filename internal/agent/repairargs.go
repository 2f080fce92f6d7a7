package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

// Models use argument names and shapes of other tools. Arguments that do not fit a schema are converted if they
// can be read in only one way. Otherwise they are refused with the schema.

// argAliases lists other names, by squeezeName, that models use for a property. An alias applies only if the
// schema has the property and does not have the alias.
var argAliases = map[string][]string{
	"path":                {"filepath", "file", "filename", "targetfile", "relativepath", "absolutepath"},
	"old":                 {"oldstring", "oldstr", "oldtext", "search", "find"},
	"new":                 {"newstring", "newstr", "newtext", "replace", "replacement"},
	"content":             {"contents", "filetext", "text", "newcontent", "filecontent", "code"},
	"command":             {"cmd", "shellcommand", "script", "bash"},
	"pattern":             {"query", "regex", "regexp", "searchterm"},
	"glob":                {"include", "filepattern", "path", "directory", "dir", "folder", "pattern"},
	"offset":              {"startline", "linestart", "fromline", "start"},
	"limit":               {"numlines", "maxlines", "linecount", "lines"},
	"message":             {"commitmessage", "msg"},
	"summary":             {"result", "message", "answer", "text"},
	"commit":              {"commitmessage"},
	"timeout_s":           {"timeout", "timeoutseconds", "timeoutsecs", "timeoutsec"},
	"background":          {"runinbackground", "isbackground"},
	"process_id":          {"id", "pid", "process", "bashid", "shellid"},
	"paths":               {"files", "filepaths"},
	"items":               {"todos", "tasks", "todolist"},
	"text":                {"note", "content", "task", "title", "description"},
	"reason":              {"message", "explanation", "why"},
	"name":                {"package", "packagename", "module"},
	"verdict":             {"decision", "result", "status"},
	"severity":            {"level"},
	"file":                {"path", "filepath", "filename"},
	"line":                {"linenumber"},
	"what":                {"message", "description", "problem", "issue", "title"},
	"suggestion":          {"fix", "recommendation"},
	"acceptance_criteria": {"criteria"},
	"write_set":           {"files", "filestochange"},
}

// enumAliases lists synonyms of enum values.
var enumAliases = map[string][]string{
	"approve":         {"approved", "accept", "accepted", "lgtm", "pass"},
	"request_changes": {"changes_requested", "requested_changes", "reject", "rejected", "needs_changes"},
	"blocking":        {"blocker", "critical", "major", "high", "error"},
	"minor":           {"low", "nit", "info", "suggestion", "trivial", "warning"},
	"done":            {"completed", "complete", "finished"},
	"pending":         {"todo", "open", "not_started"},
	"in_progress":     {"doing", "active", "started"},
}

// argWrappers lists names under which models nest all their arguments.
var argWrappers = []string{"arguments", "args", "parameters", "params", "input", "malformed_arguments"}

// maxEncoded limits how often a value may be nested as JSON in a string.
const maxEncoded = 3

// repairValue converts a value to the shape of the schema, as far as it can be read in only one way. It does not
// change its argument.
func (s *argSchema) repairValue(value any) any {
	if text, ok := value.(string); ok {
		value = s.decodeString(text)
	}
	switch v := value.(type) {
	case map[string]any:
		switch s.Type {
		case "object":
			return s.repairObject(v)
		case "array":
			if s.Items != nil && s.Items.Type == "object" {
				return []any{s.Items.repairValue(v)}
			}
		}
	case []any:
		if s.Type == "string" {
			return joinStrings(v)
		}
		out := slices.Clone(v)
		for i := range out {
			if s.Items != nil {
				out[i] = s.Items.repairValue(out[i])
			}
		}
		return out
	case string:
		switch {
		case s.Type == "array" && (s.Items == nil || s.Items.Type == "string"):
			return splitList(v)
		case s.Enum != nil:
			return s.repairEnum(v)
		}
	}
	return value
}

// decodeString decodes a string that holds JSON of the schema's type, if that type is not string. Other strings
// are returned unchanged.
func (s *argSchema) decodeString(text string) any {
	if s.Type == "" || s.Type == "string" {
		return text
	}
	inner := text
	for range maxEncoded {
		v, err := parseArguments(strings.TrimSpace(inner))
		if err != nil {
			break
		}
		if is := typeOfValue(v); is == s.Type || s.Type == "number" && is == "integer" ||
			s.Type == "array" && is == "object" {
			return v
		}
		next, ok := v.(string)
		if !ok {
			break
		}
		inner = next
	}
	if s.Type == "boolean" {
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true", "yes":
			return true
		case "false", "no":
			return false
		}
	}
	return text
}

func (s *argSchema) repairObject(v map[string]any) map[string]any {
	if inner, ok := s.unwrapArguments(v); ok {
		v = inner
	}
	out := maps.Clone(v)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if s.Properties[name] != nil {
			continue
		}
		if want := s.propertyFor(name, out); want != "" {
			out[want] = out[name]
			delete(out, name)
		}
	}
	for name, value := range out {
		p := s.Properties[name]
		switch {
		case p == nil:
		case value == nil && p.Type != "" && !slices.Contains(s.Required, name):
			delete(out, name) // some models send null for a missing property
		default:
			out[name] = p.repairValue(value)
		}
	}
	return out
}

// unwrapArguments returns the object that is the only member, under a wrapper's name.
func (s *argSchema) unwrapArguments(v map[string]any) (map[string]any, bool) {
	if len(v) != 1 {
		return nil, false
	}
	for _, name := range argWrappers {
		value, ok := v[name]
		if !ok || s.Properties[name] != nil {
			continue
		}
		if text, is := value.(string); is {
			value = (&argSchema{Type: "object"}).decodeString(text)
		}
		inner, ok := value.(map[string]any)
		return inner, ok
	}
	return nil, false
}

// propertyFor returns the property that an unknown name stands for and that the object lacks. It returns "" if
// there is no such property.
func (s *argSchema) propertyFor(name string, object map[string]any) string {
	short := squeezeName(name)
	for _, want := range slices.Sorted(maps.Keys(s.Properties)) {
		if _, given := object[want]; !given && squeezeName(want) == short {
			return want
		}
	}
	// Required properties come before optional ones.
	required := slices.Sorted(slices.Values(s.Required))
	for _, want := range slices.Concat(required, slices.Sorted(maps.Keys(s.Properties))) {
		if _, given := object[want]; !given && slices.Contains(argAliases[want], short) {
			return want
		}
	}
	return ""
}

// squeezeName returns the same name for filePath, file_path and FilePath.
func squeezeName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// repairEnum returns the enum value for a synonym. Other text is returned unchanged.
func (s *argSchema) repairEnum(word string) string {
	if slices.Contains(s.Enum, word) {
		return word
	}
	short := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.Trim(word, " \t\n.!")))
	for _, value := range s.Enum {
		if short == value || slices.Contains(enumAliases[value], short) {
			return value
		}
	}
	return word
}

// aListItem matches the mark of a list item in a text.
var aListItem = lazyregexp.New(`^\s*(?:[-*•]|\d{1,3}[.):])\s+`)

// splitList returns the items of a text if each line is a list item. Otherwise it returns the text as the only
// item.
func splitList(text string) []any {
	var items []any
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		mark := aListItem.FindString(line)
		if mark == "" {
			return []any{text}
		}
		items = append(items, strings.TrimSpace(line[len(mark):]))
	}
	if items == nil {
		return []any{}
	}
	return items
}

// joinStrings joins a list of texts into one text with a line for each. Other lists are returned unchanged.
func joinStrings(list []any) any {
	lines := make([]string, len(list))
	for i, item := range list {
		text, ok := item.(string)
		if !ok {
			return list
		}
		lines[i] = text
	}
	return strings.Join(lines, "\n")
}

// decodeArguments returns the object that arguments hold as JSON in a string. ok is false for any other text.
func decodeArguments(arguments string) (object string, ok bool) {
	for range maxEncoded {
		if json.Unmarshal([]byte(arguments), &arguments) != nil {
			return "", false
		}
		if isObject(arguments) {
			return arguments, true
		}
	}
	return "", false
}
