package jqtemplate

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"text/template"

	"company/internal/company"
)

// templateFunctions are functions for templates besides Go's own.
var templateFunctions = template.FuncMap{
	"json": func(v any) (string, error) {
		text, err := json.Marshal(v)
		return string(text), err
	},
	"join": func(sep string, list []any) string {
		var out []string
		for _, v := range list {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
		return strings.Join(out, sep)
	},
}

// goTemplate is a parsed Go template.
type goTemplate struct{ parsed *template.Template }

// ParseTemplate parses the template of --template. The error is EUsage.
func ParseTemplate(text string) (Shape, error) {
	t, err := template.New("--template").Option("missingkey=zero").Funcs(templateFunctions).Parse(text)
	if err != nil {
		return nil, company.E(company.EUsage, "invalid --template").Because(err.Error()).
			Fix("--template '{{range .tasks}}{{.id}}{{\"\\n\"}}{{end}}'")
	}
	return goTemplate{t}, nil
}

// Print executes the template with the result's JSON. On a terminal, texts of the result are escaped.
func (t goTemplate) Print(_ context.Context, w io.Writer, onTerminal bool, v any) error {
	fields, err := decodeFields(onTerminal, v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.parsed.Execute(&out, fields); err != nil {
		return company.E(company.EUsage, "--template failed on this command's JSON").Because(err.Error()).
			Fix("-o json shows the fields")
	}
	_, err = w.Write(out.Bytes())
	return err
}
