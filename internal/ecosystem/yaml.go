package ecosystem

import (
	"errors"
	"path"
	"strings"

	"company/internal/lib/boundedparse/yaml"

	"github.com/goccy/go-yaml/ast"
)

// yamlLimits limits the size of a YAML file of a repository.
var yamlLimits = yaml.Limits{Bytes: 256 << 10, Lines: 6000, Depth: 60}

// maxTreeYAML limits the total bytes of the YAML files of one tree. Dozens of files must not cost dozens of times the
// limit of one.
const maxTreeYAML = 1 << 20

// maxYAMLValues limits the values of a file, including the values behind aliases.
const maxYAMLValues = 20_000

// YAMLValue is a value of a YAML file, with its line. A nil YAMLValue is empty, so calls can be chained without
// checks.
type YAMLValue struct {
	Line   int    // the line of its first character; for a block, the first line of its text
	Text   string // of a scalar
	Items  []*YAMLValue
	Fields []YAMLField // in the order of the file
}

// YAMLField is a key of a mapping with its value.
type YAMLField struct {
	Key   string
	Line  int
	Value *YAMLValue
}

// Field returns the value of a key, or nil.
func (v *YAMLValue) Field(key string) *YAMLValue {
	if v != nil {
		for _, yamlField := range v.Fields {
			if yamlField.Key == key {
				return yamlField.Value
			}
		}
	}
	return nil
}

// FieldText returns the text of a key, or "".
func (v *YAMLValue) FieldText(key string) string {
	if f := v.Field(key); f != nil {
		return f.Text
	}
	return ""
}

// List returns the items of a list. A single value is returned as the only item.
func (v *YAMLValue) List() []*YAMLValue {
	switch {
	case v == nil:
		return nil
	case v.Items == nil && v.Fields == nil:
		return []*YAMLValue{v}
	}
	return v.Items
}

// ReadYAML reads the first document of an untrusted YAML file. It resolves aliases and ignores tags. If a key occurs
// twice, the first one counts.
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

// parsedYAML is the result of reading a YAML file of a tree.
type parsedYAML struct {
	root *YAMLValue
	err  error
}

// ReadYAML reads a YAML file of the tree and caches the result. It returns nil for a blank or missing file. The files
// of one tree share a limit of bytes. It returns an error for files beyond the limit.
func (t *Tree) ReadYAML(dir, name string) (*YAMLValue, error) {
	file := path.Join(dir, name)
	if earlier, ok := t.yaml[file]; ok {
		return earlier.root, earlier.err
	}
	var p parsedYAML
	if text := t.ReadManifest(dir, name); strings.TrimSpace(text) != "" {
		if t.yamlBytes += len(text); t.yamlBytes > maxTreeYAML {
			p.err = errors.New("the YAML files have more than 1 MiB in total")
		} else {
			p.root, p.err = ReadYAML([]byte(text))
		}
	}
	t.yaml[file] = p
	return p.root, p.err
}

// yamlReader converts the parser's nodes to values.
type yamlReader struct {
	anchors map[string]*YAMLValue
	values  int
	err     error
}

func (r *yamlReader) readNode(n ast.Node, depth int) *YAMLValue {
	if r.values++; r.err == nil && (depth > 2*yamlLimits.Depth || r.values > maxYAMLValues) {
		r.err = errors.New("it has too many values, or is nested too deep")
	}
	if n == nil || r.err != nil {
		return &YAMLValue{}
	}
	yamlValue := &YAMLValue{}
	if t := n.GetToken(); t != nil && t.Position != nil {
		yamlValue.Line = t.Position.Line
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		yamlValue = r.readNode(n.Value, depth+1)
		if n.Name != nil {
			r.anchors[n.Name.String()] = yamlValue
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
		yamlValue.Items = []*YAMLValue{}
		for _, item := range n.Values {
			yamlValue.Items = append(yamlValue.Items, r.readNode(item, depth+1))
		}
	case *ast.MappingNode:
		r.readFields(yamlValue, n.Values, depth)
	case *ast.MappingValueNode:
		r.readFields(yamlValue, []*ast.MappingValueNode{n}, depth)
	case *ast.LiteralNode:
		yamlValue.Line++ // its text begins on the line after | or >
		if n.Value != nil {
			yamlValue.Text = n.Value.Value
		}
	case *ast.StringNode:
		yamlValue.Text = n.Value
	case *ast.NullNode:
	default:
		if t := n.GetToken(); t != nil {
			yamlValue.Text = t.Value
		}
	}
	return yamlValue
}

func (r *yamlReader) readFields(yamlValue *YAMLValue, values []*ast.MappingValueNode, depth int) {
	yamlValue.Fields = []YAMLField{}
	var merged []*YAMLValue
	for _, f := range values {
		value := r.readNode(f.Value, depth+1)
		if _, merge := f.Key.(*ast.MergeKeyNode); merge {
			merged = append(merged, value.asMappings()...)
			continue
		}
		key := f.Key.GetToken()
		if key == nil || yamlValue.Field(key.Value) != nil {
			continue
		}
		yamlValue.Fields = append(yamlValue.Fields, YAMLField{Key: key.Value, Line: key.Position.Line, Value: value})
	}
	for _, m := range merged { // keys of the mapping itself take precedence
		for _, yamlField := range m.Fields {
			if yamlValue.Field(yamlField.Key) == nil {
				yamlValue.Fields = append(yamlValue.Fields, yamlField)
			}
		}
	}
}

// asMappings returns the mappings that a merge key refers to: one, or a list of them.
func (v *YAMLValue) asMappings() []*YAMLValue {
	if v.Items != nil {
		return v.Items
	}
	return []*YAMLValue{v}
}

// countYAML counts the values in a value. It stops above a limit.
func countYAML(yamlValue *YAMLValue, limit int) int {
	n := 1
	for _, item := range yamlValue.Items {
		if n > limit {
			return n
		}
		n += countYAML(item, limit-n)
	}
	for _, yamlField := range yamlValue.Fields {
		if n > limit {
			return n
		}
		n += countYAML(yamlField.Value, limit-n)
	}
	return n
}
