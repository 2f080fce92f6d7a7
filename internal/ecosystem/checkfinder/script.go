package checkfinder

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"company/internal/lib/boundedparse/bash"
	"company/internal/lib/lazyregexp"
)

// call is one simple command of a script.
type call struct {
	text  string   // as written in the script
	words []string // without leading assignments; contains unknown for values that only a shell can expand
	// assigns are the leading assignments, NAME=value each.
	assigns []string
	line    int      // in the script, from 0
	dir     string   // the folder after cd commands, relative to the start
	open    bool     // it depends on a value that the script does not define
	params  []string // the variables in its text
	lost    bool     // the script changed to an unknown folder
	// exports are the variables that the script has set before, NAME=value each.
	exports []string
	// soft means that the script continues if the call fails.
	soft bool
	// asked means that the script tests the call's output and fails depending on it.
	asked bool
}

// unknown replaces a value that only a shell can expand.
const unknown = "\x00"

// maxScript is the size limit of a script, in bytes.
const maxScript = 64 << 10

var (
	// ciValue matches a value that the CI inserts into a script before a shell reads it.
	ciValue = lazyregexp.New(`\$\{\{[^}]*\}\}`)
	// ciName matches the placeholder for such a value while the script is parsed.
	ciName = lazyregexp.New(`CI_VALUE_([0-9]{1,6})_`)
)

// ciValues holds the CI's values in a script. The placeholder contains the index.
type ciValues struct {
	texts []string
	// room limits the bytes of restored values. A script can contain placeholders itself, and a value can contain
	// another placeholder.
	room int
}

// parseScript returns the simple commands of a script in bash syntax. It returns none for a text that is not a
// script.
func parseScript(text string) []call {
	calls, _ := parseWithin(text, shellState{}, 0)
	return calls
}

// shellState is the state that a script leaves for the next one in the same shell: its folder and its variables.
type shellState struct {
	dir     string
	lost    bool // it changed to an unknown folder
	exports []string
}

// parseWithin is parseScript for a script that a shell reads after others.
func parseWithin(text string, state shellState, depth int) ([]call, shellState) {
	if len(text) > maxScript {
		return nil, state
	}
	values := &ciValues{room: 2 * len(text)} // each value may occur in a call's text and in its arguments
	text = ciValue.ReplaceAllStringFunc(text, func(v string) string {
		values.texts = append(values.texts, v)
		return fmt.Sprintf("CI_VALUE_%d_", len(values.texts)-1)
	})
	r := scriptReader{text: text, values: values, depth: depth, shellState: state}
	if r.readText() {
		return splitAll(r.calls), r.shellState
	}
	var out []call // an invalid script may still have valid commands on single lines
	for i, line := range strings.Split(text, "\n") {
		if r := (scriptReader{text: line, values: values, depth: depth, shellState: state}); r.readText() {
			for _, c := range r.calls {
				c.line = i
				out = append(out, c)
			}
		}
	}
	return splitAll(out), state
}

// splitAll returns the calls, with calls of task runners split by target.
func splitAll(calls []call) (out []call) {
	for _, c := range calls {
		out = append(out, c.splitTargets()...)
	}
	return out
}

// readText parses the script. It returns false if the text is not a script.
func (r *scriptReader) readText() (ok bool) {
	file, err := bash.Parse(r.text)
	if err != nil {
		return false
	}
	for _, s := range file.Stmts {
		r.readStatement(s, false)
	}
	return true
}

type scriptReader struct {
	text   string
	values *ciValues
	depth  int // number of enclosing scripts
	shellState
	calls []call
}

// readStatement collects the calls of a statement. within means that it is inside a loop, a function or a condition,
// where variables are unknown.
func (r *scriptReader) readStatement(s *syntax.Stmt, within bool) {
	if s == nil {
		return
	}
	all := func(list []*syntax.Stmt) {
		for _, inner := range list {
			r.readStatement(inner, true)
		}
	}
	if from := len(r.calls); s.Background {
		defer func() { r.markSoft(from) }()
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		r.readCall(c, within)
	case *syntax.BinaryCmd:
		from := len(r.calls)
		r.readStatement(c.X, within)
		if c.Op == syntax.OrStmt && endsWell(c.Y) {
			r.markSoft(from)
		}
		r.readStatement(c.Y, within)
		if last := len(r.calls) - 1; last >= from && c.Op == syntax.Pipe && r.calls[last].words[0] == "xargs" {
			text := r.text[int(c.Pos().Offset()):int(c.End().Offset())]
			r.calls[last].text = r.restoreVariables(text)
			r.calls[last].open = r.calls[last].open || r.calls[last].text != text
		}
	case *syntax.DeclClause:
		r.readExports(c)
	case *syntax.Subshell:
		dir, lost := r.dir, r.lost
		for _, inner := range c.Stmts {
			r.readStatement(inner, within)
		}
		r.dir, r.lost = dir, lost
	case *syntax.Block:
		for _, inner := range c.Stmts {
			r.readStatement(inner, within)
		}
	case *syntax.IfClause:
		r.readAsked(s, c.Cond)
		for ; c != nil; c = c.Else {
			all(c.Then)
		}
	case *syntax.ForClause:
		all(c.Do)
	case *syntax.WhileClause:
		all(c.Do)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			all(item.Stmts)
		}
	case *syntax.FuncDecl:
		r.readStatement(c.Body, true)
	case *syntax.TimeClause:
		r.readStatement(c.Stmt, within)
	}
}

// markSoft marks the calls from an index on: the script continues if they fail.
func (r *scriptReader) markSoft(from int) {
	for i := from; i < len(r.calls); i++ {
		r.calls[i].soft = true
	}
}

func (r *scriptReader) readCall(c *syntax.CallExpr, within bool) {
	if len(c.Args) == 0 {
		return
	}
	one := call{line: int(c.Pos().Line()) - 1, dir: r.dir, open: r.lost, lost: r.lost, exports: r.exports}
	from, to := int(c.Pos().Offset()), int(c.End().Offset())
	one.text = r.restoreVariables(r.text[from:to])
	one.open = one.open || one.text != r.text[from:to]
	for _, w := range c.Args {
		word, params := wordText(w)
		one.params = append(one.params, params...)
		one.open = one.open || within && strings.Contains(word, unknown)
		one.words = append(one.words, r.restoreVariables(word))
	}
	for _, a := range c.Assigns {
		if a.Name != nil && a.Value != nil {
			value, _ := wordText(a.Value)
			one.assigns = append(one.assigns, a.Name.Value+"="+r.restoreVariables(value))
		}
	}
	if one.words[0] == "cd" || one.words[0] == "pushd" {
		if len(one.words) != 2 || strings.Contains(one.words[1], unknown) || path.IsAbs(one.words[1]) ||
			one.words[1] == "-" || strings.HasPrefix(one.words[1], "~") {
			r.lost = true
			return
		}
		if r.dir = path.Join(r.dir, one.words[1]); r.dir == "." {
			r.dir = ""
		}
		return
	}
	if one.words[0] == "popd" {
		r.dir, r.lost = "", false
		return
	}
	if isTest := one.words[0] == "test" || one.words[0] == "["; isTest && r.addAsked(c, one) {
		return
	}
	if inner := one.parseInner(r.depth); inner != nil {
		r.calls = append(r.calls, inner...)
		return
	}
	r.calls = append(r.calls, one)
}

// restoreVariables replaces placeholders by the CI's values, up to a size limit.
func (r *scriptReader) restoreVariables(text string) string {
	return ciName.ReplaceAllStringFunc(text, func(name string) string {
		i, err := strconv.Atoi(ciName.FindStringSubmatch(name)[1])
		if err != nil || i >= len(r.values.texts) || len(r.values.texts[i]) > r.values.room {
			return name
		}
		r.values.room -= len(r.values.texts[i])
		return r.values.texts[i]
	})
}

// wordText returns the literal text of an argument, and the names of the variables in it.
func wordText(w *syntax.Word) (text string, params []string) {
	var b strings.Builder
	var add func(parts []syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(strings.ReplaceAll(strings.ReplaceAll(p.Value, "\\\n", ""), `\`, ""))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				add(p.Parts)
			default:
				if param, ok := p.(*syntax.ParamExp); ok && param.Param != nil {
					params = append(params, param.Param.Value)
				}
				b.WriteString(unknown)
			}
		}
	}
	add(w.Parts)
	return b.String(), params
}
