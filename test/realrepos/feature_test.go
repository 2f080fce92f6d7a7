package realrepos

import (
	"fmt"
	"regexp"
	"strings"

	"company/internal/adapters/scripted"
	"company/internal/company"
)

// feature is one subtask: something that pflag does not have, in a file of its
// own, with its test.
type feature struct {
	title, description string
	criteria           []string
	file, code         string
	testFile, test     string
	tests              []string // names of the new tests
	undefined          string   // what the compiler misses without the code
}

var choice = feature{
	title: "Add a choice flag that takes one of a list of values",
	description: "Add FlagSet.Choice(name, value string, allowed []string, usage string) *string, its shorthand form " +
		"ChoiceP, and GetChoice, to choice.go, with a test in choice_test.go. The type of the flag is called choice. A " +
		"value that is not allowed is refused with an error that lists the allowed ones, in their order. Out of scope: " +
		"functions on CommandLine.",
	criteria: []string{"an allowed value is taken and GetChoice returns it",
		"a value that is not allowed is refused and the error lists the allowed ones"},
	file: "choice.go",
	code: `package pflag

import (
	"fmt"
	"strings"
)

// -- choice Value
type choiceValue struct {
	value   *string
	allowed []string
}

func newChoiceValue(val string, p *string, allowed []string) *choiceValue {
	*p = val
	return &choiceValue{value: p, allowed: append([]string(nil), allowed...)}
}

func (c *choiceValue) Set(val string) error {
	for _, a := range c.allowed {
		if a == val {
			*c.value = val
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
}

func (c *choiceValue) Type() string {
	return "choice"
}

func (c *choiceValue) String() string { return *c.value }

func choiceConv(sval string) (interface{}, error) {
	return sval, nil
}

// GetChoice returns the value of a choice flag with the given name.
func (f *FlagSet) GetChoice(name string) (string, error) {
	val, err := f.getFlagType(name, "choice", choiceConv)
	if err != nil {
		return "", err
	}
	return val.(string), nil
}

// Choice defines a flag with the specified name, default value and usage
// string that takes one of the allowed values. The return value is the address
// of a string variable that stores the value of the flag.
func (f *FlagSet) Choice(name string, value string, allowed []string, usage string) *string {
	return f.ChoiceP(name, "", value, allowed, usage)
}

// ChoiceP is like Choice, but accepts a shorthand letter that can be used after a single dash.
func (f *FlagSet) ChoiceP(name, shorthand string, value string, allowed []string, usage string) *string {
	p := new(string)
	f.VarP(newChoiceValue(value, p, allowed), name, shorthand, usage)
	return p
}
`,
	testFile: "choice_test.go",
	test: `package pflag

import (
	"strings"
	"testing"
)

func newChoiceFlagSet() (*FlagSet, *string) {
	f := NewFlagSet("test", ContinueOnError)
	return f, f.ChoiceP("format", "f", "text", []string{"text", "json", "yaml"}, "output format")
}

func TestChoice(t *testing.T) {
	for _, args := range [][]string{{"--format=json"}, {"--format", "json"}, {"-f", "json"}, {"-fjson"}} {
		f, p := newChoiceFlagSet()
		if *p != "text" {
			t.Fatalf("default %q, want text", *p)
		}
		if err := f.Parse(args); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		got, err := f.GetChoice("format")
		if err != nil || got != "json" || *p != "json" {
			t.Errorf("%v: %q, %q, %v", args, *p, got, err)
		}
	}
}

func TestChoiceRefused(t *testing.T) {
	f, p := newChoiceFlagSet()
	err := f.Parse([]string{"--format=xml"})
	if err == nil || !strings.Contains(err.Error(), "text, json, yaml") {
		t.Fatalf("error %v does not list the allowed values", err)
	}
	if *p != "text" {
		t.Errorf("a refused value was kept: %q", *p)
	}
	if _, err := f.GetString("format"); err == nil {
		t.Error("a choice flag passes for a string flag")
	}
}
`,
	tests:     []string{"TestChoice", "TestChoiceRefused"},
	undefined: "ChoiceP",
}

var changed = feature{
	title: "Add FlagSet.ChangedNames",
	description: "Add FlagSet.ChangedNames() []string to changed.go, with a test in changed_test.go: the names of the " +
		"flags that were set, in the order in which Visit visits them (which heeds SortFlags). Without a set flag the " +
		"result is empty and not nil. Out of scope: functions on CommandLine.",
	criteria: []string{"names come in the order of Visit", "without a set flag the result is empty and not nil"},
	file:     "changed.go",
	code: `package pflag

// ChangedNames returns the names of the flags that have been set, in
// lexicographical order or, if f.SortFlags is false, in the order in which they
// were set. It is empty, and not nil, when none was.
func (f *FlagSet) ChangedNames() []string {
	names := make([]string, 0, len(f.actual))
	f.Visit(func(flag *Flag) {
		names = append(names, flag.Name)
	})
	return names
}
`,
	testFile: "changed_test.go",
	test: `package pflag

import (
	"reflect"
	"testing"
)

func TestChangedNames(t *testing.T) {
	for _, test := range []struct {
		sort bool
		args []string
		want []string
	}{
		{true, nil, []string{}},
		{true, []string{"--zoo", "--ant=3"}, []string{"ant", "zoo"}},
		{false, []string{"--zoo", "--ant=3"}, []string{"zoo", "ant"}},
		{false, []string{"--zoo", "--ant=3", "--zoo=false"}, []string{"zoo", "ant"}},
	} {
		f := NewFlagSet("test", ContinueOnError)
		f.SortFlags = test.sort
		f.Bool("zoo", false, "")
		f.Int("ant", 0, "")
		f.String("unset", "x", "")
		if err := f.Parse(test.args); err != nil {
			t.Fatal(err)
		}
		if got := f.ChangedNames(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v (sorted: %v): %q, want %q", test.args, test.sort, got, test.want)
		}
	}
}
`,
	tests:     []string{"TestChangedNames"},
	undefined: "ChangedNames",
}

var features = []feature{choice, changed}

// reply is the model: every role of the company, from the conversation alone.
func reply(x scripted.Exchange) scripted.Reply {
	switch x.Header.Role {
	case company.Manager:
		return plan(x)
	case company.Reviewer:
		return review(x)
	case company.Worker:
		for _, f := range features {
			if f.title == x.Header.Title {
				return f.work(x)
			}
		}
	}
	return scripted.Reply{Err: fmt.Sprintf("nothing is scripted for %s %q", x.Header.Role, x.Header.Title)}
}

func call(tool string, args map[string]any) scripted.Reply {
	return scripted.Reply{Calls: []scripted.Call{{Tool: tool, Args: args}}}
}

// plan looks before it plans: what the features build on must be there.
func plan(x scripted.Exchange) scripted.Reply {
	if !x.Offers("submit_plan") { // a ticket is stuck: there is no plan for that here
		return call("give_up", map[string]any{"reason": x.Brief()[:min(len(x.Brief()), 3500)]})
	}
	if x.Turn == 0 {
		return call("search", map[string]any{"pattern": `^func \(f \*FlagSet\) (Visit|getFlagType|VarP)\(`, "glob": "*.go"})
	}
	found, _ := x.LastResult("search")
	if strings.Count(found, "flag.go:") != 3 {
		return scripted.Reply{Err: "this is not pflag as it should be: " + found}
	}
	var subs []map[string]any
	for _, f := range features {
		subs = append(subs, map[string]any{
			"title": f.title, "description": f.description, "acceptance_criteria": f.criteria,
			"write_set": []string{f.file, f.testFile}, "effort": "small", "context": []string{"flag.go"},
		})
	}
	return call("submit_plan", map[string]any{
		"why": "two features that share no file", "waves": []any{map[string]any{"subtasks": subs}},
	})
}

// work writes the test, sees it fail, writes the code, sees everything pass.
func (f feature) work(x scripted.Exchange) scripted.Reply {
	last, _ := x.LastResult("run_command")
	switch x.Turn {
	case 0:
		return call("search", map[string]any{"pattern": `^func \(f \*FlagSet\)`, "glob": "flag.go"})
	case 1:
		return call("write_file", map[string]any{"path": f.testFile, "content": f.test})
	case 2:
		return call("run_command", map[string]any{"command": "go test ./..."})
	case 3:
		if !strings.Contains(last, f.undefined+" undefined") && !strings.Contains(last, "undefined: "+f.undefined) {
			return call(
				"escalate", map[string]any{"reason": "the new test does not fail for want of " + f.undefined + ":\n" + last})
		}
		return call("write_file", map[string]any{"path": f.file, "content": f.code})
	case 4:
		return call(
			"run_command",
			map[string]any{"command": "test -z \"$(gofmt -l " + f.file + " " + f.testFile +
				")\" && go vet ./... && go test ./..."})
	case 5:
		if !regexp.MustCompile(`(?m)^ok\s+github\.com/spf13/pflag`).MatchString(last) {
			return call("escalate", map[string]any{"reason": "the tests do not pass:\n" + last})
		}
		return call("git_commit", map[string]any{"message": f.title})
	}
	return call("finish", map[string]any{"summary": f.title + "; go vet and go test pass"})
}

var added = regexp.MustCompile(`(?m)^- created (\S+)$`)

// review approves what comes with its test, and tells by the diff.
func review(x scripted.Exchange) scripted.Reply {
	var code, tests []string
	for _, m := range added.FindAllStringSubmatch(x.Brief(), -1) {
		if strings.HasSuffix(m[1], "_test.go") {
			tests = append(tests, m[1])
		} else {
			code = append(code, m[1])
		}
	}
	if len(code) == 0 || len(code) != len(tests) {
		return scripted.Reply{Err: fmt.Sprintf("a diff of %v with the tests %v", code, tests)}
	}
	shown := []string{}
	for _, c := range x.Listed("Acceptance criteria") {
		shown = append(shown, "shown by "+strings.Join(tests, ", ")+": "+c)
	}
	return call("submit_review", map[string]any{"verdict": "approve", "findings": []any{}, "evidence": shown})
}
