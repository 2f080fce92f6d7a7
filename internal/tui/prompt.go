package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// maxTyped is how many characters can be typed at a prompt.
const maxTyped = 4000

// prompt is a line at the foot of the screen that asks for a text. Nothing is done before
// Enter, and nothing at all after Esc.
type prompt struct {
	label string // what Enter does, in a line
	input textinput.Model
	must  string // text that confirms; empty: any text does
	least int    // characters that the text has at least
	words bool   // the text can be written in an editor
	// written is a text of several lines from an editor; the input is not used then.
	written string

	act    func(text string) tea.Cmd
	typed  func(text string) // for each change
	cancel func()            // for Esc
}

func newPrompt(label string, act func(string) tea.Cmd) *prompt {
	in := textinput.New()
	in.Prompt, in.CharLimit = "> ", maxTyped
	in.KeyMap.Paste = key.NewBinding(key.WithDisabled()) // it would start a program; terminals paste by themselves
	in.SetVirtualCursor(false)
	in.SetStyles(textinput.Styles{})
	in.Focus()
	return &prompt{label: label, input: in, act: act}
}

// pressKey takes a key, and says whether the prompt is done with.
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

// takePaste takes a paste that a line of the terminal cannot hold, because it has several lines
// or is too long, as a text from an editor: the line would join its lines, and cut it
// silently. It reports whether it did.
func (p *prompt) takePaste(text string) bool {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text) // terminals paste line ends as Enter
	if p.written != "" {
		p.written += text
		return true
	}
	typed, at := []rune(p.input.Value()), p.input.Position()
	whole := string(typed[:at]) + text + string(typed[at:])
	if fitsLine(strings.TrimSpace(whole)) {
		return false
	}
	p.written = whole
	return true
}

// fitsLine reports whether a text can be typed in a line, as it is.
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

// setText takes a text from an editor.
func (p *prompt) setText(text string) {
	text = strings.TrimSpace(text)
	if p.written = ""; !fitsLine(text) {
		p.written = text
		return
	}
	p.input.SetValue(text)
	p.input.CursorEnd()
}

// drawLines is the prompt in two lines, and the cell of the cursor in the second.
func (p *prompt) drawLines(width int) (lines [2]string, cursor int) {
	p.input.SetWidth(max(10, width-4))
	lines = [2]string{cutLine(p.label, width), p.input.View()}
	if p.written != "" {
		first, _, _ := strings.Cut(p.written, "\n")
		tail := fmt.Sprintf(" … (%s; Ctrl-G: editor)", company.Count(strings.Count(p.written, "\n")+1, "line"))
		lines[1] = cutLine("> "+safetext.EscapeLine(first, maxTyped), width-screen.Cells(tail)) + tail
		return lines, 0
	}
	if c := p.input.Cursor(); c != nil {
		cursor = c.X
	}
	return lines, min(cursor, max(0, width-1))
}

// confirmWith makes a prompt that acts on one text alone.
func confirmWith(label, must string, act func() tea.Cmd) *prompt {
	p := newPrompt(label, func(string) tea.Cmd { return act() })
	p.must, p.least = must, len(must)
	return p
}

// searchPrompt makes a prompt whose text is used while it is typed.
func searchPrompt(label, text string, typed func(string), act func(string) tea.Cmd) *prompt {
	p := newPrompt(label, act)
	p.input.Prompt = "/"
	p.input.SetValue(text)
	p.typed = typed
	return p
}

// promptColor is that of the line that says what Enter does.
const promptColor = screen.Bright
