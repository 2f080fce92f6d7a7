package locktree

import "strings"

// readOldLine reads a line of yarn 1: a head, a field, or an item of a field's list.
func readOldLine(rest string, level int) (*Node, string) {
	if head, isHead := strings.CutSuffix(rest, ":"); isHead {
		node := &Node{}
		for part := range strings.SplitSeq(head, ", ") {
			key, ok := readOldText(part)
			if !ok || level > 0 && len(node.Keys) > 0 {
				return nil, "does not start an entry"
			}
			node.Keys = append(node.Keys, key)
		}
		return node, ""
	}
	n := &Node{kind: isText}
	one, behind, ok := cutOldText(rest)
	value, hasValue := strings.CutPrefix(behind, " ")
	if !ok || !hasValue || level == 0 {
		return nil, unclosed
	}
	if n.Text, ok = readOldText(value); !ok {
		return nil, unclosed
	}
	n.Keys = []string{one}
	return n, ""
}

// readOldText reads a whole text of yarn 1.
func readOldText(s string) (string, bool) {
	text, behind, ok := cutOldText(s)
	return text, ok && behind == ""
}

// cutOldText removes a text from the front. yarn 1 quotes some texts:
// https://github.com/yarnpkg/yarn/blob/v1.22.22/src/lockfile/stringify.js
func cutOldText(s string) (text, behind string, ok bool) {
	if s == "" {
		return "", "", false
	}
	if s[0] == '"' {
		return cutQuoted(s)
	}
	end := strings.IndexByte(s+" ", ' ')
	text, behind = s[:end], s[end:]
	isLetter := text != "" && (text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z')
	return text, behind, isLetter && !strings.ContainsAny(text, `:\",[]`) && !strings.HasPrefix(text, "true") &&
		!strings.HasPrefix(text, "false")
}
