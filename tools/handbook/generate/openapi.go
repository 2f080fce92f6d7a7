package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
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
	answers := []Shape{{Name: "problem", Doc: "an error (RFC 9457) with the company's code", Example: api.Problem{}}}
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
			"description": "The API of an office. Every answer has the header Office-Time: the office's time, which may be " +
				"another than the wall clock's. docs/api.md tells the rest.",
			"license": schema{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers": []schema{
			{"url": "http://office/api/v1", "description": "the office's Unix socket, as company status names it; no token"},
			{"url": "http://127.0.0.1:7777/api/v1",
				"description": "serve.listen of company serve; each request but POST session has a token"},
		},
		"security": []schema{{}, {"token": []string{}}},
		"paths":    describePaths(),
		"components": schema{
			"schemas": defs, "responses": schema{"problem": describeProblem()},
			"securitySchemes": schema{"token": schema{"type": "http", "scheme": "bearer",
				"description": "of POST session, or that of serve.token_env"}},
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
		return &jsonschema.Schema{Type: "object", Description: "as the ledger has it: its fields change with the version"}
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{Description: "JSON of any shape"}
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
		Description: "a command on its way: its kind and its fields. The id, here or in Idempotency-Key, makes a repeat " +
			"harmless"}
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
		one.Properties.Set("id", &jsonschema.Schema{Type: "string", Description: "of the sender's choice, the same for a " +
			"repeat"})
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
	code.Description = "docs/errors.md explains each"
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
		header("Last-Event-ID", "number of the last event that the client has; the stream goes on behind it")
		good["content"] = schema{
			"text/event-stream": schema{"schema": schema{"type": "string",
				"description": "the data of each event is one object of " + nameAnswer(reflect.TypeOf(r.Answer)) +
					"; the last event of a whole stream is named end"},
				"x-event": schema{"$ref": "#/$defs/" + nameAnswer(reflect.TypeOf(r.Answer))}}}
	case r.Method == http.MethodGet:
		header("If-None-Match", "the ETag of an earlier answer: 304 where it still holds")
		good["headers"] = schema{"ETag": schema{"description": "of this answer", "schema": schema{"type": "string"}}}
		answers["304"] = schema{"description": "the client has this answer"}
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
			"the command's id: with the same key it is done once, and another command under it is E_CONFLICT")
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
	return schema{"description": "an error, and no effect",
		"content": schema{"application/problem+json": schema{"schema": schema{"$ref": "#/$defs/problem"}}}}
}

// renderRoutes is the table of the routes for docs/api.md.
func renderRoutes() string {
	var b strings.Builder
	writeHead(&b, "request", "is", "with")
	for _, r := range api.Routes() {
		var with []string
		for _, p := range r.Query {
			text := quoteCode("?"+p.Name+"=") + " " + p.Doc
			if p.Many {
				text += " (again and again)"
			}
			with = append(with, text)
		}
		writeRow(&b, quoteCode(r.Method+" "+r.Path), r.Summary, strings.Join(with, "; "))
	}
	return b.String()
}

// renderCommands is the table of the commands for docs/api.md.
func renderCommands() string {
	var b strings.Builder
	writeHead(&b, "kind", "does", "fields")
	for _, k := range api.CommandKinds() {
		required := map[string]bool{}
		for _, name := range k.Required {
			required[name] = true
		}
		var fields []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(k.Example)) {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if key == "" {
				key = f.Name
			}
			text := quoteCode(key)
			if required[key] {
				text = fmt.Sprintf("**%s**", text)
				delete(required, key)
			}
			fields = append(fields, text)
		}
		for name := range maps.Keys(required) {
			panic("the command " + k.Name + " has no field " + name)
		}
		writeRow(&b, quoteCode(k.Name), k.Summary, strings.Join(fields, " "))
	}
	return b.String()
}
