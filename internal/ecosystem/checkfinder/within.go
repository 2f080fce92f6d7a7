package checkfinder

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"company/internal/lib/lazyregexp"
)

// shellScriptRE matches the flag before a script argument of a shell: -c, -ec, -lc.
var shellScriptRE = lazyregexp.New(`^-[a-z]*c$`)

// maxInner limits how deep scripts in arguments may be nested.
const maxInner = 3

// parseInner parses the script in an argument of a call: bash -c '…'. It returns nil if there is no readable script.
func (c call) parseInner(depth int) []call {
	words := c.unwrapCommand()
	if len(words) < 3 || depth == maxInner ||
		!slices.Contains([]string{"bash", "sh", "dash", "zsh"}, path.Base(words[0])) {
		return nil
	}
	index := slices.IndexFunc(words, shellScriptRE.MatchString)
	if index < 0 || index+1 >= len(words) || strings.Contains(words[index+1], unknown) {
		return nil
	}
	inner, _ := parseWithin(words[index+1],
		shellState{dir: c.dir, lost: c.lost, exports: append(slices.Clone(c.exports), c.assigns...)}, depth+1)
	for i := range inner {
		inner[i].line, inner[i].open = c.line, inner[i].open || c.open
	}
	return inner
}

// endsWell reports whether a statement after || hides the failure: true, echo, exit 0.
func endsWell(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	switch name := c.Args[0].Lit(); name {
	case "true", ":", "echo", "printf":
		return true
	case "exit", "return":
		return len(c.Args) == 2 && c.Args[1].Lit() == "0"
	}
	return false
}

// readExports stores the variables that a script exports for later commands.
func (r *scriptReader) readExports(d *syntax.DeclClause) {
	if d.Variant.Value != "export" {
		return
	}
	for _, a := range d.Args {
		if a.Name == nil || a.Value == nil || len(r.exports) >= maxVariables {
			continue
		}
		value, _ := wordText(a.Value)
		if value = r.restoreVariables(value); !strings.Contains(value, unknown) {
			r.exports = append(slices.Clone(r.exports), a.Name.Value+"="+value)
		}
	}
}

// addAsked adds a call whose output a test checks: test -z "$(gofmt -l .)". The call's text is the whole test. It
// returns false if there is no such call.
func (r *scriptReader) addAsked(node syntax.Node, whole call) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		sub, ok := n.(*syntax.CmdSubst)
		if !ok || found {
			return !found
		}
		inner := scriptReader{text: r.text, values: r.values, shellState: r.shellState, depth: r.depth}
		for _, s := range sub.Stmts {
			inner.readStatement(s, true)
		}
		for _, c := range inner.calls {
			if c.asked = true; c.checkKind() == Lint {
				c.text = whole.text
				c.line = whole.line
				c.dir = whole.dir
				c.open = c.open || whole.open
				r.calls, found = append(r.calls, c), true
				break
			}
		}
		return false
	})
	return found
}

// readAsked adds the call whose output an if condition tests, if a branch of it fails. The call's text is the whole
// statement.
func (r *scriptReader) readAsked(s *syntax.Stmt, conditions []*syntax.Stmt) {
	var text strings.Builder
	if syntax.NewPrinter(syntax.SingleLine(true)).Print(&text, s) != nil || !failsRE.MatchString(text.String()) ||
		strings.Contains(text.String(), "\n") {
		return
	}
	whole := call{text: r.restoreVariables(text.String()), line: int(s.Pos().Line()) - 1, dir: r.dir, open: r.lost,
		lost: r.lost}
	whole.open = whole.open || whole.text != text.String()
	for _, c := range conditions {
		if r.addAsked(c, whole) {
			return
		}
	}
}

// failsRE matches a command that ends a script with a failure.
var failsRE = lazyregexp.New(`\b(exit|return) +[1-9]|\bfalse\b`)
