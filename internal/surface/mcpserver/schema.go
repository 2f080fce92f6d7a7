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

// maxArguments limits the arguments of a call, in bytes. An instruction may have 256 KiB.
const maxArguments = 1 << 20

// maxSubmission is the limit for a submission, with its files in base64.
const maxSubmission = company.MaxAttachedBytes/3*4 + 2*maxArguments

// boundArguments returns the size limit of a tool's arguments, in bytes.
func boundArguments(tool string) int {
	if tool == "submit" {
		return maxSubmission
	}
	return maxArguments
}

// kind classifies the effect of a tool on the office.
type kind int

const (
	reads    kind = iota
	writes        // changes state in a reversible way
	destroys      // ends work that cannot be restored as it was
)

// describeKind returns the annotations for a client, which may ask its user first.
func (k kind) describeKind() *mcp.ToolAnnotations {
	closed, ends := false, k == destroys
	return &mcp.ToolAnnotations{ReadOnlyHint: k == reads, DestructiveHint: &ends, IdempotentHint: k == reads,
		OpenWorldHint: &closed}
}

// bounds holds, by property, functions that restrict a generated schema.
type bounds map[string]func(*jsonschema.Schema)

// newSchema returns the schema of the arguments In. It permits no other fields.
func newSchema[In any](narrow bounds) *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // a type of this package has no schema
	}
	for name, property := range s.Properties {
		if property.Type == "" && len(property.Types) > 0 { // a slice may be null in Go, but a client omits it
			property.Types, property.Type = nil, "array"
		}
		if fn := narrow[name]; fn != nil {
			fn(property)
		}
	}
	return s
}

// toolset adds tools to a server, or withholds them from its client.
type toolset struct {
	*Server
	lacks string // flag without which its tools are refused, empty if they are available
}

// addTool adds a tool with arguments In. Its errors become answers that a model can read.
func addTool[In any](
	s toolset, k kind, name, description string, narrow bounds,
	call func(context.Context, In) (*mcp.CallToolResult, error),
) {
	if s.lacks != "" {
		s.withheld[name] = s.lacks
		return
	}
	schema := newSchema[In](narrow)
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(err) // a schema of this package is invalid
	}
	s.mcp.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: schema, Annotations: k.describeKind()},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			in, err := readArguments[In](name, resolved, req.Params.Arguments)
			if err != nil {
				return toolError(err), nil
			}
			stop := s.reportProgress(ctx, req)
			r, err := call(ctx, in)
			stop()
			if err != nil {
				if ctx.Err() != nil || errors.Is(err, errClientGone) { // the call was cancelled; the office did not fail
					err = company.E(company.ETimeout, name+" was interrupted").Wrap(err).
						Fix("call it again; with the same request_id nothing is done twice")
				}
				return toolError(err), nil
			}
			return r, nil
		})
}

// describeArguments lists the names of a tool's arguments, required ones first.
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

// readArguments validates arguments against their schema and decodes them.
func readArguments[In any](name string, resolved *jsonschema.Resolved, raw json.RawMessage) (in In, err error) {
	bad := company.E(company.EInvalid, "the arguments of "+name+" do not fit its schema").
		Fix(fmt.Sprintf("%s takes %s; tools/list has its schema", name, describeArguments(resolved.Schema())))
	if limit := boundArguments(name); len(raw) > limit {
		return in, bad.Because(fmt.Sprintf("they have %d KiB, the limit is %d KiB", len(raw)>>10, limit>>10))
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
