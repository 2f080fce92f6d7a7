package config

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"company/internal/lib/boundedparse/yaml"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Limits of a config file.
const (
	maxFileBytes = 64 << 10
	maxLines     = 4000
	maxLineBytes = 4 << 10
	maxNesting   = 32
)

type nodeKind int

const (
	nodeText nodeKind = iota
	nodeNumber
	nodeBool
	nodeNull
	nodeList
	nodeMap
	nodeInvalid // already reported
	nodeUntyped // from the environment or a flag: its key determines the kind
)

var digitsRE = lazyregexp.New(`^[-+]?[0-9]+(\.[0-9]*)?$`)

// node is a value from a source, with its position.
type node struct {
	at     string // file:line:column, the variable or the flag
	kind   nodeKind
	text   string // source text of a scalar
	items  []node
	fields []nodeField
}

type nodeField struct {
	at   string
	key  string
	node node
}

// describeValue describes the node as a found value.
func (n node) describeValue() string {
	switch n.kind {
	case nodeList:
		return "a list"
	case nodeMap:
		return "a mapping"
	case nodeNull:
		return "nothing"
	case nodeNumber, nodeBool:
		return shortenText(n.text)
	}
	return shortenText(strconv.Quote(n.text))
}

func shortenText(s string) string {
	if len(s) > 60 {
		return s[:57] + "..."
	}
	return s
}

// yamlWordRE matches what stands between the marks of YAML.
var yamlWordRE = lazyregexp.New("[^\\s:{}\\[\\],\"'#→]+")

// pointAt returns a line of a file, with a caret below a column of it. It returns "" for a line that is long. A line
// that is not YAML may hold a secret anywhere, so each word but the names of keys is shown as dots.
func pointAt(data []byte, line, column int) string {
	lines := strings.Split(string(data), "\n")
	if line < 1 || line > len(lines) || column < 1 {
		return ""
	}
	text := strings.ReplaceAll(strings.TrimRight(lines[line-1], "\r"), "\t", "→")
	if n := utf8.RuneCountInString(text); n > 100 || column > n+1 {
		return ""
	}
	known := map[string]bool{}
	for _, key := range Keys() {
		for name := range strings.SplitSeq(key.Name, ".") {
			known[name] = true
		}
	}
	text = yamlWordRE.ReplaceAllStringFunc(text, func(word string) string {
		if known[word] {
			return word
		}
		return strings.Repeat("•", utf8.RuneCountInString(word))
	})
	return "\n    " + text + "\n    " + strings.Repeat(" ", column-1) + "^"
}

// suggestSyntaxFix returns the fix for what the parser says of a line that is not YAML.
func suggestSyntaxFix(message string, data []byte, line int) string {
	lines := bytes.Split(data, []byte("\n"))
	switch {
	case line >= 1 && line <= len(lines) && bytes.ContainsRune(lines[line-1], '\t'):
		return fmt.Sprintf("indent with blanks: line %d has a tab", line)
	case strings.Contains(message, "-quoted text"):
		return fmt.Sprintf("close the quote that is opened in line %d", line)
	case strings.ContainsAny(message, "[]{}"):
		return fmt.Sprintf("close each bracket that is opened up to line %d", line)
	case line <= 1:
		return "write one key with one value in a line"
	}
	return fmt.Sprintf("compare line %d with the one above: its indent, and one key with one value in a line", line)
}

// parseYAML parses a document into a node. name is the name of the file in messages. Anchors, aliases, tags and merges
// are refused: a config does not need them, and they obscure values.
func parseYAML(name string, data []byte) (node, problems) {
	fail := func(line, col int, what, fix string) []problem {
		return []problem{{at: fmt.Sprintf("%s:%d:%d", name, line, col), what: what, fix: fix}}
	}
	// A byte order mark from an editor has no meaning. Other invalid UTF-8 would be misread.
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if i := invalidUTF8(data); i >= 0 {
		before := string(data[:i])
		return node{}, fail(1+strings.Count(before, "\n"), i-strings.LastIndexByte(before, '\n'),
			fmt.Sprintf("a byte that is not UTF-8 (0x%02x)", data[i]), "save the file as plain UTF-8 text")
	}
	file, err := yaml.Parse(data, yaml.Limits{Bytes: maxFileBytes, Lines: maxLines, Depth: maxNesting})
	if refused := (*yaml.Error)(nil); errors.As(err, &refused) {
		if refused.Fix == "" {
			return node{}, fail(refused.Line, refused.Column, "bad syntax: "+safetext.FirstLine(refused.Message)+
				pointAt(data, refused.Line, refused.Column), suggestSyntaxFix(refused.Message, data, refused.Line))
		}
		return node{}, fail(refused.Line, refused.Column, refused.Message, refused.Fix)
	}
	line := 0
	for text := range bytes.Lines(data) {
		if line++; len(text) > maxLineBytes+1 {
			return node{}, fail(line, 1, fmt.Sprintf("the line has %d bytes", len(text)-1),
				fmt.Sprintf("%d are allowed", maxLineBytes))
		}
	}
	var docs []*ast.DocumentNode
	for _, d := range file.Docs {
		if d.Body != nil {
			docs = append(docs, d)
		}
	}
	switch {
	case len(docs) == 0:
		return node{}, fail(1, 1, "the file is empty", "write version: 1, or remove the file")
	case len(docs) > 1:
		p := docs[1].Body.GetToken().Position
		return node{}, fail(p.Line, p.Column, "a second document", "keep one document in the file")
	}
	c := converter{name: name}
	root := c.convertNode(docs[0].Body, 0)
	if len(c.problems) == 0 && root.kind != nodeMap {
		return node{}, fail(1, 1, "the file is "+root.describeValue(), "write keys with values, such as version: 1")
	}
	return root, c.problems
}

// invalidUTF8 returns the offset of the first invalid UTF-8, or -1.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// converter converts the parser's tree into nodes.
type converter struct {
	name     string
	problems []problem
}

func (c *converter) positionOf(t *token.Token) string {
	if t == nil || t.Position == nil {
		return c.name + ":1:1"
	}
	return fmt.Sprintf("%s:%d:%d", c.name, t.Position.Line, t.Position.Column)
}

func (c *converter) badNode(t *token.Token, what, fix string) node {
	at := c.positionOf(t)
	c.problems = append(c.problems, problem{at: at, what: what, fix: fix})
	return node{at: at, kind: nodeInvalid}
}

func (c *converter) convertNode(n ast.Node, depth int) node {
	t := n.GetToken()
	if depth > maxNesting {
		return c.badNode(t, "values nest too deeply", fmt.Sprintf("%d levels are allowed", maxNesting))
	}
	switch n := n.(type) {
	case *ast.StringNode:
		// The parser treats a number that overflows as a text.
		if t.Type == token.StringType && digitsRE.MatchString(n.Value) {
			return node{at: c.positionOf(t), kind: nodeNumber, text: n.Value}
		}
		return node{at: c.positionOf(t), kind: nodeText, text: n.Value}
	case *ast.LiteralNode:
		return node{at: c.positionOf(t), kind: nodeText, text: n.Value.Value}
	case *ast.IntegerNode, *ast.FloatNode:
		return node{at: c.positionOf(t), kind: nodeNumber, text: t.Value}
	case *ast.InfinityNode, *ast.NanNode:
		return node{at: c.positionOf(t), kind: nodeNumber, text: t.Value}
	case *ast.BoolNode:
		return node{at: c.positionOf(t), kind: nodeBool, text: strconv.FormatBool(n.Value)}
	case *ast.NullNode:
		return node{at: c.positionOf(t), kind: nodeNull}
	case *ast.SequenceNode:
		out := node{at: c.positionOf(t), kind: nodeList}
		for _, v := range n.Values {
			out.items = append(out.items, c.convertNode(v, depth+1))
		}
		return out
	case *ast.MappingNode:
		return c.convertMapping(c.positionOf(t), n.Values, depth)
	case *ast.MappingValueNode:
		return c.convertMapping(c.positionOf(n.Key.GetToken()), []*ast.MappingValueNode{n}, depth)
	case *ast.AnchorNode, *ast.AliasNode:
		return c.badNode(t, "an anchor or alias", "write the value out")
	case *ast.TagNode:
		return c.badNode(t, "a tag", "write the value without "+shortenText(t.Value))
	}
	return c.badNode(t, "an unsupported value", "write keys, texts, numbers, true, false and lists")
}

func (c *converter) convertMapping(at string, values []*ast.MappingValueNode, depth int) node {
	out := node{at: at, kind: nodeMap}
	first := map[string]string{}
	for _, v := range values {
		t := v.Key.GetToken()
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			c.badNode(t, "a key that is not a plain name", "write keys as plain names")
			continue
		}
		if prev, dup := first[key.Value]; dup {
			c.badNode(
				t, fmt.Sprintf("duplicate key %s (first at %s)", shortenText(key.Value), strings.TrimPrefix(prev, c.name+":")),
				"keep one of them")
			continue
		}
		first[key.Value] = c.positionOf(t)
		out.fields = append(out.fields, nodeField{at: c.positionOf(t), key: key.Value, node: c.convertNode(v.Value, depth+1)})
	}
	return out
}
