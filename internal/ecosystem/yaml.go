package ecosystem

import (
	"errors"
	"path"
	"strings"

	"company/internal/boundedparse/yaml"

	"github.com/goccy/go-yaml/ast"
)

// yamlLimits bound a YAML file of a repository.
var yamlLimits = yaml.Limits{Bytes: 256 << 10, Lines: 6000, Depth: 60}

// maxTreeYAML bounds the YAML files of one tree together, in bytes: dozens of definitions
// must not cost dozens of times what one may.
const maxTreeYAML = 1 << 20

// maxYAMLValues bounds the values of a file, with those that its aliases stand for.
const maxYAMLValues = 20_000

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
func ReadYAML(text []byte) (*YAMLValue, error) {
	file, err := yaml.Parse([]byte(strings.ToValidUTF8(string(text), "\uFFFD")), yamlLimits)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Docs {
		if d.Body != nil {
			r := yamlReader{anchors: map[string]*YAMLValue{}}
			root := r.readNode(d.Body, 0)
			return root, r.err
		}
	}
	return &YAMLValue{Line: 1}, nil
}

// parsedYAML is what came of a YAML file of a tree.
type parsedYAML struct {
	root *YAMLValue
	err  error
}

// ReadYAML reads a YAML file of the tree, once; a blank one, or one that is not there, is
// nil. The files of one tree share a budget of bytes. Those beyond it are errors.
func (t *Tree) ReadYAML(dir, name string) (*YAMLValue, error) {
	file := path.Join(dir, name)
	if earlier, ok := t.yaml[file]; ok {
		return earlier.root, earlier.err
	}
	var p parsedYAML
	if text := t.ReadManifest(dir, name); strings.TrimSpace(text) != "" {
		if t.yamlBytes += len(text); t.yamlBytes > maxTreeYAML {
			p.err = errors.New("the YAML files that are read have more than 1 MiB together")
		} else {
			p.root, p.err = ReadYAML([]byte(text))
		}
	}
	t.yaml[file] = p
	return p.root, p.err
}

// yamlReader turns the parser's tree into values.
type yamlReader struct {
	anchors map[string]*YAMLValue
	values  int
	err     error
}

func (r *yamlReader) readNode(n ast.Node, depth int) *YAMLValue {
	if r.values++; r.err == nil && (depth > 2*yamlLimits.Depth || r.values > maxYAMLValues) {
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
