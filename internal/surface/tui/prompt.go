package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// maxTyped limits the characters typed at a prompt.
const maxTyped = 4000

// prompt is a line at the bottom of the screen that asks for a text. It acts only on Enter. Esc
// cancels it.
type prompt struct {
	label string // describes the action of Enter
	input textinput.Model
	must  string // text required to confirm (empty accepts any text)
	least int    // minimum length of the text
	words bool   // the text can be edited in an editor
	// written is a text of several lines from an editor or a paste. It replaces input.
	written string

	act    func(text string) tea.Cmd
	typed  func(text string) // called for each change
	cancel func()            // called on Esc
}

func newPrompt(label string, act func(string) tea.Cmd) *prompt {
	in := textinput.New()
	in.Prompt, in.CharLimit = "> ", maxTyped
	in.KeyMap.Paste = key.NewBinding(key.WithDisabled()) // it would start a program; terminals handle paste themselves
	in.SetVirtualCursor(false)
	in.SetStyles(textinput.Styles{})
	in.Focus()
	return &prompt{label: label, input: in, act: act}
}

// pressKey handles a key and reports whether the prompt is finished.
func (p *prompt) pressKey(msg tea.Msg) (done bool, cmd tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "esc", "ctrl+c":
			if p.cancel != nil {
				p.cancel()
			}
			return true, nil
		case "enter":
			text := p.currentText()
			if p.must != "" && text != p.must || len(text) < p.least {
				return false, nil
			}
			return true, p.act(text)
		}
	}
	if paste, ok := msg.(tea.PasteMsg); ok && p.words && p.takePaste(paste.Content) {
		return false, nil
	}
	if p.written != "" {
		return false, nil
	}
	before := p.input.Value()
	p.input, cmd = p.input.Update(msg)
	if p.typed != nil && p.input.Value() != before {
		p.typed(p.input.Value())
	}
	return false, cmd
}

// takePaste stores a paste in written if it has several lines or is too long for input. The input
// would join the lines and silently cut them. If written is set already, it appends the paste. It
// reports whether it did.
func (p *prompt) takePaste(text string) bool {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text) // terminals paste line ends as Enter
	if p.written != "" {
		p.written += text
		return true
	}
	typed, index := []rune(p.input.Value()), p.input.Position()
	whole := string(typed[:index]) + text + string(typed[index:])
	if fitsLine(strings.TrimSpace(whole)) {
		return false
	}
	p.written = whole
	return true
}

// fitsLine reports whether a text can be typed unchanged in one line.
func fitsLine(text string) bool {
	return !strings.Contains(text, "\n") && utf8.RuneCountInString(text) <= maxTyped
}

// currentText returns the text that Enter would send.
func (p *prompt) currentText() string {
	if p.written != "" {
		return p.written
	}
	return p.input.Value()
}

// setText sets the text from an editor.
func (p *prompt) setText(text string) {
	text = strings.TrimSpace(text)
	if p.written = ""; !fitsLine(text) {
		p.written = text
		return
	}
	p.input.SetValue(text)
	p.input.CursorEnd()
}

// drawLines returns the prompt as two lines, and the cursor's column in the second.
func (p *prompt) drawLines(width int) (lines [2]string, cursor int) {
	p.input.SetWidth(max(10, width-4))
	lines = [2]string{cutLine(p.label, width), p.input.View()}
	if p.written != "" {
		first, _, _ := strings.Cut(p.written, "\n")
		tail := fmt.Sprintf(" … (%s; Ctrl-G: editor)", company.Count(strings.Count(p.written, "\n")+1, "line"))
		lines[1] = cutLine("> "+safetext.EscapeLine(first, maxTyped), width-termtext.Cells(tail)) + tail
		return lines, 0
	}
	if c := p.input.Cursor(); c != nil {
		cursor = c.X
	}
	return lines, min(cursor, max(0, width-1))
}

// confirmWith returns a prompt that acts only if the text must is typed.
func confirmWith(label, must string, act func() tea.Cmd) *prompt {
	p := newPrompt(label, func(string) tea.Cmd { return act() })
	p.must, p.least = must, len(must)
	return p
}

// searchPrompt returns a prompt that calls typed for each change of the text.
func searchPrompt(label, text string, typed func(string), act func(string) tea.Cmd) *prompt {
	p := newPrompt(label, act)
	p.input.Prompt = "/"
	p.input.SetValue(text)
	p.typed = typed
	return p
}

// promptColor is the colour of a prompt's label.
const promptColor = termtext.Bright
