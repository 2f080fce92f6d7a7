package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"company/internal/company"
)

// everyKeyword is a schema with each keyword that argSchema knows.
const everyKeyword = `{"type":"object","additionalProperties":false,"required":["path","mode"],"properties":{
"path":{"type":"string","minLength":1,"maxLength":3,"description":"x"},
"mode":{"enum":["a","b"]},
"n":{"type":"integer","minimum":1,"maximum":9},
"x":{"type":"number","minimum":-1.5},
"on":{"type":"boolean"},
"any":{},
"list":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","properties":{"path":{"type":"string"}}}}}}`

// compileReference is a schema as the library reads it that the world checks with.
func compileReference(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tool.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// argumentNames are the properties of the schemas, and one that none has.
var argumentNames = []string{"path", "mode", "n", "x", "on", "any", "list", "waves", "subtasks", "title", "description",
	"acceptance_criteria", "write_set", "effort", "context", "why", "other"}

// anyArguments makes values with the names that the schemas know and others, near the
// bounds.
func anyArguments(depth int) *rapid.Generator[any] {
	plain := rapid.SampledFrom([]any{
		nil, true, "", "a", "b", "abc", "abcd", "äöü", "large", json.Number("0"), json.Number("1"), json.Number("9"),
		json.Number("10"),
		json.Number("1.0"), json.Number("1.5"), json.Number("-1.5"), json.Number("-2"), json.Number("1e2"),
		json.Number("1e400"),
	})
	if depth == 0 {
		return plain
	}
	below := anyArguments(depth - 1)
	return rapid.OneOf(plain,
		rapid.Map(rapid.SliceOfN(below, 0, 3), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom(argumentNames), below, 0, 5), func(m map[string]any) any { return m }))
}

const wholePlan = `{"waves":[{"subtasks":[{"title":"t","description":"d","acceptance_criteria":["c"],"write_set":["a"],"effort":"small"}]}]}`

// Feature: agent loop, Property 1: Argument Validation
//
// WRK-6: what fits a schema, and what does not, is what a library for JSON Schema says.
func TestSchemasMeanWhatTheySay(t *testing.T) {
	for text, fitting := range map[string]string{
		everyKeyword: `{"path":"abc","mode":"b","n":9,"x":-1.5,"on":true,"any":null,"list":[{},{"path":""}]}`,
		pathSchema:   `{"path":""}`, string(company.PlanSchema()): wholePlan,
	} {
		ours, err := parseSchema([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		reference := compileReference(t, text)
		fits, not := 0, 0
		rapid.Check(t, func(rt *rapid.T) {
			made, err := parseArguments(fitting)
			if err != nil {
				rt.Fatal(err)
			}
			switch object := made.(map[string]any); rapid.IntRange(0, 3).Draw(rt, "change") {
			case 0:
			case 1:
				object[rapid.SampledFrom(argumentNames).Draw(rt, "name")] = anyArguments(3).Draw(rt, "value")
			case 2:
				delete(object, rapid.SampledFrom(argumentNames).Draw(rt, "name"))
			default:
				made = anyArguments(3).Draw(rt, "arguments")
			}
			written, err := json.Marshal(made)
			if err != nil {
				rt.Fatal(err)
			}
			value, err := parseArguments(string(written))
			if err != nil {
				rt.Fatal(err)
			}
			faults, want := ours.findFaults(value), reference.Validate(value)
			if (len(faults) == 0) != (want == nil) {
				rt.Fatalf("%s: %q, and the library: %v", written, faults, want)
			}
			if want == nil {
				fits++
			} else {
				not++
			}
		})
		if fits == 0 || not == 0 {
			t.Errorf("%d values fit and %d do not: %.60s", fits, not, text)
		}
	}
}

// A whole plan fits the schema of plans; each fault of one is named with its place.
func TestFaultsNameTheirPlace(t *testing.T) {
	s, err := parseSchema(company.PlanSchema())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, fault string }{
		{"", "", ""},
		{`"effort":"small"`, `"effort":"tiny"`,
			"- at '/waves/0/subtasks/0/effort': value must be one of 'small', 'medium', 'large'"},
		{`,"effort":"small"`, ``, "- at '/waves/0/subtasks/0': missing property 'effort'"},
		{`["c"]`, `[]`, "- at '/waves/0/subtasks/0/acceptance_criteria': got 0 items, want at least 1"},
		{`["c"]`, `[7]`, "- at '/waves/0/subtasks/0/acceptance_criteria/0': got integer, want string"},
		{`"title":"t"`, "\"title\":null,\"o\\u001b[1m\":1",
			"- at '/waves/0/subtasks/0': additional property 'o\\x1b[1m' not allowed\n- at '/waves/0/subtasks/0/title': got " +
				"null, want string"},
	} {
		value, err := parseArguments(strings.Replace(wholePlan, c.from, c.to, 1))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.findFaults(value), "\n"); got != c.fault {
			t.Errorf("%s:\n%s\nwant\n%s", c.to, got, c.fault)
		}
	}
	many, err := parseArguments(`{"waves":[` + strings.Repeat(`7,`, 1000) + `7]}`)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.findFaults(many)); n != maxFindings {
		t.Errorf("%d faults are listed", n)
	}
}

// A schema that argSchema cannot check in full is refused.
func TestUnknownKeywordsAreRefused(t *testing.T) {
	for _, text := range []string{``, `7`, `{"type":7}`, `{"type":"text"}`, `{"oneOf":[]}`,
		`{"properties":{"a":{"pattern":"x"}}}`, `{"properties":{"a":null}}`, `{"items":{"type":"set"}}`, `{"enum":[1]}`} {
		if s, err := parseSchema([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, s)
		}
	}
}
