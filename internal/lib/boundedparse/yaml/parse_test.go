package yaml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"company/internal/lib/boundedparse/parsetest"
	"company/internal/lib/hosttest"

	"github.com/goccy/go-yaml/ast"
)

var limits = Limits{Bytes: 256 << 10, Lines: 6000, Depth: 60}

// fill repeats a text in long lines, up to a size in bytes.
func fill(text string, size int) string {
	line := strings.Repeat(text, 8000/len(text)) + "\n"
	return strings.Repeat(line, size/len(line)-1)
}

// hostile are large texts. Each makes the parser nest deeply, or keep much, or both.
func hostile() map[string]string {
	out := map[string]string{
		"closing brackets in quotes": "a: " + fill("[']',", limits.Bytes),
		"closing brackets in comments": "a: " +
			strings.Repeat(strings.Repeat("[", 40)+" # "+strings.Repeat("]", 50)+"\n", 2000),
		"closing brackets in a key": "a: " + fill("[\"]\": ", limits.Bytes),
		"long key above a list":     "{" + strings.Repeat("x", 16000) + ": [" + fill("a,", limits.Bytes)[:200_000] + "]}",
		"long key above lists":      "{" + strings.Repeat("x", 8000) + ": [[" + fill("a,", limits.Bytes)[:200_000] + "]]}",
		"long keys above a block": strings.Repeat("x", 14000) + ":\n " + strings.Repeat("x", 14000) + ":\n  " +
			strings.Repeat("x", 14000) + ":\n" +
			strings.Repeat("   a: b\n", 5000),
		"lists that indent more and more": "",
		"one key a line":                  strings.Repeat("a: b\n", 6000),
		"one tag a line":                  strings.Repeat("!a\n", 6000),
		"one question mark a line":        strings.Repeat("? a\n", 6000),
	}
	for indent := 0; indent < 14_000; indent += 384 {
		out["lists that indent more and more"] += strings.Repeat(" ", indent) + strings.Repeat("- ", 192) + "\n"
	}
	for _, sign := range []string{
		"[", "{", "- ", "? ", ": ", "a: ", "!a ", "&a ", "*a ", "[]: ", "{}: ", "[? ", "{? ", "[a: ", "{a: ", "{a: [", "- ? ",
		"a,", "{},", "{a: b},", "'a',", ",", "|\n", ">\n", "%", "\"", "'",
		"# ", "a ", "--- ", "<<: ", "- !a ", "!a [", "&a [", "[!a ", "\t", "\r", "- - a\n", "a: |\n", "- # a\n",
	} {
		const size = 64 << 10 // enough to tell what grows with the square
		out["filled with "+sign] = fill(sign, size)
		out["a value of "+sign] = "a: " + fill(sign, size)
		out["a list of "+sign] = "[" + fill(sign, size) + "]"
	}
	return out
}

// TestParseBoundsMemory measures the costliest texts that the limits let pass.
func TestParseBoundsMemory(t *testing.T) {
	hosttest.Long(t, "it measures the largest texts")
	for name, text := range hostile() {
		var err error
		stack, allocated := parsetest.Measure(func() { _, err = Parse([]byte(text), limits) })
		most := uint64(256 * parsetest.MiB)
		if strings.HasPrefix(name, "closing") {
			most = 50 * parsetest.MiB
		}
		if stack > 16*parsetest.MiB || allocated > most {
			t.Errorf("%s: %d MiB of stack, %d MiB allocated, %v", name, stack>>20, allocated>>20, err)
		}
	}
}

// TestParseCountsLevels parses nested texts with a limit that is one level too low, and with
// twice the levels that they have.
func TestParseCountsLevels(t *testing.T) {
	for name, nest := range map[string]func(n int) string{
		"lists":               func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) },
		"mappings":            func(n int) string { return strings.Repeat("{a: ", n) + strings.Repeat("}", n) },
		"quoted keys":         func(n int) string { return strings.Repeat("{']': ", n) + strings.Repeat("}", n) },
		"dashes":              func(n int) string { return strings.Repeat("- ", n) + "a" },
		"dashes below a key":  func(n int) string { return nestLines(n, "a:\n%s- ") },
		"keys":                func(n int) string { return nestLines(n, "a:\n%s ") },
		"dashes and keys":     func(n int) string { return nestLines(n, "- a:\n%s   ") },
		"keys behind tags":    func(n int) string { return nestLines(n, "!b a: !c\n%s ") },
		"keys behind anchors": func(n int) string { return nestLines(n, "&b a: &c\n%s ") },
		"lists behind tags":   func(n int) string { return strings.Repeat("!a [", n) + strings.Repeat("]", n) },
	} {
		text := nest(40)
		file, err := Parse([]byte(text), Limits{Bytes: 1 << 20, Lines: 1000, Depth: 160})
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		levels := depthOf(file.Docs[0].Body)
		if _, err := Parse([]byte(text), Limits{Bytes: 1 << 20, Lines: 1000, Depth: levels/2 - 1}); err == nil ||
			levels < 40 {
			t.Errorf("%s: %d levels were taken for fewer than half as many", name, levels)
		}
	}
}

// Marks before a value are levels, too: the name of an anchor is not a value that ends them.
func TestNestingBeforeValues(t *testing.T) {
	for _, unit := range []string{"&a !b ", "!b &a ", "!b !c ", "&a "} {
		_, err := Parse([]byte(strings.Repeat(unit, 500)+"x"), Limits{Bytes: 1 << 20, Lines: 1000, Depth: 60})
		if err == nil {
			t.Errorf("%q 500 times is within 60 levels", unit)
		}
	}
}

// nestLines nests blocks: each format begins a line, and takes the indentation of the next.
func nestLines(n int, format string) string {
	text, indent := "", ""
	for range n {
		before, after, _ := strings.Cut(format, "%s")
		text += before + indent + after
		indent += strings.Repeat(" ", len(after))
	}
	return text + "x"
}

// depthOf counts the levels of lists, mappings, tags and anchors.
func depthOf(n ast.Node) int {
	deepest := 0
	add := func(inner ast.Node) {
		if inner != nil {
			deepest = max(deepest, depthOf(inner))
		}
	}
	switch n := n.(type) {
	case *ast.SequenceNode:
		for _, v := range n.Values {
			add(v)
		}
	case *ast.MappingNode:
		for _, v := range n.Values {
			add(v.Key)
			add(v.Value)
		}
	case *ast.MappingValueNode:
		add(n.Key)
		add(n.Value)
	case *ast.MappingKeyNode:
		add(n.Value)
	case *ast.TagNode:
		add(n.Value)
	case *ast.AnchorNode:
		add(n.Value)
	default:
		return 0
	}
	return 1 + deepest
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		line       int
	}{
		"size":   {strings.Repeat("a", limits.Bytes+1), "the file has 262145 bytes", 1},
		"lines":  {strings.Repeat("#\n", limits.Lines+1), "too many lines", 6001},
		"depth":  {"a:\n" + strings.Repeat("[", 70), "values nest too deeply", 2},
		"tabs":   {"a: b\n\"" + strings.Repeat("a\t", 10_000) + "\"", "too many tabs or < in a line", 2},
		"angles": {strings.Repeat("<", 10_000) + "\n", "too many tabs, < or blank lines for a file of this size", 1},
		"blanks": {"a: |\n " + strings.Repeat("x", 200_000) + strings.Repeat("\n", 1000),
			"too many tabs, < or blank lines for a file of this size", 170},
		"returns": {"a: |\n" + strings.Repeat("\r", 20_000),
			"too many tabs, < or blank lines for a file of this size", 1680},
		"NUL": {"a: b\nc: \x00", "a NUL byte", 2},
		"keys": {"{" + strings.Repeat("x", 100_000) + ": [" + strings.Repeat("a,", 1000) + "]}",
			"long keys hold too many values", 1},
		"grammar": {"a: [1\n b: {", "unexpected map key", 2},
	} {
		_, err := Parse([]byte(c.text), limits)
		if e := (*Error)(nil); !errors.As(err, &e) || e.Message != c.want || e.Line != c.line ||
			e.Fix == "" != (name == "grammar") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecode(t *testing.T) {
	var v struct{ A []string }
	if err := Decode([]byte("a: [x, y]\nb: 1\n"), &v, false); err != nil || fmt.Sprint(v.A) != "[x y]" {
		t.Error(v, err)
	}
	for text, want := range map[string]string{
		"a: [x]\nb: 1\n":           `line 2: unknown field "b"`,
		"a: &x [b]\nc: *x\n":       "line 2: an alias is refused",
		strings.Repeat("- ", 9000): "line 1: values nest too deeply",
		"a: {":                     "line 1: could not find flow mapping end token '}'",
	} {
		if err := Decode([]byte(text), &v, true); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if err := Decode(nil, &v, true); err != nil {
		t.Error(err)
	}
}

// FuzzParse looks for a text that costs much more than it is long.
func FuzzParse(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text[:min(len(text), 2000)], uint16(20))
	}
	f.Fuzz(func(t *testing.T, text string, times uint16) {
		text = strings.Repeat(text, min(int(times), limits.Bytes/max(1, len(text))))
		if stack, allocated := parsetest.Measure(func() { _, _ = Parse([]byte(text), limits) }); stack > 16*parsetest.MiB ||
			allocated > 256*parsetest.MiB {
			t.Errorf("%d bytes: %d MiB of stack, %d MiB allocated", len(text), stack>>20, allocated>>20)
		}
	})
}
