package locktree

import "strings"

// readYAMLLine reads a key with its value.
func readYAMLLine(rest string, isAuthors bool) (*Node, string) {
	key, value, ok := cutKey(rest)
	if !ok {
		return nil, "has no key"
	}
	node := &Node{Keys: []string{key}, kind: isText}
	switch {
	case value == "":
		node.kind = isOpen
	case isAuthors && isBlockMark(value):
		node.kind = isWords
	case isAuthors && isAuthorsText(value):
		node.Text = value
	case value[0] == '{' || value[0] == '[':
		if reason := node.readFlow(value); reason != "" {
			return nil, reason
		}
	default:
		if node.Text, ok = readText(value, false); !ok {
			return nil, unclosed
		}
	}
	return node, ""
}

// cutKey splits a line into key and value at a colon and one space.
func cutKey(rest string) (key, value string, ok bool) {
	if rest == "" {
		return "", "", false
	}
	if rest[0] == '\'' || rest[0] == '"' {
		quoted, behind, ok := cutQuoted(rest)
		if value, hasValue := strings.CutPrefix(behind, ": "); hasValue {
			return quoted, value, ok && value != ""
		}
		return quoted, "", ok && behind == ":"
	}
	key, value, ok = strings.Cut(rest, ": ")
	if !ok {
		key, ok = strings.CutSuffix(rest, ":")
	} else if value == "" {
		return "", "", false
	}
	return key, value, ok && isPlain(key, false)
}

// cutQuoted removes a quoted text from the front.
func cutQuoted(s string) (text, behind string, ok bool) {
	quote := s[:1]
	if quote == `"` {
		text, behind, ok = strings.Cut(s[1:], quote)
		return text, behind, ok && !strings.Contains(text, `\`)
	}
	for end := 1; end < len(s); end++ {
		switch {
		case s[end] != '\'':
		case end+1 < len(s) && s[end+1] == '\'':
			end++ // a doubled quote stands for one
		default:
			return strings.ReplaceAll(s[1:end], "''", "'"), s[end+1:], true
		}
	}
	return "", "", false
}

// readText reads a value on one line. inFlow means that it is inside brackets.
func readText(s string, inFlow bool) (string, bool) {
	if s == "" {
		return "", false
	}
	if s[0] == '\'' || s[0] == '"' {
		text, behind, ok := cutQuoted(s)
		return text, ok && behind == ""
	}
	return s, isPlain(s, inFlow)
}

// isPlain reports whether a text needs no quotes in YAML (https://yaml.org/spec/1.2.2/#733-plain-style).
func isPlain(s string, inFlow bool) bool {
	switch {
	case s == "" || strings.ContainsRune("-?:,[]{}#&*!|>'\"%@` ", rune(s[0])), s == "...":
		return false
	case strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.Contains(s, "  "), strings.HasSuffix(s, ":"),
		strings.HasSuffix(s, " "):
		return false
	}
	return !inFlow || !strings.ContainsAny(s, ",[]{}")
}

// readFlow reads a map or a list in brackets, on one line and without nested brackets.
func (n *Node) readFlow(s string) (reason string) {
	end, isFlowMap := "]", s[0] == '{'
	n.kind = isList
	if isFlowMap {
		end, n.kind = "}", isMap
	}
	inner, ok := strings.CutSuffix(s[1:], end)
	for more := inner != ""; ok && more; {
		var one string
		if one, inner, more = cutItem(inner); more && inner == "" {
			return unclosed
		}
		below := &Node{kind: isText}
		if isFlowMap {
			key, value, isKey := cutKey(one)
			if !isKey || value == "" || one[0] != '\'' && one[0] != '"' && !isPlain(key, true) {
				return unclosed
			}
			below.Keys, one = []string{key}, value
		}
		if below.Text, ok = readText(one, true); ok {
			if why := n.add(below); why != "" {
				return why
			}
		}
	}
	if !ok {
		return unclosed
	}
	return ""
}

// cutItem removes an item from the front, up to a comma and a space outside of quotes.
func cutItem(s string) (one, rest string, more bool) {
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '\'' || c == '"') && (i == 0 || s[i-1] == ' ' || s[i-1] == '\''):
			quote = c
		case c == ',' && i+1 < len(s) && s[i+1] == ' ':
			return s[:i], s[i+2:], true
		}
	}
	return s, "", false
}

// isBlockMark reports whether a value starts a block text on the following lines.
func isBlockMark(s string) bool {
	switch strings.TrimPrefix(s[1:], "2") {
	case "", "+", "-":
		return s[0] == '|' || s[0] == '>'
	}
	return false
}

// isAuthorsText reports whether an author's text is complete on its line. In double quotes, it may contain escapes.
func isAuthorsText(s string) bool {
	switch s[0] {
	case '"':
		for i := 1; i < len(s); i++ {
			if s[i] == '\\' {
				i++
			} else if s[i] == '"' {
				return i == len(s)-1
			}
		}
		return false
	case '\'':
		_, behind, ok := cutQuoted(s)
		return ok && behind == ""
	}
	return isPlain(strings.ReplaceAll(s, "  ", " "), false)
}
