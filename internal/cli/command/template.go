package command

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"text/template"

	"company/internal/company"
	"company/internal/safetext"
)

// templateFunctions are what a template may call beside Go's own.
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

func parseTemplate(text string) (*template.Template, error) {
	t, err := template.New("--template").Option("missingkey=zero").Funcs(templateFunctions).Parse(text)
	if err != nil {
		return nil, company.E(company.EUsage, "--template is no template of Go").Because(err.Error()).Fix("--template '{{range .tasks}}{{.id}}{{\"\\n\"}}{{end}}'")
	}
	return t, nil
}

// printTemplate prints a result through a template, whose fields are those of the JSON.
func printTemplate(w io.Writer, t *template.Template, v any) error {
	fields, err := decodeFields(w, v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, fields); err != nil {
		return company.E(company.EUsage, "--template does not fit this command's JSON").Because(err.Error()).Fix("-o json shows the fields")
	}
	_, err = w.Write(out.Bytes())
	return err
}

// decodeFields is a result as the values of its JSON. Numbers stay as they are written:
// 5000000 is not 5e+06. For a terminal, texts lose what could steer it: a title may come
// from a model.
func decodeFields(w io.Writer, v any) (fields any, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber()
	if err := numbers.Decode(&fields); err != nil {
		return nil, err
	}
	if IsTerminal(w) {
		fields = escapeTexts(fields)
	}
	return fields, nil
}

// escapeTexts makes the texts of a value safe to show.
func escapeTexts(v any) any {
	switch v := v.(type) {
	case string:
		return safetext.Escape(v)
	case []any:
		for i := range v {
			v[i] = escapeTexts(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = escapeTexts(v[key])
		}
	}
	return v
}
