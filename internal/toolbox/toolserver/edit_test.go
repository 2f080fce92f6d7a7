package toolserver

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"company/internal/toolbox/toolproto"
)

// Feature: agent-execution-engine, Property 17: File Edit Consistency
//
// WRK-3. A valid edit equals applying it;
// an invalid one leaves the file untouched.
func TestEditEqualsReplacement(t *testing.T) {
	b := newBench(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := "f" + itoa(n)
		line := rapid.StringMatching(`[ \t]{0,2}[abc]{0,3}`)
		content := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(rt, "lines"), "\n")
		old := rapid.StringMatching(`[abc \n]{0,4}`).Draw(rt, "old")
		repl := rapid.StringMatching(`[abcd\n]{0,4}`).Draw(rt, "new")
		all := rapid.Bool().Draw(rt, "all")
		if _, err := b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: path, Content: []byte(content)}); err != nil {
			rt.Fatal(err)
		}
		r, err := b.EditFile(t.Context(), toolproto.EditFileRequest{Path: path, Old: old, New: repl, ReplaceAll: all})
		got := b.content(t, path)
		count := strings.Count(content, old)
		switch {
		case old != "" && old != repl && (count == 1 || all && count > 1):
			if err != nil || got != strings.ReplaceAll(content, old, repl) || r.Replacements != count {
				rt.Fatalf("%+v %v: %q", r, err, got)
			}
		case err != nil:
			if got != content {
				rt.Fatalf("refused (%v), but the file is %q, was %q", err, got, content)
			}
		case r.Note == "" || count > 1:
			rt.Fatalf("edited without a note: %+v", r)
		}
	})
}

// An edit of a line that stands elsewhere in the file, too, names the function that it met. One of a line that is there
// once, or of the head of a function, does not.
func TestEditNamesTheFunctionThatItMet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, old, note string }{
		"Go": {"func A() {\n\tif x {\n\t\treturn 1\n\t}\n}\n\nfunc (c *C) B(n int) error {\n\tif x {\n\t\treturn 2\n\t}\n}\n",
			"if x {\n\t\treturn 2", "this one is in func (c *C) B(n int) error"},
		"Python": {"class C:\n    def a(self):\n        go(1)\n        y()\n\n    def b(self):\n        go(1)\n        z()\n",
			"go(1)\n        z()", "this one is in def b(self):"},
		"Java": {"class C {\n  public int a() {\n    go(x);\n    y();\n  }\n  int b(int n)\n  {\n    go(x);\n    z();\n  }\n}\n",
			"go(x);\n    z()", "this one is in int b(int n)"},
		"line numbers": {"func A() {\n\tgo(1)\n}\n\nfunc B() {\n\tgo(1)\n\ty()\n}\n", "6: \tgo(1)\n7: \ty()",
			"this one is in func B(); the line numbers in old are not part of the file and were left out"},
		"deferred": {"func A() {\n\tgo(1)\n}\n\nfunc B() {\n\tdefer func() {\n\t\tgo(1)\n\t\ty()\n\t}()\n}\n",
			"go(1)\n\t\ty()", "this one is in func B()"},
		"in a goroutine": {"func A() {\n\tgo(1)\n}\n\nfunc B() {\n\tgo func(n int) {\n\t\tgo(1)\n\t\ty()\n\t}(1)\n}\n",
			"go(1)\n\t\ty()", "this one is in func B()"},
		"a test without a name": {"func TestA(t *testing.T) {\n\tgo(1)\n\tt.Run(c.name, func(t *testing.T) {\n\t\tgo(1)\n" +
			"\t\ty()\n\t})\n}\n", "go(1)\n\t\ty()", "this one is in func TestA(t *testing.T)"},
		"a test with a name": {"describe('a', () => {\n  go(1)\n})\ndescribe('b', () => {\n  all.forEach((x) => {\n    go(1)\n" +
			"    y()\n  })\n})\n", "go(1)\n    y()", "this one is in describe('b', ()"},
		"an arrow": {"const f = (a) => {\n  go(1)\n}\nexport const g = async (a) => {\n  go(1)\n  y()\n}\n", "go(1)\n  y()",
			"this one is in export const g = async (a)"},
		"a function as an argument": {"func A() {\n\tgo(1)\n}\n\nfunc B(f func(int)) {\n\tgo(1)\n\ty()\n}\n",
			"go(1)\n\ty()", "this one is in func B(f func(int))"},
		"an impl": {"impl<T> A for B<T> {\n  go!(1);\n}\nimpl<T> C for B<T> {\n  go!(1);\n  y!();\n}\n",
			"go!(1);\n  y", "this one is in impl<T> C for B<T>"},
		"once":        {"func A() {\n\treturn 12\n}\n", "return 12", ""},
		"its head":    {"func A() {\n\tgo()\n}\n", "func A() {", ""},
		"no function": {"a: 1234\nb: 1\na: 1234\n", "a: 1234\nb", ""},
	} {
		got, err := applyEdit(toolproto.EditFileRequest{Path: "x", Old: c.old, New: "z"}, c.content)
		if err != nil || !strings.HasSuffix(got.note, c.note) || (got.note == "") != (c.note == "") {
			t.Errorf("%s: %q, %v", name, got.note, err)
		}
	}
}

func TestEdit(t *testing.T) {
	const code = "func a() {\n\tif x {\n\t\treturn 1\n\t}\n}\n"
	for name, c := range map[string]struct {
		content, old, repl string
		all                bool
		want, note         string
		refused            string
	}{
		"exact":     {content: code, old: "return 1", repl: "return 2", want: strings.Replace(code, "1", "2", 1)},
		"all":       {content: "a a a", old: "a", repl: "b", all: true, want: "b b b"},
		"ambiguous": {content: "x\ny\nx\n", old: "x", repl: "z", refused: "at lines 1, 3"},
		"spaces for tabs": {content: code, old: "  if x {\n    return 1\n  }", repl: "  if y {\n  }",
			want: "func a() {\n\tif y {\n\t}\n}\n", note: "lines 2-4"},
		"deeper indent": {content: code, old: "return   1", repl: "return 7", want: strings.Replace(code, "1", "7", 1),
			note: "lines 3-3"},
		"delete by lines": {content: code, old: "if  x {\nreturn 1\n}\n", repl: "", want: "func a() {\n}\n",
			note: "lines 2-4"},
		"nested, spaces for tabs": {
			content: "func a() {\n\tfor {\n\t\tif x {\n\t\t\treturn 1\n\t\t}\n\t}\n}\n",
			old:     "    for {\n        if x {\n            return 1\n        }\n    }",
			repl: "    for {\n        if x {\n            if y {\n                z()\n            }\n            return " +
				"1\n        }\n    }",
			want: "func a() {\n\tfor {\n\t\tif x {\n\t\t\tif y {\n\t\t\t\tz()\n\t\t\t}\n\t\t\treturn 1\n\t\t}\n\t}\n}\n",
			note: "6: \t\t\t}",
		},
		"tabs for spaces": {content: "def a():\n  if x:\n    b()\n", old: "\tif x:\n\t\tb()",
			repl: "\tif x:\n\t\tfor y in z:\n\t\t\tb()", want: "def a():\n  if x:\n    for y in z:\n      b()\n",
			note: "lines 2-3"},
		"four for two": {content: "a:\n  b:\n    c: 1\n", old: "    b:\n        c:  1",
			repl: "    b:\n        c:\n            d: 2\ne: 3", want: "a:\n  b:\n    c:\n      d: 2\ne: 3\n", note: "lines 2-3"},
		"without the outer": {content: "\t\tif x {\n\t\t\ty()\n\t\t}\n", old: "if x {\n\ty()\n}",
			repl: "if x {\n\tfor {\n\t\ty()\n\t}\n}", want: "\t\tif x {\n\t\t\tfor {\n\t\t\t\ty()\n\t\t\t}\n\t\t}\n",
			note: "lines 1-3"},
		"an aligned comment": {content: "\t/* a\n\t * b */\n\tx()\n", old: "/*  a\n * b */", repl: "/* a\n * c\n * b */",
			want: "\t/* a\n\t * c\n\t * b */\n\tx()\n", note: "lines 1-2"},
		"only inside differs": {content: "\tx  :=  1\n", old: "\tx := 1", repl: "\tif y {\n\t    x := 1\n\t}",
			want: "\tif y {\n\t    x := 1\n\t}\n", note: "lines 1-1"},
		"one line becomes three": {content: "func a() {\n\treturn 1\n}\n", old: "  return 1",
			repl: "  if x {\n    return 2\n  }", want: "func a() {\n\tif x {\n\t\treturn 2\n\t}\n}\n", note: "3: \t\treturn 2"},
		"fallback CRLF":     {content: "a  b\r\nc\r\n", old: "a b", repl: "d", want: "d\r\nc\r\n", note: "lines 1-1"},
		"fallback twice":    {content: "a  b\nc\na   b\n", old: "a b", repl: "d", refused: "lines 1 and 3"},
		"no part of a line": {content: "foo  (bar) baz\n", old: "foo (bar)", repl: "x", refused: "not one of its lines"},
		"nearest": {content: code, old: "\tif x {\n\t\treturn 9\n", repl: "z",
			refused: `nearest is line 2, but line 3 is "\t\treturn 1" and old has "return 9"`},
		"file ends": {content: "a\nb", old: "b\nc", repl: "z", refused: "file ends before line 2"},
		"numbered lines": {
			content: code, old: "2: \tif x {\n3: \t\treturn 1\n4: \t}", repl: "2: \tif y {\n3: \t\treturn 2\n4: \t}",
			want: "func a() {\n\tif y {\n\t\treturn 2\n\t}\n}\n", note: "line numbers in old",
		},
		"numbered as cat does": {content: code, old: "     3\t\t\treturn 1\n", repl: "\t\treturn 2\n",
			want: strings.Replace(code, "1", "2", 1), note: "line numbers"},
		"an escape for a break": {content: "a\nb\n", old: `a\nb`, repl: "c",
			refused: `old holds the two characters \n; give a line break`},
		"numbered, an empty line": {content: "a\n\nb\n", old: "584: a\n585: \n586:b", repl: "c",
			refused: "not one of its lines"},
		"numbered and blank lines": {content: "a\n\nb\n", old: "584: a\n585:\n586: b", repl: "584: a\n585: c", want: "a\nc\n",
			note: "line numbers"},
		"not each line numbered": {content: "a\nb\n", old: "1: a\nb", repl: "c", refused: "nearest is line 1"},
		"numbers out of order":   {content: "a\nb\n", old: "1: a\n7: b", repl: "c", refused: "not one of its lines"},
		"numbers of the file":    {content: "1: a\n2: b\n", old: "1: a\n2: b", repl: "1: c\n2: d", want: "1: c\n2: d\n"},
		"numbered, not there":    {content: code, old: "3: \t\treturn 9", repl: "z", refused: "not one of its lines"},
		"empty old":              {content: "a", old: "", repl: "z", refused: "old is empty"},
		"same":                   {content: "a", old: "a", repl: "a", refused: "the same"},
		"only white space":       {content: "a\n", old: "  \n", repl: "z", refused: "old is not in"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := applyEdit(toolproto.EditFileRequest{Path: "f", Old: c.old, New: c.repl, ReplaceAll: c.all}, c.content)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("got %v, want %q", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.content != c.want || (c.note == "") != (e.note == "") || !strings.Contains(e.note, c.note) {
				t.Fatalf("got %q (%s), want %q (%s)", e.content, e.note, c.want, c.note)
			}
		})
	}
}
