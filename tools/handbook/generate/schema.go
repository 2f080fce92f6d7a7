package generate

import (
	"encoding/json"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// schemaFile is the published schema of all shapes.
const schemaFile = "docs/schemas/output.schema.json"

// renderShapes renders the table of the commands and the definitions of their output.
func renderShapes(shapes []Shape) string {
	var b strings.Builder
	writeHead(&b, "command", "definition")
	for _, s := range shapes {
		commands := make([]string, len(s.Commands))
		for i, c := range s.Commands {
			commands[i] = quoteCode(c)
			if strings.Contains(c, "stderr") {
				commands[i] = c
			}
		}
		writeRow(&b, strings.Join(commands, ", "), quoteCode(s.Name))
	}
	return b.String()
}

func schemaPages(root string) ([]Page, error) {
	s, err := OutputSchema(root, false)
	if err != nil {
		return nil, err
	}
	return []Page{{schemaFile, s}}, nil
}

// commented are the packages whose comments describe fields.
var commented = []string{
	"internal/agent", "internal/api", "internal/app", "internal/company", "internal/office/config",
	"internal/surface/diagnose",
	"internal/present/feed", "tools/handbook/generate", "internal/lib/healthcheck", "internal/upkeep",
	"internal/present/view",
}

// OutputSchema is the JSON Schema of all shapes, each a definition by its name. A
// strict one refuses fields that it does not name: tests hold the output to it. The
// published one lets them pass, since fields may be added.
func OutputSchema(root string, strict bool) ([]byte, error) {
	defs, err := reflectShapes(root, Shapes(), strict, nil)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(&jsonschema.Schema{
		Version: jsonschema.Version, Title: "Output of company -o json", Definitions: defs,
		Description: "Each command prints one definition. See docs/json.md.",
	}, "", "  ")
	return append(text, '\n'), err
}

// reflectShapes makes the definitions of shapes and of all types that they hold. mapper
// gives the schema of types that are not reflected; it may be nil.
func reflectShapes(
	root string, shapes []Shape, strict bool, mapper func(reflect.Type) *jsonschema.Schema,
) (jsonschema.Definitions, error) {
	names := map[reflect.Type]string{}
	for _, s := range shapes {
		names[reflect.TypeOf(s.Example)] = s.Name
	}
	name := func(t reflect.Type) string {
		if name, ok := names[t]; ok {
			return name
		}
		if t.Name() == "" || t.PkgPath() == "" {
			return ""
		}
		if part, ok := strings.CutPrefix(t.Name(), "shape"); ok { // of a type of this package
			return "part." + part
		}
		return path.Base(t.PkgPath()) + "." + t.Name() // types of different packages may have one name
	}
	comments, err := readComments(root)
	if err != nil {
		return nil, err
	}
	r := &jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: !strict, Namer: name, CommentMap: comments,
		Mapper: mapper}
	defs := jsonschema.Definitions{}
	done := map[reflect.Type]bool{}
	for _, shape := range shapes {
		t := reflect.TypeOf(shape.Example)
		for name, def := range r.ReflectFromType(t).Definitions {
			if defs[name] == nil {
				defs[name] = def
			}
		}
		allowNull(defs, name, t, done)
		if defs[shape.Name] != nil {
			defs[shape.Name].Description = shape.Doc
		}
	}
	return defs, nil
}

// nullLists are the lists and maps that are printed as null where they are empty. All
// others are printed as [] or {}.
var nullLists = map[string]bool{
	"view.Subtask.changes": true, "view.TaskDetail.failures": true,
	"view.IDs.tasks": true, "view.IDs.open": true, "view.IDs.ended": true, "view.IDs.plans": true,
	"view.IDs.running":    true,
	"view.IDs.unfinished": true, "view.IDs.paused": true, "view.IDs.all": true, "view.IDs.questions": true,
	"view.IDs.workers":       true,
	"view.IDs.pull_requests": true, "view.IDs.open_pull_requests": true, "view.IDs.followed": true,
	"view.IDs.projects": true,
	"image.notes":       true, "layers.notes": true, "images.images": true, "orphans.orphans": true,
	"logins.logins": true, "host_keys.keys": true, "patch.files": true, "bench.lines": true,
}

// allowNull lets null stand for a pointer that is always printed, and for the lists
// above: the reflector takes a pointer for its value.
func allowNull(
	defs jsonschema.Definitions, name func(reflect.Type) string, t reflect.Type, done map[reflect.Type]bool,
) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		allowNull(defs, name, t.Elem(), done)
		return
	case reflect.Struct:
	default:
		return
	}
	if done[t] {
		return
	}
	done[t] = true
	def := defs[name(t)]
	for _, f := range reflect.VisibleFields(t) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "-" || !f.IsExported() {
			continue
		}
		allowNull(defs, name, f.Type, done)
		if def == nil || def.Properties == nil || strings.Contains(options, "omitempty") ||
			f.Type.Kind() != reflect.Pointer && !nullLists[name(t)+"."+key] {
			continue
		}
		if was, ok := def.Properties.Get(key); ok {
			value := *was
			value.Description = ""
			def.Properties.Set(
				key, &jsonschema.Schema{OneOf: []*jsonschema.Schema{&value, {Type: "null"}}, Description: was.Description})
		}
	}
}

// readComments reads the comments of the packages, by the names that the reflector
// looks for.
func readComments(root string) (map[string]string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, folder := range commented {
		var r jsonschema.Reflector
		if err := r.AddGoComments("company", filepath.Join(root, folder)); err != nil {
			return nil, err
		}
		for key, text := range r.CommentMap {
			// The reflector takes the path of a folder for the path of its package.
			all[strings.Replace(key, filepath.ToSlash(root), "", 1)] = text
		}
	}
	return all, nil
}
