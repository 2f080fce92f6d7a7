package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"text/template"

	"company/test/heldoffice"
)

// renderJSON renders the JSON that a command printed by a template.
func renderJSON(t *testing.T, r heldoffice.Result, text string) string {
	t.Helper()
	if r.Code != 0 {
		t.Errorf("%+v", r)
		return ""
	}
	var result any
	numbers := json.NewDecoder(strings.NewReader(r.Out))
	numbers.UseNumber()
	if err := numbers.Decode(&result); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	encode := func(v any) (string, error) {
		out, err := json.Marshal(v)
		return string(out), err
	}
	var out bytes.Buffer
	if err := template.Must(template.New("").Funcs(template.FuncMap{"json": encode}).Parse(text)).
		Execute(&out, result); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	return out.String()
}
