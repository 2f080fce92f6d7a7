// Package locktree parses the lock files of yarn and pnpm into trees. It handles only their syntax: YAML in the exact
// form that these clients write, and the older format of yarn 1. The meaning is left to the packages of the clients.
//
// A worker may change a lock file, and the parsed tree is compared with the packages that the client installs. A line
// that the client reads differently could hide a package. Therefore every character of a line must be part of the
// tree, or the line is a fault. Faults include escapes, comments after values, trailing spaces, anchors, tags,
// multi-line values and duplicate keys, because no client writes them. A faulty line is skipped with the lines nested
// below it. A file with manual edits thus keeps its other packages.
package locktree

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/ecosystem"
	"company/internal/lib/safetext"
)

// Node is a key of a lock file or an item of a list, with its contents.
type Node struct {
	Keys  []string // without quotes; several only in a head of yarn 1, none in a list
	Text  string   // its value, if it has no nodes
	Nodes []*Node
	kind  kind
	names map[string]*Node
}

// kind tells what may be nested in a node.
type kind int

const (
	isOpen  kind = iota // nothing has been read yet
	isText              // it has a value
	isMap               // its nodes have keys
	isList              // its nodes have no keys
	isWords             // its value is a text on several lines
)

// Key returns the first key, or "".
func (n *Node) Key() string {
	if n == nil || len(n.Keys) == 0 {
		return ""
	}
	return n.Keys[0]
}

// Find returns the node of a key, or nil.
func (n *Node) Find(key string) *Node {
	if n == nil {
		return nil
	}
	return n.names[key]
}

// TextOf returns the value of a key, or "".
func (n *Node) TextOf(key string) string {
	if found := n.Find(key); found != nil {
		return found.Text
	}
	return ""
}

// Below returns the nested nodes. A nil Node has none.
func (n *Node) Below() []*Node {
	if n == nil {
		return nil
	}
	return n.Nodes
}

// Values returns the keys that have a text, with these texts.
func (n *Node) Values() map[string]string {
	out := map[string]string{}
	for _, below := range n.Below() {
		if below.IsText() {
			out[below.Key()] = below.Text
		}
	}
	return out
}

// IsText reports whether the node has a value on one line.
func (n *Node) IsText() bool { return n.kind == isText }

// String returns the contents of the node on one line.
func (n *Node) String() string {
	if n.kind == isText {
		return n.Text
	}
	var all []string
	for _, below := range n.Nodes {
		all = append(all, strings.TrimPrefix(strings.Join(below.Keys, ", ")+": "+below.String(), ": "))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// authorsKey is a field of pnpm with arbitrary text from a package's author.
const authorsKey = "deprecated"

// reader is the state of the parser.
type reader struct {
	old   bool // yarn 1 format
	open  []*Node
	skips int // skip lines with a deeper level; -1 skips none
	fault error
}

// ReadYAML reads a lock file of pnpm, or of yarn from version 2 on.
func ReadYAML(text []byte) (*Node, error) { return read(text, false) }

// ReadOld reads a lock file of yarn 1.
func ReadOld(text []byte) (*Node, error) { return read(text, true) }

// read returns the tree of all valid lines, and the first fault.
func read(text []byte, old bool) (*Node, error) {
	root := &Node{kind: isMap}
	r := reader{old: old, open: []*Node{root}, skips: -1}
	if !utf8.Valid(text) {
		r.fault = errors.New("it is not UTF-8")
	}
	if ecosystem.HasMergeMarks(text) {
		r.noteFault("<<<<<<<", "is a conflict marker, which clients read differently")
	}
	if n := bytes.Count(text, []byte("\r\n")); n > 0 && n == bytes.Count(text, []byte("\n")) {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if key, isLong := strings.CutPrefix(line, "? "); isLong && !old && strings.HasPrefix(key, `"`) && i+1 < len(lines) &&
			lines[i+1] == ":" {
			line = key + ":"
			i++
		}
		r.readLine(line, i == 0)
	}
	return root, r.fault
}

// noteFault stores the first fault. Later faults may result from it.
func (r *reader) noteFault(line, reason string) {
	if r.fault == nil {
		r.fault = fmt.Errorf("the line %q %s", safetext.Cut(line, 100), reason)
	}
}

func (r *reader) readLine(line string, first bool) {
	rest := strings.TrimLeft(line, " ")
	indent := len(line) - len(rest)
	if top := r.open[len(r.open)-1]; top.kind == isWords && (line == "" || indent >= 2*(len(r.open)-1)) {
		if hasControls(line) {
			r.noteFault(line, "has a control character")
		}
		return
	}
	switch {
	case line == "" && r.old: // an empty line ends an entry in yarn 1
		r.open = r.open[:1]
		return
	case line == "" || first && line == "---" && !r.old:
		return
	case line[0] == '#' && len(r.open[0].Nodes) == 0:
		if !isRemark(line, r.old) {
			r.noteFault(line, "is a comment that no client writes")
		}
		return
	}
	level := indent / 2
	if r.skips >= 0 && level > r.skips {
		return
	}
	r.skips = -1
	if reason := r.addLine(rest, indent, level); reason != "" {
		r.noteFault(line, reason)
		r.skips = level
		if level < len(r.open) {
			r.open = r.open[:max(level, 0)+1]
		}
	}
}

// addLine adds the contents of a line to its parent node, or returns the reason why it is invalid.
func (r *reader) addLine(rest string, indent, level int) (reason string) {
	isAuthors := strings.HasPrefix(rest, authorsKey+": ") && !r.old
	switch {
	case indent%2 != 0 || level >= len(r.open):
		return "is in no list"
	case !isAuthors && hasOddSpace(rest) || hasControls(rest):
		return "has a sign that its client writes in another way"
	case rest == "" || strings.HasSuffix(rest, " "):
		return "ends with a blank"
	}
	r.open = r.open[:level+1]
	parent := r.open[level]
	var node *Node
	item, isItem := strings.CutPrefix(rest, "- ")
	switch {
	case isItem && !r.old:
		text, ok := readText(item, false)
		if !ok {
			return unclosed
		}
		node = &Node{Text: text, kind: isText}
	case r.old:
		node, reason = readOldLine(rest, level)
	default:
		node, reason = readYAMLLine(rest, isAuthors)
	}
	if reason != "" {
		return reason
	}
	return r.addNode(parent, node, isItem && !r.old)
}

// addNode adds a node to its parent.
func (r *reader) addNode(parent, node *Node, isItem bool) (reason string) {
	want := isMap
	if isItem {
		want = isList
	}
	if parent.kind != isOpen && parent.kind != want {
		return "is in no list" // otherwise the line would continue the value above it
	}
	parent.kind = want
	if why := parent.add(node); why != "" {
		return why
	}
	if node.kind == isOpen || node.kind == isWords {
		r.open = append(r.open, node)
	}
	return ""
}

func (n *Node) add(below *Node) (reason string) {
	for _, key := range below.Keys {
		if _, had := n.names[key]; had {
			return "is there twice"
		}
		if key == "" || key == "<<" || key == "__proto__" {
			return "has a key that no client writes"
		}
		if n.names == nil {
			n.names = map[string]*Node{}
		}
		n.names[key] = below
	}
	n.Nodes = append(n.Nodes, below)
	return ""
}

const unclosed = "does not end what it begins"

// isRemark reports whether a line is a comment as clients write them. Clients read the rest of the file differently
// depending on the comment with the version.
func isRemark(line string, old bool) bool {
	if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c > '~' }) {
		return false
	}
	return !strings.Contains(strings.ToLower(line), "lockfile") || old && line == "# yarn lockfile v1"
}

// hasOddSpace reports whether a line has white space other than a space. Some clients trim it.
func hasOddSpace(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c != ' ' && unicode.IsSpace(c) })
}

// hasControls reports whether a text has characters that some parsers treat as line breaks or as invalid.
func hasControls(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool {
		return c < ' ' || c >= 0x7f && c <= 0x9f || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == utf8.RuneError ||
			c&0xfffe == 0xfffe
	})
}
