package proposal

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"company/internal/boundedparse/bash"
	"company/internal/lazyregexp"
)

// call is one simple command of a script.
type call struct {
	text  string   // as the script has it
	words []string // without the assignments before them; unknown where only a shell can tell
	// assigns are the assignments before them, NAME=value each.
	assigns []string
	line    int      // of the script, from 0
	dir     string   // that the script has gone into, from where it began
	open    bool     // it has a value that the script does not give
	params  []string // the variables that its text names
	lost    bool     // the script has gone into a folder that is not known
	// exports are the variables that the script has set before it, NAME=value each.
	exports []string
	// soft says that the script goes on when it fails.
	soft bool
	// asked says that the script looks at its output, and fails by that.
	asked bool
}

// unknown stands for an argument that only a shell can expand.
const unknown = "\x00"

// maxScript is the largest script that is read, in bytes.
const maxScript = 64 << 10

var (
	// ciValue is a value that the CI puts into a script before a shell reads it.
	ciValue = lazyregexp.New(`\$\{\{[^}]*\}\}`)
	// ciName is the name that stands for a value while the script is parsed.
	ciName = lazyregexp.New(`CI_VALUE_([0-9]{1,6})_`)
)

// ciValues are the values of the CI in a script, by the numbers of their names.
type ciValues struct {
	texts []string
	// room is how many bytes are put back. A script can have the names itself, and a value can
	// hold the name of another one.
	room int
}

// parseScript reads the simple commands of a script, as bash does. What is no
// script has none.
func parseScript(text string) []call {
	calls, _ := parseWithin(text, shellState{}, 0)
	return calls
}

// shellState is what one script leaves behind for another that the same shell reads: its folder, its variables.
type shellState struct {
	dir     string
	lost    bool // it has gone into a folder that is not known
	exports []string
}

// parseWithin is parseScript for a script that a shell reads behind others.
func parseWithin(text string, state shellState, depth int) ([]call, shellState) {
	if len(text) > maxScript {
		return nil, state
	}
	values := &ciValues{room: 2 * len(text)} // the text of a call, and its words
	text = ciValue.ReplaceAllStringFunc(text, func(v string) string {
		values.texts = append(values.texts, v)
		return fmt.Sprintf("CI_VALUE_%d_", len(values.texts)-1)
	})
	r := scriptReader{text: text, values: values, depth: depth, shellState: state}
	if r.readText() {
		return splitAll(r.calls), r.shellState
	}
	var out []call // a text that is no script as a whole may be commands, each on its line
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

// splitAll is the calls with those of task runners taken apart.
func splitAll(calls []call) (out []call) {
	for _, c := range calls {
		out = append(out, c.splitTargets()...)
	}
	return out
}

// readText reads the script; not ok: it is none.
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
	depth  int // scripts around it
	shellState
	calls []call
}

// readStatement gathers the calls of a statement. within says that it is part of a
// loop, a function or a condition, whose variables are unknown.
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

// markSoft marks the calls from one on: the script goes on when they fail.
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
		if len(one.words) != 2 || strings.Contains(one.words[1], unknown) || path.IsAbs(one.words[1]) || one.words[1] == "-" || strings.HasPrefix(one.words[1], "~") {
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

// restoreVariables puts the values of the CI back, as long as there is room for them.
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

// wordText returns a word's literal text, and the names of the variables that
// are part of it.
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
