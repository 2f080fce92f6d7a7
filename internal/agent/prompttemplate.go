package agent

import (
	"embed"
	"strings"
	"sync"
	"text/template"

	"company/internal/company"
	"company/internal/lib/safetext"
)

//go:embed prompts/shared.md.tmpl
var sharedBlocks string

// PromptTemplates are the first messages of a role: templates beside its system prompt.
type PromptTemplates struct{ parse func() *template.Template }

// NewPromptTemplates returns the templates prompts/*.tmpl of files, with the blocks that roles share. They are parsed
// on first use.
func NewPromptTemplates(files embed.FS) PromptTemplates {
	return PromptTemplates{sync.OnceValue(func() *template.Template {
		shared := template.Must(template.New("shared").Funcs(promptFuncs).Parse(sharedBlocks))
		return template.Must(shared.ParseFS(files, "prompts/*.tmpl"))
	})}
}

// Render renders a template, or a block of one, with one line break at its end unless it is empty. A template that does
// not fit its data is an error of the program, and panics.
func (p PromptTemplates) Render(name string, data any) string {
	var b strings.Builder
	if err := p.parse().ExecuteTemplate(&b, name, data); err != nil {
		panic("agent: a prompt cannot be rendered: " + err.Error())
	}
	text := strings.Trim(b.String(), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// promptFuncs are the functions of prompt templates. Foreign text passes line, escape or quote. No result ends with a
// line break.
var promptFuncs = template.FuncMap{
	"line":      JoinLines,
	"escape":    EscapeHeadings,
	"quote":     func(tag string, text any) string { return trimBreak(Quote(tag, "", joinText(text, "\n"))) },
	"join":      joinText,
	"trim":      trimBreak,
	"cut":       safetext.CutBetweenWords,
	"shorten":   safetext.EscapeLine,
	"count":     company.Count,
	"finding":   FormatFinding,
	"number":    func(index int) int { return index + 1 },
	"notes":     func(list []company.Note) string { return trimBreak(quoteNotes(list)) },
	"decisions": func(list []company.Decision) string { return trimBreak(quoteDecisions(list)) },
	"newBudget": company.NewMatchBudget,
	"outside":   func(list []company.OutsideFile) string { return trimBreak(quoteOutside(list)) },
}

// joinText returns a text, or the joined texts of a list.
func joinText(text any, separator string) string {
	if list, ok := text.([]string); ok {
		return strings.Join(list, separator)
	}
	return text.(string)
}

// FormatFinding returns a finding of a review on one line of a prompt: place, fault, and reason in brackets.
func FormatFinding(finding company.Finding) string {
	text := strings.TrimSpace(finding.Where() + " " + finding.What)
	if finding.Why != "" {
		text += " (" + finding.Why + ")"
	}
	return JoinLines(text)
}

func trimBreak(text string) string { return strings.TrimSuffix(text, "\n") }
