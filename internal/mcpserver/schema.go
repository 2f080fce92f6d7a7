package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"company/internal/company"
)

// maxArguments bounds the arguments of a call, in bytes. An instruction may have 256 KiB.
const maxArguments = 1 << 20

// maxSubmission is the same of a submission, whose files are in base64.
const maxSubmission = company.MaxAttachedBytes/3*4 + 2*maxArguments

// boundArguments is the bound of a tool's arguments.
func boundArguments(tool string) int {
	if tool == "submit" {
		return maxSubmission
	}
	return maxArguments
}

// kind is what a tool does to the office.
type kind int

const (
	reads    kind = iota
	writes        // it changes something, and can be taken back
	destroys      // it ends what cannot be begun again as it was
)

// describeKind says the same to a client, which may ask its user first.
func (k kind) describeKind() *mcp.ToolAnnotations {
	closed, ends := false, k == destroys
	return &mcp.ToolAnnotations{ReadOnlyHint: k == reads, DestructiveHint: &ends, IdempotentHint: k == reads, OpenWorldHint: &closed}
}

// bounds narrow the schema that a type gives: by property.
type bounds map[string]func(*jsonschema.Schema)

// newSchema is the schema of the arguments In: its fields and no others.
func newSchema[In any](narrow bounds) *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // a type of this package has no schema
	}
	for name, property := range s.Properties {
		if property.Type == "" && len(property.Types) > 0 { // a list may be null in Go, and is left out by a client
			property.Types, property.Type = nil, "array"
		}
		if fn := narrow[name]; fn != nil {
			fn(property)
		}
	}
	return s
}

// toolset adds tools to a server, or keeps them from its client.
type toolset struct {
	*Server
	lacks string // the flag without which its tools are refused; empty: they are there
}

// addTool adds a tool whose arguments are In. Its errors are answers, which a model can read.
func addTool[In any](s toolset, k kind, name, description string, narrow bounds, call func(context.Context, In) (*mcp.CallToolResult, error)) {
	if s.lacks != "" {
		s.withheld[name] = s.lacks
		return
	}
	schema := newSchema[In](narrow)
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(err) // as above
	}
	s.mcp.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: schema, Annotations: k.describeKind()}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		in, err := readArguments[In](name, resolved, req.Params.Arguments)
		if err != nil {
			return toolError(err), nil
		}
		stop := s.reportProgress(ctx, req)
		r, err := call(ctx, in)
		stop()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, errClientGone) { // the error is of the end, and not of the office
				err = company.E(company.ETimeout, name+" was broken off").Wrap(err).Fix("call it again; with the same request_id nothing is done twice")
			}
			return toolError(err), nil
		}
		return r, nil
	})
}

// describeArguments lists the names of a tool's arguments, those that it needs first.
func describeArguments(s *jsonschema.Schema) string {
	var names []string
	for _, name := range s.Required {
		names = append(names, name+" (needed)")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			names = append(names, name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "no arguments")
}

// readArguments checks arguments against their schema, and reads them.
func readArguments[In any](name string, resolved *jsonschema.Resolved, raw json.RawMessage) (in In, err error) {
	bad := company.E(company.EInvalid, "the arguments of "+name+" do not fit its schema").
		Fix(fmt.Sprintf("%s takes %s; tools/list has its schema", name, describeArguments(resolved.Schema())))
	if most := boundArguments(name); len(raw) > most {
		return in, bad.Because(fmt.Sprintf("they have %d KiB, and at most %d fit", len(raw)>>10, most>>10))
	}
	given := map[string]any{}
	if len(raw) > 0 && !bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		if err := json.Unmarshal(raw, &given); err != nil {
			return in, bad.Wrap(err)
		}
		if err := json.Unmarshal(raw, &in); err != nil {
			return in, bad.Wrap(err)
		}
	}
	if err := resolved.Validate(given); err != nil {
		return in, bad.Wrap(err)
	}
	return in, nil
}
