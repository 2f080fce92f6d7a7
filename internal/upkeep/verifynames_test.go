package upkeep

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
)

// Each field of a record of a conversation that is kept in a blob is looked for: those whose type
// is payload in the package that writes the records, and the whole output of a tool.
func TestAllPayloadsAreLookedFor(t *testing.T) {
	files, err := filepath.Glob("../agent/*.go")
	must(t, err)
	var fields []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		must(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok || f.Tag == nil {
				return true
			}
			kind := f.Type
			if star, ok := kind.(*ast.StarExpr); ok {
				kind = star.X
			}
			if id, ok := kind.(*ast.Ident); ok && id.Name == "payload" {
				name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
				fields = append(fields, name)
			}
			return true
		})
	}
	if len(fields) < 7 || !slices.Contains(fields, "shown") {
		t.Fatalf("the records have the fields %q", fields)
	}
	want := hashOfText("x")
	for _, field := range fields {
		text, err := json.Marshal(map[string]any{field: map[string]any{"blob": want}})
		must(t, err)
		if got := payloadNames(text); !slices.Equal(got, []company.Hash{want}) {
			t.Errorf("of %s: %q", text, got)
		}
	}
}

// verdictState is a state with other cached verdicts.
type verdictState struct {
	State
	verdicts map[string]company.GateResult
}

func (s verdictState) View() *company.State {
	view := *s.State.View()
	view.GateResults = s.verdicts
	return &view
}

// The journals on the bus and the cached verdicts are looked through some at a step. Each step goes
// on behind the one before, and none is left out.
func TestOfficeIsLookedThroughInSteps(t *testing.T) {
	s := newStore(t, "file")
	oid := company.OID(strings.Repeat("a", 40))
	const journals, verdicts = 5, 600
	missed := company.Hash(strings.Repeat("cd", 32))
	for n := range journals {
		id := s.Submit(fmt.Sprint("do ", n), "/p")
		s.Prepare(id, oid, company.GateCommand{Name: "test", Command: "true"})
		run := company.NewRunID(id, "", company.Manager, 1)
		j, err := s.ledger.OpenJournal(t.Context(), run, s.Claim(run, oid))
		must(t, err)
		_, err = j.Append(t.Context(), "tool", map[string]any{"text": strings.Repeat("x", bytesPerStep*2/5), "whole": missed})
		must(t, err)
	}
	there := s.putBlob("an output")
	all := map[string]company.GateResult{}
	for n := range verdicts {
		all[fmt.Sprintf("%06d", n)] = company.GateResult{Checks: []company.GateCheck{{Name: "test", Log: there}}}
	}
	last := company.Hash(strings.Repeat("ef", 32))
	all[fmt.Sprintf("%06d", verdicts)] = company.GateResult{Checks: []company.GateCheck{{Name: "test", Names: last}}}
	v := s.verifier()
	v.State = verdictState{s.orch, all}
	var p verification
	var among struct{ journals, verdicts int }
	for done := false; !done; {
		before := [2]string{string(p.Journal), p.Verdict}
		var err error
		done, err = v.findMissing(t.Context(), &p)
		must(t, err)
		if before == [2]string{string(p.Journal), p.Verdict} {
			t.Fatalf("a step goes nowhere: %+v", p)
		}
		switch {
		case p.Verdict == "":
			among.journals++
		case !done:
			among.verdicts++
		}
	}
	if among.journals < 1 || among.verdicts < 1 {
		t.Errorf("it was cut %+v", among)
	}
	// Each damage is in the list once.
	if len(p.Found) != journals+1 || !hasDamage(p.Found, string(last)) || p.Verdict != fmt.Sprintf("%06d", verdicts) {
		t.Errorf("%s, damage %+v", p.Verdict, p.Found)
	}
}
