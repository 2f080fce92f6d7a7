package company

import "testing"

// An entry of a ticket's context is a file, lines of it, or a note.
func TestParseContext(t *testing.T) {
	for entry, want := range map[string]ContextFile{
		"internal/a.go":                         {Path: "internal/a.go"},
		" `internal/a.go` ":                     {Path: "internal/a.go"},
		"Makefile":                              {Path: "Makefile"},
		"app/(group)/[id]/page.tsx":             {Path: "app/(group)/[id]/page.tsx"},
		"a.go:12":                               {Path: "a.go", First: 12, Last: 12},
		"a.go:12-40":                            {Path: "a.go", First: 12, Last: 40},
		"`a.go:12-40`: the loop":                {Path: "a.go", First: 12, Last: 40, Noted: true},
		"a.go#L12-L40":                          {Path: "a.go", First: 12, Last: 40},
		"a.go lines 12–40":                      {Path: "a.go", First: 12, Last: 40},
		"a.go (lines 12-40)":                    {Path: "a.go", First: 12, Last: 40},
		"a.go, line 12: the loop":               {Path: "a.go", First: 12, Last: 12, Noted: true},
		"a.go: the loop":                        {Path: "a.go", Noted: true},
		"Makefile: its targets":                 {Path: "Makefile", Noted: true},
		"a.go has the loop":                     {Path: "a.go", Noted: true},
		"a.go:40-12":                            {Path: "a.go:40-12"},
		"be":                                    {Path: "be"},
		"be quick":                              {},
		"Use lines of text":                     {},
		"see e.g. the parser":                   {},
		"context.Contextualised is passed here": {},
		"":                                      {},
		" : ":                                   {},
	} {
		got, ok := ParseContext(entry)
		if got != want || ok != (want != ContextFile{}) {
			t.Errorf("%q: %+v, %v", entry, got, ok)
		}
	}
}
