package php

import (
	"encoding/json"
	"fmt"
	"strings"

	"company/internal/ecosystem"
)

// layout describes how composer and its plugins use a package's files: its programs, its autoloader,
// whether it is a plugin, and which packages it replaces. Each field is normalized JSON, or empty. Composer
// takes these fields from the lock file.
type layout struct{ kind, bin, autoload, includePath, targetDir, extra, replace, provide string }

// writtenLayout is a layout as in lock files and registries.
type writtenLayout struct {
	Type        json.RawMessage
	Bin         json.RawMessage
	Autoload    json.RawMessage
	IncludePath json.RawMessage `json:"include-path"`
	TargetDir   json.RawMessage `json:"target-dir"`
	Extra       json.RawMessage
	Replace     json.RawMessage
	Provide     json.RawMessage
}

// newWrittenLayout selects the fields of a package by their exact names.
func newWrittenLayout(f map[string]json.RawMessage) writtenLayout {
	return writtenLayout{
		f["type"], f["bin"], f["autoload"], f["include-path"], f["target-dir"],
		f["extra"], f["replace"], f["provide"],
	}
}

// readAfter returns the layout l of the previous version, with the fields that w has replaced.
func (w writtenLayout) readAfter(l layout) layout {
	for _, field := range []struct {
		to  *string
		raw json.RawMessage
	}{
		{&l.kind, w.Type}, {&l.bin, w.Bin}, {&l.autoload, w.Autoload},
		{&l.includePath, w.IncludePath}, {&l.targetDir, w.TargetDir},
		{&l.extra, w.Extra}, {&l.replace, w.Replace}, {&l.provide, w.Provide},
	} {
		if field.raw != nil {
			*field.to = rewriteJSON(field.raw)
		}
	}
	if w.Type != nil && strings.EqualFold(l.kind, `"library"`) { // the default
		l.kind = ""
	}
	if w.Bin != nil {
		l.bin = rewritePrograms(w.Bin)
	}
	return l
}

// unset marks a field in a registry's description that a version no longer has.
const unset = `"__unset"`

// rewriteJSON returns a JSON value in normalized form. It returns "" for an empty value.
func rewriteJSON(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	switch text := string(out); {
	case err != nil:
		return string(raw)
	case text == "null", text == `""`, text == "[]", text == "{}", text == unset:
		return ""
	default:
		return text
	}
}

// rewritePrograms returns a list of programs in normalized form. The input is a list or a single string. It
// drops leading slashes, as composer does.
func rewritePrograms(raw json.RawMessage) string {
	var all []string
	if one := ecosystem.TextOf(raw); one != "" && string(raw) != unset {
		all = []string{one}
	} else if json.Unmarshal(raw, &all) != nil {
		return rewriteJSON(raw)
	}
	for i, file := range all {
		all[i] = strings.TrimLeft(file, "/")
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", all)
}

// String returns the layout as one text, which is compared like an address.
func (l layout) String() string {
	return strings.Join([]string{
		"type " + l.kind, "programs " + l.bin, "loads " + l.autoload, l.includePath, l.targetDir,
		"extra " + l.extra, "replaces " + l.replace, "provides " + l.provide,
	}, ", ")
}
