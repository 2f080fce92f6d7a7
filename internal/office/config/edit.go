package config

import (
	"slices"
	"strconv"
	"strings"

	"company/internal/lib/lazyregexp"
)

// editText sets the key at a path in the text of a config file, or removes it if value is nil. All other keys,
// comments and lines stay the same. The result is parsed and compared: an edit with any other effect is an error.
func editText(name string, data []byte, path []string, value *node) ([]byte, error) {
	const mark = "\ufeff"
	body, marked := strings.CutPrefix(string(data), mark)
	configText, root := splitConfigText(body), node{kind: nodeMap}
	if slices.ContainsFunc(configText.lines, hasContent) {
		var faults problems
		if root, faults = parseYAML(name, []byte(body)); len(faults) > 0 {
			return nil, faults.asError("")
		}
	}
	want := root.withoutPlaces()
	if value == nil {
		path = want.removalPath(path)
		want = want.remove(path)
		if err := configText.removeKey(want, path); err != nil {
			return nil, err
		}
	} else {
		want = want.set(path, *value)
		if err := configText.setKey(configText.rootBlock(), want, path, *value); err != nil {
			return nil, err
		}
	}
	if len(want.fields) == 0 { // an empty file is not a valid config
		want = want.set([]string{"version"}, node{kind: nodeNumber, text: "1"})
		configText.insertLines(len(configText.lines), "version: 1")
	}
	body = configText.joinLines()
	got, faults := parseYAML(name, []byte(body))
	switch {
	case len(faults) > 0 && slices.ContainsFunc(
		faults, func(p problem) bool { return strings.Contains(p.fix, "are allowed") }):
		return nil, faults.asError("") // the file would be too large
	case len(faults) > 0 || !got.equalsValue(want):
		return nil, errLayout
	}
	if marked {
		body = mark + body
	}
	return []byte(body), nil
}

// setKey sets the key at a path below a mapping. want is that mapping with the new value.
func (t *configText) setKey(b textBlock, want node, path []string, value node) error {
	if b.from == 0 && b.to == len(t.lines) {
		if index, ok := t.flowRoot(); ok {
			return t.replaceFlow(index, want)
		}
	}
	textEntry, ok := t.findEntry(b, path[0])
	if !ok {
		return t.insertKey(b, b.to, path, value)
	}
	child, _ := want.findField(path[0])
	if len(path) == 1 {
		return t.setEntry(textEntry, renderNode(value), value.items)
	}
	return t.setChild(textEntry, b, child, path[1:], value)
}

// setChild sets a key below an entry.
func (t *configText) setChild(e textEntry, b textBlock, want node, path []string, value node) error {
	if rest := strings.TrimSpace(t.lines[e.line][e.value:]); rest != "" && rest[0] != '#' {
		return t.setEntry(e, renderNode(want), nil) // {a: b}
	}
	below, ok := t.childBlock(e)
	if !ok {
		below = textBlock{e.line + 1, e.line + 1, b.indent + 2}
	}
	if _, ok := t.findEntry(below, path[0]); ok {
		return t.setKey(below, want, path, value)
	}
	return t.insertKey(below, e.limit, path, value)
}

// insertKey adds a missing key to a mapping. It replaces the draft's comment for the key, or else goes after the
// mapping's last line. limit is the end of the mapping's comments.
func (t *configText) insertKey(b textBlock, limit int, path []string, value node) error {
	if line, ok := t.findDraft(b.from, limit, b.indent, path[0]); ok {
		t.uncommentLine(line)
		textEntry, ok := t.findEntry(textBlock{line, line + 1, b.indent}, path[0])
		if !ok {
			return errLayout
		}
		if textEntry.last = line; len(path) == 1 {
			return t.setEntry(textEntry, renderNode(value), nil)
		}
		return t.insertKey(textBlock{line + 1, line + 1, b.indent + 2}, textEntry.limit, path[1:], value)
	}
	index := b.from
	for i := b.from; i < b.to; i++ {
		if hasContent(t.lines[i]) {
			index = i + 1
		}
	}
	if b.to == len(t.lines) && b.indent == 0 {
		index = len(t.lines)
	}
	var lines []string
	for i, key := range path {
		line := strings.Repeat(" ", b.indent+2*i) + key + ":"
		if i == len(path)-1 {
			line += " " + renderNode(value)
		}
		lines = append(lines, line)
	}
	t.insertLines(index, lines...)
	return nil
}

// removeKey removes the key at a path. want is the whole file without it.
func (t *configText) removeKey(want node, path []string) error {
	if index, ok := t.flowRoot(); ok {
		return t.replaceFlow(index, want)
	}
	textBlock := t.rootBlock()
	for i, key := range path {
		textEntry, ok := t.findEntry(textBlock, key)
		if !ok {
			return errLayout
		}
		if i == len(path)-1 {
			t.removeEntry(textEntry)
			return nil
		}
		want, _ = want.findField(key)
		if rest := strings.TrimSpace(t.lines[textEntry.line][textEntry.value:]); rest != "" && rest[0] != '#' {
			return t.setEntry(textEntry, renderNode(want), nil)
		}
		if textBlock, ok = t.childBlock(textEntry); !ok {
			return errLayout
		}
	}
	return nil
}

// flowRoot returns the first line of a file that is written in braces.
func (t *configText) flowRoot() (line int, ok bool) {
	for i, line := range t.lines {
		if hasContent(line) && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "%") {
			return i, line[indentOf(line)] == '{'
		}
	}
	return 0, false
}

// replaceFlow replaces the mapping in braces that starts on a line.
func (t *configText) replaceFlow(line int, want node) error {
	text := strings.Join(t.lines[line:], "")
	start := indentOf(text)
	end, comment, err := scanValue(text, start)
	switch {
	case err != nil:
		return err
	case comment:
		return errComment
	}
	t.lines = append(t.lines[:line:line], slices.Collect(strings.Lines(text[:start]+renderNode(want)+text[end:]))...)
	return nil
}

// findField returns the value of a key.
func (n node) findField(key string) (node, bool) {
	for _, nodeField := range n.fields {
		if nodeField.key == key {
			return nodeField.node, true
		}
	}
	return node{kind: nodeMap}, false
}

// set returns the mapping with another value at a path.
func (n node) set(path []string, value node) node {
	if len(path) == 0 {
		return value
	}
	out := node{kind: nodeMap, fields: slices.Clone(n.fields)}
	for i, f := range out.fields {
		if f.key == path[0] {
			out.fields[i].node = f.node.set(path[1:], value)
			return out
		}
	}
	out.fields = append(out.fields, nodeField{key: path[0], node: node{kind: nodeMap}.set(path[1:], value)})
	return out
}

// remove returns the mapping without the key at a path.
func (n node) remove(path []string) node {
	out := node{kind: nodeMap}
	for _, nodeField := range n.fields {
		if nodeField.key == path[0] {
			if len(path) == 1 {
				continue
			}
			nodeField.node = nodeField.node.remove(path[1:])
		}
		out.fields = append(out.fields, nodeField)
	}
	return out
}

// removalPath returns the path to remove for a key. It includes sections that would become empty, because an empty
// section is invalid.
func (n node) removalPath(path []string) []string {
	for len(path) > 1 {
		parent, _ := n.findValue(path[:len(path)-1])
		if len(parent.fields) > 1 {
			break
		}
		path = path[:len(path)-1]
	}
	return path
}

// findValue returns the value at a path.
func (n node) findValue(path []string) (value node, ok bool) {
	value, ok = n, true
	for _, key := range path {
		if value, ok = value.findField(key); !ok {
			return node{}, false
		}
	}
	return value, true
}

// withoutPlaces returns the value without positions.
func (n node) withoutPlaces() node { return n.placeAt("") }

// placeAt returns the value with all positions set to one.
func (n node) placeAt(at string) node {
	out := node{at: at, kind: n.kind, text: n.text}
	for _, item := range n.items {
		out.items = append(out.items, item.placeAt(at))
	}
	for _, f := range n.fields {
		out.fields = append(out.fields, nodeField{at: at, key: f.key, node: f.node.placeAt(at)})
	}
	return out
}

// equalsValue compares values, ignoring positions.
func (n node) equalsValue(other node) bool {
	if n.kind != other.kind || n.text != other.text || len(n.fields) != len(other.fields) {
		return false
	}
	for _, f := range n.fields {
		if o, ok := other.findField(f.key); !ok || !f.node.equalsValue(o) {
			return false
		}
	}
	return slices.EqualFunc(n.items, other.items, node.equalsValue)
}

// bareRE matches texts that may be written without quotes if a parser reads them as texts.
var bareRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_./-]*$`)

// renderNode formats a value on one line.
func renderNode(n node) string {
	var parts []string
	switch n.kind {
	case nodeList:
		for _, item := range n.items {
			parts = append(parts, renderNode(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case nodeMap:
		for _, f := range n.fields {
			parts = append(parts, f.key+": "+renderNode(f.node))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case nodeNull:
		return "null"
	case nodeText:
		if !bareRE.MatchString(n.text) || slices.Contains(reservedWords, strings.ToLower(n.text)) {
			return strconv.Quote(n.text)
		}
		if read, ok := parseValue(n.text); !ok || read.kind != nodeText {
			return strconv.Quote(n.text)
		}
	}
	return n.text
}

// reservedWords are texts that some YAML parsers read as other types.
var reservedWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// parseValue parses a single YAML value.
func parseValue(text string) (value node, ok bool) {
	text = strings.TrimRight(text, " \t\r\n")
	source := "value: " + text + "\n"
	if strings.Contains(text, "\n") {
		source = "value:\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n"
	}
	root, faults := parseYAML("VALUE", []byte(source))
	if len(faults) > 0 || len(root.fields) != 1 || root.fields[0].key != "value" {
		return node{}, false
	}
	return root.fields[0].node.withoutPlaces(), true
}
