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

// The journals on the bus and all cached verdicts are looked through, and each damage is in the list once.
func TestOfficeIsLookedThrough(t *testing.T) {
	s := newStore(t, "file")
	oid := company.OID(strings.Repeat("a", 40))
	const journals = 3
	missed := company.Hash(strings.Repeat("cd", 32))
	for n := range journals {
		id := s.Submit(fmt.Sprint("do ", n), "/p")
		s.Prepare(id, oid, company.GateCommand{Name: "test", Command: "true"})
		run := company.NewRunID(id, "", company.Manager, 1)
		j, err := s.ledger.OpenJournal(t.Context(), run, s.Claim(run, oid))
		must(t, err)
		for range 2 {
			_, err = j.Append(t.Context(), "tool", map[string]any{"whole": missed})
			must(t, err)
		}
	}
	there, last := s.putBlob("an output"), company.Hash(strings.Repeat("ef", 32))
	v := s.verifier()
	v.State = verdictState{s.orch, map[string]company.GateResult{
		"1": {Checks: []company.GateCheck{{Name: "test", Log: there}}},
		"2": {Checks: []company.GateCheck{{Name: "test", Names: last}}}}}
	all, err := v.Run(t.Context())
	must(t, err)
	if len(all.Damage) != journals+1 || !hasDamage(all.Damage, string(last)) {
		t.Errorf("damage %+v", all.Damage)
	}
}
