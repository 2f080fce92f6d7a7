package generate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"company/internal/api"
	"company/internal/company"
	"company/internal/present/view"
)

// openAPIFile is the description of the API. The server embeds it.
const openAPIFile = "internal/api/openapi.json"

func openAPIPages(root string) ([]Page, error) {
	text, err := OpenAPI(root)
	if err != nil {
		return nil, err
	}
	return []Page{{openAPIFile, text}}, nil
}

// document and its parts are an OpenAPI document, as far as this API needs one. Parts
// that hold schemas of many kinds are maps.
type (
	document map[string]any
	schema   = map[string]any
)

// OpenAPI is the OpenAPI 3.1 document of the API, made from its routes, its commands and
// their types. Fields of answers may be added, so an answer may hold more than it names; what
// a request holds must be named.
func OpenAPI(root string) ([]byte, error) {
	answers := []Shape{{Name: "problem", Doc: "error (RFC 9457) with a code", Example: api.Problem{}}}
	for _, r := range api.Routes() {
		if t := reflect.TypeOf(r.Body); t != nil && !isCommand(r) {
			answers = append(answers, Shape{Name: nameAnswer(t), Example: r.Body})
		}
		if t := reflect.TypeOf(r.Answer); t != nil && t.Kind() == reflect.Struct {
			answers = append(answers, Shape{Name: nameAnswer(t), Doc: "", Example: r.Answer})
		} else if t != nil {
			answers = append(answers, Shape{Name: nameAnswer(t.Elem()), Example: reflect.Zero(t.Elem()).Interface()})
		}
	}
	defs, err := reflectShapes(root, answers, false, mapOpenShape)
	if err != nil {
		return nil, err
	}
	if err := addCommands(root, defs); err != nil {
		return nil, err
	}
	addCodes(defs["problem"])
	for _, r := range api.Routes() {
		if t := reflect.TypeOf(r.Body); t != nil && !isCommand(r) {
			defs[nameAnswer(t)].AdditionalProperties = jsonschema.FalseSchema // a field that is not known is refused
		}
	}
	text, err := json.MarshalIndent(document{
		"openapi": "3.1.0",
		"info": schema{
			"title": "company", "version": "1",
			"description": "API of an office. Each answer has the office's time in the header Office-Time. See docs/api.md.",
			"license":     schema{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers": []schema{
			{"url": "http://office/api/v1", "description": "the office's Unix socket; no token"},
			{"url": "http://127.0.0.1:7777/api/v1",
				"description": "serve.listen of company serve; all requests except POST session need a token"},
		},
		"security": []schema{{}, {"token": []string{}}},
		"paths":    describePaths(),
		"components": schema{
			"schemas": defs, "responses": schema{"problem": describeProblem()},
			"securitySchemes": schema{"token": schema{"type": "http", "scheme": "bearer",
				"description": "from POST session or serve.token_env"}},
		},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte(`"#/$defs/`), []byte(`"#/components/schemas/`))
	return append(text, '\n'), nil
}

// mapOpenShape is the schema of a type whose fields are no promise: the record of a pull
// request is the ledger's own, and changes with it. Data of an event differs with its kind.
func mapOpenShape(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[company.Pull]():
		return &jsonschema.Schema{Type: "object", Description: "as in the ledger; fields may change with the version"}
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{Description: "any JSON"}
	}
	return nil
}

// nameAnswer names the schema of an answer: package and type, as reflectShapes names others.
func nameAnswer(t reflect.Type) string {
	return t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:] + "." + t.Name()
}

// addCommands adds a definition for each command, and their envelope. A command is refused
// with a field that the office does not know, so theirs are closed. They have names of
// their own: what an answer must hold, a request may leave out.
func addCommands(root string, defs jsonschema.Definitions) error {
	comments, err := readComments(root)
	if err != nil {
		return err
	}
	kinds := map[reflect.Type]string{}
	for _, k := range api.CommandKinds() {
		kinds[reflect.TypeOf(k.Example)] = "command." + k.Name
	}
	r := &jsonschema.Reflector{Anonymous: true, RequiredFromJSONSchemaTags: true, CommentMap: comments,
		Namer: func(t reflect.Type) string {
			if name, ok := kinds[t]; ok {
				return name
			}
			if t.Name() == "" || t.PkgPath() == "" {
				return ""
			}
			return "command." + nameAnswer(t)
		}}
	envelope := &jsonschema.Schema{
		Description: "a command: its kind and its fields. The id, here or in Idempotency-Key, makes a repeat harmless"}
	for _, k := range api.CommandKinds() {
		t := reflect.TypeOf(k.Example)
		for name, def := range r.ReflectFromType(t).Definitions {
			if defs[name] == nil {
				defs[name] = def
			}
		}
		allowEmpty(defs, kinds, t, map[reflect.Type]bool{})
		def := defs["command."+k.Name]
		def.Description, def.Required = k.Summary, k.Required
		one := &jsonschema.Schema{Type: "object", Required: []string{"kind", "command"},
			AdditionalProperties: jsonschema.FalseSchema, Properties: jsonschema.NewProperties()}
		one.Properties.Set("id", &jsonschema.Schema{Type: "string",
			Description: "chosen by the sender; the same for a repeat"})
		one.Properties.Set("kind", &jsonschema.Schema{Const: k.Name})
		one.Properties.Set("command", &jsonschema.Schema{Ref: "#/$defs/command." + k.Name})
		envelope.OneOf = append(envelope.OneOf, one)
	}
	defs["api.CommandEnvelope"] = envelope
	return nil
}

// allowEmpty lets null stand for lists, maps and pointers of a command: a client in Go
// sends it for those that are empty.
func allowEmpty(
	defs jsonschema.Definitions, kinds map[reflect.Type]string, t reflect.Type, done map[reflect.Type]bool,
) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || done[t] {
		return
	}
	done[t] = true
	name, ok := kinds[t]
	if !ok {
		name = "command." + nameAnswer(t)
	}
	def := defs[name]
	for _, f := range reflect.VisibleFields(t) {
		allowEmpty(defs, kinds, f.Type, done)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "" {
			key = f.Name
		}
		if def == nil || def.Properties == nil ||
			f.Type.Kind() != reflect.Pointer && f.Type.Kind() != reflect.Slice && f.Type.Kind() != reflect.Map {
			continue
		}
		if was, ok := def.Properties.Get(key); ok && was.OneOf == nil {
			value := *was
			value.Description = ""
			def.Properties.Set(
				key, &jsonschema.Schema{OneOf: []*jsonschema.Schema{&value, {Type: "null"}}, Description: was.Description})
		}
	}
}

// addCodes lists the codes of errors in the schema of a problem.
func addCodes(problem *jsonschema.Schema) {
	code, _ := problem.Properties.Get("code")
	code.Description = "see docs/errors.md"
	for _, g := range company.ErrorGuides() {
		code.Enum = append(code.Enum, string(g.Code))
	}
}

// describePaths has each route below its path and method.
func describePaths() map[string]map[string]any {
	paths := map[string]map[string]any{}
	for _, r := range api.Routes() {
		path := "/" + r.Path
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(r.Method)] = describeRoute(r)
	}
	return paths
}

func describeRoute(r api.Route) schema {
	op := schema{"operationId": nameOperation(r), "summary": r.Summary}
	var parameters []schema
	if strings.Contains(r.Path, "{id}") {
		parameters = append(parameters,
			schema{"name": "id", "in": "path", "required": true, "schema": schema{"type": "string"}})
	}
	for _, p := range r.Query {
		parameters = append(parameters,
			schema{"name": p.Name, "in": "query", "description": p.Doc, "schema": describeParameter(p)})
	}
	header := func(name, doc string) {
		parameters = append(parameters,
			schema{"name": name, "in": "header", "description": doc, "schema": schema{"type": "string"}})
	}
	good := schema{"description": r.Summary}
	answers := schema{"200": good, "default": schema{"$ref": "#/components/responses/problem"}}
	switch {
	case r.Stream:
		header("Last-Event-ID", "last received event; the stream continues after it")
		good["content"] = schema{
			"text/event-stream": schema{"schema": schema{"type": "string",
				"description": "the data of each event is one object of " + nameAnswer(reflect.TypeOf(r.Answer)) +
					"; a complete stream ends with the event end"},
				"x-event": schema{"$ref": "#/$defs/" + nameAnswer(reflect.TypeOf(r.Answer))}}}
	case r.Method == http.MethodGet:
		header("If-None-Match", "ETag of an earlier answer; 304 if it is unchanged")
		good["headers"] = schema{"ETag": schema{"description": "of this answer", "schema": schema{"type": "string"}}}
		answers["304"] = schema{"description": "unchanged"}
		if r.Media != nil {
			good["content"] = describeMedia(r.Media)
			break
		}
		fallthrough
	default:
		good["content"] = schema{"application/json": schema{"schema": describeAnswer(r.Answer)}}
	}
	if _, ok := r.Body.(view.Submission); ok || r.Keyed || isCommand(r) {
		header("Idempotency-Key",
			"id of the command: it is executed once; another command with the same key is E_CONFLICT")
	}
	if r.Body != nil {
		op["requestBody"] = schema{"required": true,
			"content": schema{
				"application/json": schema{"schema": schema{"$ref": "#/$defs/" + nameAnswer(reflect.TypeOf(r.Body))}}}}
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	op["responses"] = answers
	return op
}

// describeMedia describes an answer that is a file of one of some types.
func describeMedia(types []string) schema {
	content := schema{}
	for _, t := range types {
		content[t] = schema{}
	}
	return content
}

// isCommand reports whether a request brings a command.
func isCommand(r api.Route) bool {
	_, ok := r.Body.(api.CommandEnvelope)
	return ok
}

// nameOperation makes an id from method and path: get_tasks_id.
func nameOperation(r api.Route) string {
	return strings.ToLower(r.Method) + "_" + strings.NewReplacer("/", "_", "{", "", "}", "", ".", "_").Replace(r.Path)
}

func describeParameter(p api.Parameter) schema {
	one := schema{"type": p.Type}
	if p.Type == "time" {
		one = schema{"type": "string", "format": "date-time"}
	}
	if p.Type == "integer" {
		one["minimum"] = 0
	}
	if p.Many {
		return schema{"type": "array", "items": one}
	}
	return one
}

func describeAnswer(answer any) schema {
	t := reflect.TypeOf(answer)
	switch {
	case t == nil:
		return schema{"type": "object"}
	case t.Kind() == reflect.Slice:
		return schema{"type": "array", "items": schema{"$ref": "#/$defs/" + nameAnswer(t.Elem())}}
	}
	return schema{"$ref": "#/$defs/" + nameAnswer(t)}
}

func describeProblem() schema {
	return schema{"description": "error; nothing was changed",
		"content": schema{"application/problem+json": schema{"schema": schema{"$ref": "#/$defs/problem"}}}}
}

// renderRoutes renders the table of the routes for docs/api.md.
func renderRoutes() string {
	var b strings.Builder
	writeHead(&b, "request", "answer or action")
	for _, r := range api.Routes() {
		text := r.Summary
		for _, p := range r.Query {
			text += "; " + quoteCode("?"+p.Name+"=") + " " + p.Doc
		}
		writeRow(&b, quoteCode(r.Method+" "+r.Path), text)
	}
	return b.String()
}

// renderCommands renders the table of the commands for docs/api.md.
func renderCommands() string {
	var b strings.Builder
	writeHead(&b, "kind", "action", "required fields")
	for _, k := range api.CommandKinds() {
		var fields []string
		for _, name := range k.Required {
			if !hasField(reflect.TypeOf(k.Example), name) {
				panic("the command " + k.Name + " has no field " + name)
			}
			fields = append(fields, quoteCode(name))
		}
		writeRow(&b, quoteCode(k.Name), k.Summary, strings.Join(fields, " "))
	}
	return b.String()
}

// hasField reports whether a command has a field in JSON.
func hasField(t reflect.Type, name string) bool {
	return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return cmp.Or(key, f.Name) == name
	})
}
