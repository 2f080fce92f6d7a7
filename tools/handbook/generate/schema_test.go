package generate

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const tree = "../../.."

// compileStrict compiles the definition of a shape, such that no other field passes.
func compileStrict(t *testing.T) func(name string) *jsonschema.Schema {
	t.Helper()
	text, err := OutputSchema(tree, true)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("output.json", doc); err != nil {
		t.Fatal(err)
	}
	return func(name string) *jsonschema.Schema {
		t.Helper()
		s, err := c.Compile("output.json#/$defs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// printed are the commands of the golden output, and the definition of each: of a list
// that of its elements. resource: what the commands take their output from, which no
// command prints as it is.
var printed = []struct {
	command *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`^status`), "overview"},
	{regexp.MustCompile(`^agents`), "agents"},
	{regexp.MustCompile(`^pr \d`), "view.PullRequest"},
	{regexp.MustCompile(`^show a\d+$`), "view.Approval"},
	{regexp.MustCompile(`^show .*\.\d+$`), "view.Run"},
	{regexp.MustCompile(`^show t\d+-\d+$`), "view.Subtask"},
	{regexp.MustCompile(`^show t\d+$`), "view.TaskDetail"},
	{regexp.MustCompile(`^budget t`), "view.Budget"},
	{regexp.MustCompile(`^budgets of`), "view.OfficeBudget"},
	{regexp.MustCompile(`^list`), "task_list"},
	{regexp.MustCompile(`^costs`), "spending"},
	{regexp.MustCompile(`^(projects|images)$`), resource},
	{regexp.MustCompile(`^the end of submit`), "summary"},
	{regexp.MustCompile(`^feed`), "feed_item"},
}

const resource = "resource"

// TestGoldenOutputHasItsSchema: what the commands print of the golden ledgers is what
// the schema says, to the last field; and the schema can say no.
func TestGoldenOutputHasItsSchema(t *testing.T) {
	compile := compileStrict(t)
	files, err := filepath.Glob(tree + "/internal/present/view/testdata/output/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	seen := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines[:len(lines)-1] {
			command, ok := strings.CutPrefix(line, "== ")
			if command, ok = cutSuffix(command, " -o json", ok); !ok {
				continue
			}
			name := ""
			for _, p := range printed {
				if name == "" && p.command.MatchString(command) {
					name = p.name
				}
			}
			if name == "" {
				t.Errorf("%s:%d: no definition is known of %q", file, i+1, command)
				continue
			}
			seen[name]++
			if name == resource {
				continue
			}
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(lines[i+1]))
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+2, err)
			}
			elements, ok := v.([]any)
			if !ok {
				elements = []any{v}
			}
			s := compile(name)
			for _, v := range elements {
				if err := s.Validate(v); err != nil {
					t.Errorf("%s:%d: %s: %v", file, i+2, name, err)
				}
				v.(map[string]any)["of_another"] = true
				if s.Validate(v) == nil {
					t.Fatalf("%s takes any field", name)
				}
			}
		}
	}
	for _, p := range printed {
		if seen[p.name] == 0 {
			t.Errorf("the golden output shows no %s", p.name)
		}
	}
}

func cutSuffix(text, end string, ok bool) (string, bool) {
	if !ok {
		return text, false
	}
	return strings.CutSuffix(text, end)
}

// TestLimitsAreRead: values come from the constants, and a limit without one is an
// error.
func TestLimitsAreRead(t *testing.T) {
	v := newConstants(tree)
	for _, x := range []struct {
		room, name, want string
		unit             unit
	}{
		{"company", "MaxInstruction", "256 KiB", bytesUnit},
		{"company", "MaxWorkers", "64", count},
		{"company", "MaxLookups", "10", count}, // twice another constant
		{"toolbox/toolproto", "MaxCommandTimeout", "15m", duration},
		{"gitops", "maxNewFiles", "50,000", count},
	} {
		value, err := v.valueOf(x.room, x.name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := x.unit.render(value); err != nil || got != x.want {
			t.Errorf("%s.%s: %q, %v; want %q", x.room, x.name, got, err, x.want)
		}
	}
	if _, err := v.valueOf("company", "maxNothing"); err == nil {
		t.Error("a constant was found that there is not")
	}
}

// TestRegions: what is written by hand stays, and a region that cannot be filled is an
// error.
func TestRegions(t *testing.T) {
	parts := map[string]func() (string, error){"x": func() (string, error) { return "made\n", nil }}
	page := "before\n" + beginMark + "x -->\nold\n" + endMark + "\nafter\n"
	want := "before\n" + beginMark + "x -->\nmade\n" + endMark + "\nafter\n"
	for range 2 { // a filled page stays as it is
		got, err := fillRegions(page, parts)
		if err != nil || got != want {
			t.Fatalf("%q, %v", got, err)
		}
		page = got
	}
	for _, bad := range []string{"none", beginMark + "y -->\n" + endMark, beginMark + "x -->\n"} {
		if got, err := fillRegions(bad, parts); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
}
