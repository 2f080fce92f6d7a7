package boundedparse_test

import (
	"encoding/json"
	"encoding/xml"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"company/internal/lib/boundedparse/parsetest"
)

// TestStandardParsersBoundThemselves nests texts far more deeply than the standard library's
// parsers follow.
func TestStandardParsersBoundThemselves(t *testing.T) {
	const levels = 1 << 20
	deep := func(before, sign, after string) string { return before + strings.Repeat(sign, levels) + after }
	for name, parse := range map[string]func() error{
		"encoding/json": func() error {
			var v any
			return json.Unmarshal([]byte(deep("", "[", strings.Repeat("]", levels))), &v)
		},
		"encoding/xml": func() error {
			var v struct {
				A []struct {
					B string `xml:"b"`
				} `xml:"a>a"`
			}
			return xml.Unmarshal([]byte(deep("<x>", "<a>", strings.Repeat("</a>", levels)+"</x>")), &v)
		},
		"go/parser": func() error {
			_, err := parser.ParseFile(token.NewFileSet(), "", deep("package a\nvar x = ", "(", "1"+strings.Repeat(")", levels)),
				parser.SkipObjectResolution)
			return err
		},
		"go/parser, blocks": func() error {
			_, err := parser.ParseFile(token.NewFileSet(), "", deep("package a\nfunc f() ", "{", strings.Repeat("}", levels)),
				parser.SkipObjectResolution)
			return err
		},
		"go/build/constraint": func() error { _, err := constraint.Parse(deep("//go:build ", "(", "a")); return err },
		"regexp": func() error {
			_, err := regexp.Compile(deep("", "(", strings.Repeat(")", levels)))
			return err
		},
		"text/template": func() error { _, err := template.New("").Parse(deep("{{", "(", "}}")); return err },
		// the kernel bounds an argument
		"text/template, blocks": func() error {
			_, err := template.New("").Parse(strings.Repeat("{{if 1}}", 128<<10/8))
			return err
		},
	} {
		var err error // encoding/xml passes over what it does not look for
		stack, _ := parsetest.Measure(func() { err = parse() })
		// Go ends a process at 1 GB of stack. Frames are larger under the race detector.
		if err == nil && name != "encoding/xml" || stack > 512*parsetest.MiB {
			t.Errorf("%s: %d MiB of stack, %v", name, stack>>20, err)
		}
	}
}
