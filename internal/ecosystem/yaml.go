package ecosystem

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of a YAML file of a repository. The parser recurses with the nesting,
// which brackets, dashes and question marks on one line can drive; its time grows
// with the square of the number of keys, and an alias stands for any amount of text.
const (
	maxYAML       = 256 << 10 // bytes
	maxYAMLLines  = 6000
	maxYAMLLine   = 16 << 10 // bytes
	maxYAMLDepth  = 48       // values within values
	maxYAMLValues = 20_000   // with those that aliases stand for
)

// YAMLValue is a value of a YAML file, with its place. One that is nil has nothing
// in it: a chain of questions needs no checks between them.
type YAMLValue struct {
	Line   int    // of its first character; of a block, the first line of its text
	Text   string // of a scalar
	Items  []*YAMLValue
	Fields []YAMLField // in the order of the file
}

// YAMLField is a key of a mapping, and what it is for.
type YAMLField struct {
	Key   string
	Line  int
	Value *YAMLValue
}

// Field is the value of a key, or nil.
func (v *YAMLValue) Field(key string) *YAMLValue {
	if v != nil {
		for _, f := range v.Fields {
			if f.Key == key {
				return f.Value
			}
		}
	}
	return nil
}

// FieldText is the text of a key, or nothing.
func (v *YAMLValue) FieldText(key string) string {
	if f := v.Field(key); f != nil {
		return f.Text
	}
	return ""
}

// List is the items of a list, or a single value as the only one.
func (v *YAMLValue) List() []*YAMLValue {
	switch {
	case v == nil:
		return nil
	case v.Items == nil && v.Fields == nil:
		return []*YAMLValue{v}
	}
	return v.Items
}

// ReadYAML reads the first document of an untrusted YAML file. Aliases stand for
// what they name, tags are left out, and of keys that are there twice the first
// counts.
func ReadYAML(text []byte) (root *YAMLValue, err error) {
	if err := checkYAMLBounds(string(text)); err != nil {
		return nil, err
	}
	defer func() {
		// The parser is not ours: a crash there is a file that cannot be read.
		if r := recover(); r != nil {
			root, err = nil, errors.New("it is no YAML")
		}
	}()
	file, err := parser.ParseBytes([]byte(strings.ToValidUTF8(strings.TrimPrefix(string(text), "\ufeff"), "\uFFFD")), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		if e := yaml.Error(nil); errors.As(err, &e) {
			if t := e.GetToken(); t != nil && t.Position != nil {
				return nil, fmt.Errorf("line %d: %s", t.Position.Line, e.GetMessage())
			}
			return nil, errors.New(e.GetMessage())
		}
		return nil, errors.New("it is no YAML")
	}
	for _, d := range file.Docs {
		if d.Body != nil {
			r := yamlReader{anchors: map[string]*YAMLValue{}}
			root = r.readNode(d.Body, 0)
			return root, r.err
		}
	}
	return &YAMLValue{Line: 1}, nil
}

// checkYAMLBounds refuses what would cost the parser too much.
func checkYAMLBounds(text string) error {
	if len(text) > maxYAML {
		return errors.New("it is too large for a definition")
	}
	depth, lines := 0, 0
	for line := range strings.Lines(text) {
		if lines++; lines > maxYAMLLines || len(line) > maxYAMLLine {
			return fmt.Errorf("line %d: there are too many, or it is too long", lines)
		}
		if strings.Count(line, "- ")+strings.Count(line, "? ") > 4*maxYAMLDepth {
			return fmt.Errorf("line %d: its lists lie too deep in one another", lines)
		}
		for i := range len(line) {
			switch line[i] {
			case '[', '{':
				if depth++; depth > maxYAMLDepth {
					return fmt.Errorf("line %d: its values lie too deep in one another", lines)
				}
			case ']', '}':
				depth = max(0, depth-1)
			case 0:
				return fmt.Errorf("line %d: a NUL byte", lines)
			}
		}
	}
	return nil
}

// yamlReader turns the parser's tree into values.
type yamlReader struct {
	anchors map[string]*YAMLValue
	values  int
	err     error
}

func (r *yamlReader) readNode(n ast.Node, depth int) *YAMLValue {
	if r.values++; r.err == nil && (depth > maxYAMLDepth || r.values > maxYAMLValues) {
		r.err = errors.New("it has too many values, or they lie too deep in one another")
	}
	if n == nil || r.err != nil {
		return &YAMLValue{}
	}
	v := &YAMLValue{}
	if t := n.GetToken(); t != nil && t.Position != nil {
		v.Line = t.Position.Line
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		v = r.readNode(n.Value, depth+1)
		if n.Name != nil {
			r.anchors[n.Name.String()] = v
		}
	case *ast.AliasNode:
		if n.Value != nil {
			if named := r.anchors[n.Value.String()]; named != nil {
				r.values += countYAML(named, maxYAMLValues)
				return named
			}
		}
	case *ast.TagNode:
		return r.readNode(n.Value, depth+1)
	case *ast.SequenceNode:
		v.Items = []*YAMLValue{}
		for _, item := range n.Values {
			v.Items = append(v.Items, r.readNode(item, depth+1))
		}
	case *ast.MappingNode:
		r.readFields(v, n.Values, depth)
	case *ast.MappingValueNode:
		r.readFields(v, []*ast.MappingValueNode{n}, depth)
	case *ast.LiteralNode:
		v.Line++ // its text begins below the sign
		if n.Value != nil {
			v.Text = n.Value.Value
		}
	case *ast.StringNode:
		v.Text = n.Value
	case *ast.NullNode:
	default:
		if t := n.GetToken(); t != nil {
			v.Text = t.Value
		}
	}
	return v
}

func (r *yamlReader) readFields(v *YAMLValue, values []*ast.MappingValueNode, depth int) {
	v.Fields = []YAMLField{}
	var merged []*YAMLValue
	for _, f := range values {
		value := r.readNode(f.Value, depth+1)
		if _, merge := f.Key.(*ast.MergeKeyNode); merge {
			merged = append(merged, value.asMappings()...)
			continue
		}
		key := f.Key.GetToken()
		if key == nil || v.Field(key.Value) != nil {
			continue
		}
		v.Fields = append(v.Fields, YAMLField{Key: key.Value, Line: key.Position.Line, Value: value})
	}
	for _, m := range merged { // what stands in the mapping itself goes first
		for _, f := range m.Fields {
			if v.Field(f.Key) == nil {
				v.Fields = append(v.Fields, f)
			}
		}
	}
}

// asMappings are the mappings that a merge names: one, or a list of them.
func (v *YAMLValue) asMappings() []*YAMLValue {
	if v.Items != nil {
		return v.Items
	}
	return []*YAMLValue{v}
}

// countYAML counts the values in a value, up to a bound.
func countYAML(v *YAMLValue, most int) int {
	n := 1
	for _, item := range v.Items {
		if n > most {
			return n
		}
		n += countYAML(item, most-n)
	}
	for _, f := range v.Fields {
		if n > most {
			return n
		}
		n += countYAML(f.Value, most-n)
	}
	return n
}
