package config

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// editOf is an edit of a text as a person writes the value; value "" removes.
func editOf(t testing.TB, text, key, value string) (string, error) {
	t.Helper()
	var node *node
	if value != "" {
		n, ok := parseValue(value)
		if !ok {
			t.Fatalf("%q is not YAML", value)
		}
		node = &n
	}
	out, err := editText("company.yaml", []byte(text), strings.Split(key, "."), node)
	return string(out), err
}

// An edit changes the lines of its key; comments, order, quotes, line ends and a byte
// order mark stay.
func TestEditKeepsTheRest(t *testing.T) {
	for _, x := range []struct{ name, text, key, value, want string }{
		{"a value", "version: 1\nworkers:\n  max: 3      # enough\n  warm: 1\n", "workers.max", "12",
			"version: 1\nworkers:\n  max: 12     # enough\n  warm: 1\n"},
		{"a longer value than the room", "workers:\n  memory: 4g # much\n", "workers.memory", "4096m",
			"workers:\n  memory: 4096m # much\n"},
		{"quotes", "git:\n  author: \"A # B <a@b>\"  # me\n", "git.author", "'C <c@d>'",
			"git:\n  author: \"C <c@d>\"      # me\n"},
		{"a key of a section", "# head\nworkers:\n  warm: 1\n\n# of git\ngit:\n  base: main\n", "workers.max", "5",
			"# head\nworkers:\n  warm: 1\n  max: 5\n\n# of git\ngit:\n  base: main\n"},
		{"four spaces", "workers:\n    warm: 1\n", "workers.max", "5", "workers:\n    warm: 1\n    max: 5\n"},
		{"a section", "version: 1\n# the end\n", "workers.max", "5", "version: 1\n# the end\nworkers:\n  max: 5\n"},
		{"no line end", "version: 1", "recovery", "ask", "version: 1\nrecovery: ask\n"},
		{"three levels", "version: 1\n", "agents.worker.max_turns", "9",
			"version: 1\nagents:\n  worker:\n    max_turns: 9\n"},
		{"a section in brackets", "workers: {max: 3, warm: 1}   # pool\ngit: {base: main}\n", "workers.max", "5",
			"workers: {max: 5, warm: 1}   # pool\ngit: {base: main}\n"},
		{"a key into brackets", "workers: {warm: 1}\n", "workers.max", "5", "workers: {warm: 1, max: 5}\n"},
		{"all in brackets", "{workers: {warm: 1}}\n", "workers.max", "5", "{workers: {warm: 1, max: 5}}\n"},
		{"a section without a value", "workers:   # soon\ngit: {base: main}\n", "workers.max", "5",
			"workers:   # soon\n  max: 5\ngit: {base: main}\n"},
		{"a list", "gates:\n  protected:\n    # the workflows\n    - .github/**  # CI\n    - a/**\n  none: ask\n",
			"gates.protected", "[.github/**, \"b/**\"]",
			"gates:\n  protected:\n    # the workflows\n    - .github/**  # CI\n    - \"b/**\"\n  none: ask\n"},
		{"a list below its key", "gates:\n  protected:\n  - a/**\n", "gates.protected", "[a/**, b]",
			"gates:\n  protected:\n  - a/**\n  - b\n"},
		{"a list in brackets", "gates:\n  protected: [\n    a,\n    b,\n  ]\n  none: ask\n", "gates.protected", "[c]",
			"gates:\n  protected: [c]\n  none: ask\n"},
		{"a text of many lines", "agents:\n  worker:\n    persona: |\n      # no comment\n      be brief\n    max_turns: 3\n",
			"agents.worker.persona", "short", "agents:\n  worker:\n    persona: short\n    max_turns: 3\n"},
		{"a folded word", "agents:\n  worker:\n    persona: be\n      brief\n    max_turns: 3\n", "agents.worker.persona",
			"short", "agents:\n  worker:\n    persona: short\n    max_turns: 3\n"},
		{"quotes of two lines", "agents:\n  worker:\n    persona: \"be\n      brief\"   # please\n", "agents.worker.persona",
			"short", "agents:\n  worker:\n    persona: short   # please\n"},
		{"a profile", "models:\n  default: {adapter: ollama}\n", "models.strong", "{adapter: openai, model: gpt-5}",
			"models:\n  default: {adapter: ollama}\n  strong: {adapter: openai, model: gpt-5}\n"},
		{"Windows", "workers:\r\n  max: 3\r\n", "workers.warm", "1", "workers:\r\n  max: 3\r\n  warm: 1\r\n"},
		{"a mark", "\ufeffversion: 1\n", "recovery", "ask", "\ufeffversion: 1\nrecovery: ask\n"},
		{"a quoted key", "\"workers\":\n  'max': 3\n", "workers.max", "4", "\"workers\":\n  'max': 4\n"},
		{"a document's beginning", "---\nworkers:\n  max: 3\n", "workers.max", "4", "---\nworkers:\n  max: 4\n"},
		{"comments alone", "# mine\n", "recovery", "ask", "# mine\nrecovery: ask\n"},

		{"remove a key", "workers:\n  max: 3\n  warm: 1\n", "workers.max", "", "workers:\n  warm: 1\n"},
		{"remove the last key", "version: 1\nworkers:\n  max: 3\n", "workers.max", "", "version: 1\n"},
		{"remove all", "workers:\n  max: 3\n", "workers.max", "", "version: 1\n"},
		{"remove with a comment", "version: 1\nworkers:\n  max: 3 # enough\n  warm: 1\n", "workers.max", "",
			"version: 1\nworkers:\n#  max: 3 # enough\n  warm: 1\n"},
		{"remove out of brackets", "workers: {max: 3, warm: 1}\n", "workers.max", "", "workers: {warm: 1}\n"},
		{"remove a section", "version: 1\nworkers:\n  max: 3\n  warm: 1\n# git\n", "workers", "", "version: 1\n# git\n"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, err := editOf(t, x.text, x.key, x.value)
			if err != nil {
				t.Fatal(err)
			}
			if got != x.want {
				t.Errorf("got\n%s\nwant\n%s", got, x.want)
			}
		})
	}
}

// An edit that a comment would be lost by, or whose layout is not known, is refused.
func TestEditRefuses(t *testing.T) {
	for _, x := range []struct {
		text, key, value string
		err              error
	}{
		{"gates:\n  protected: [\n    a, # why\n    b,\n  ]\n", "gates.protected", "[c]", errComment},
		{"workers:\n  max: 3 # enough\n", "workers", "{max: 5}", errComment},
		{"version: 1\n...\n", "workers.max", "5", errLayout},
	} {
		if got, err := editOf(t, x.text, x.key, x.value); !errors.Is(err, x.err) {
			t.Errorf("%s: %v, want %v\n%s", x.text, err, x.err, got)
		}
	}
}

// In the draft that company init writes, a key that is set takes the place of its
// comment, and one that is removed becomes that comment again.
func TestEditOfADraft(t *testing.T) {
	draft := string(
		ConfigDraft{All: true, About: []string{"about"},
			Notes: map[string][]string{"gates": {"what was found: none"}}}.Render())
	set, err := editOf(t, draft, "workers.max", "5")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nworkers:  ", "\n  max: 5  ", "\n#  command_timeout: 5m"} {
		if !strings.Contains(set, want) {
			t.Errorf("%q is missing in\n%s", want, set)
		}
	}
	if strings.Contains(set, "#  max: 3") {
		t.Errorf("the comment of workers.max stayed:\n%s", set)
	}
	more, err := editOf(t, set, "workers.warm", "2")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(more, "warm:") != strings.Count(draft, "warm:") {
		t.Errorf("workers.warm is there twice:\n%s", more)
	}
	one, err := editOf(t, more, "workers.warm", "")
	if err != nil {
		t.Fatal(err)
	}
	none, err := editOf(t, one, "workers.max", "")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.NewReplacer("#  max: 3 ", "#  max: 5 ", "#  warm: 1 ", "#  warm: 2 ").Replace(draft); none != want {
		t.Errorf("set and unset leave\n%s\nwant\n%s", none, want)
	}
}

// Feature: config, Property 1: Edits Change One Key
//
// Whatever stands in a file: the edited key has its value, all other keys theirs, and
// all comments are there (SUB-2).
func TestEditProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		comments := 0
		comment := func() string {
			if !rapid.Bool().Draw(t, "comment") {
				return ""
			}
			comments++
			return rapid.SampledFrom([]string{" # c", "   # c", "\t# c"}).Draw(t, "form")
		}
		values := map[string][]string{
			"workers": {"max: 3", "warm: '1'", "memory: \"4 g\"", "note: a#b", "list: [a, \"b, c\", {d: e}]",
				"text: |\n%    one\n%    two", "items:\n%  - a\n%  - \"b\""},
			"git": {"base: main", "author: 'A ''B'' <a@b>'", "paths: []"},
		}
		var keys []string
		for _, section := range []string{"workers", "git"} {
			if !rapid.Bool().Draw(t, section) {
				continue
			}
			text.WriteString(section + ":" + comment() + "\n")
			indent := rapid.SampledFrom([]string{"  ", "    "}).Draw(t, "indent")
			chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(values[section]), 1, 3, rapid.ID).Draw(t, "keys")
			for _, v := range chosen {
				name, _, _ := strings.Cut(v, ":")
				keys = append(keys, section+"."+name)
				line := indent + strings.ReplaceAll(v, "%", indent)
				if !strings.Contains(v, "\n") {
					line += comment()
				}
				text.WriteString(line + "\n")
				if rapid.Bool().Draw(t, "between") {
					comments++
					text.WriteString(indent + "# c\n\n")
				}
			}
		}
		key := rapid.SampledFrom(append(keys, "workers.max", "git.base", "recovery", "agents.worker.max_turns")).
			Draw(t, "key")
		value := rapid.SampledFrom([]string{"7", "word", "'a: # b'", "[x, y]", "{z: 1}", "\"tab\\t\""}).Draw(t, "value")
		n, _ := parseValue(value)
		out, err := editText("f", []byte(text.String()), strings.Split(key, "."), &n)
		if errors.Is(err, errComment) {
			return // refused: nothing is lost
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		if got := strings.Count(string(out), "# c"); got < comments {
			t.Fatalf("%d comments of %d are left\n%s\nof\n%s", got, comments, out, text.String())
		}
		gone, err := editText("f", out, strings.Split(key, "."), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if root, faults := parseYAML("f", gone); len(faults) > 0 {
			t.Fatal(faults.asError(""))
		} else if _, ok := root.findValue(strings.Split(key, ".")); ok {
			t.Fatalf("%s is still in\n%s", key, gone)
		}
	})
}
