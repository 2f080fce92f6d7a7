package company

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An instruction has parts where it has at least two and at most so many: more of them help no
// reader.
const (
	maxParts     = 20
	maxPartsText = 32 << 10 // bytes of an instruction that is split
)

// InstructionPart is one part of an instruction: an item of a list, or a sentence. Which of
// them ask for something is the reader's to say.
type InstructionPart struct {
	Text string // in one line, without fenced code
	At   int    // where the text begins, in bytes
	From int    // where the part begins, with the headings above it
	To   int    // where the next part begins
}

// PartsOf splits an instruction; none where it has one part, or more than a reader can check one by
// one.
func PartsOf(instruction string) []InstructionPart {
	if len(instruction) > maxPartsText {
		return nil
	}
	p := partSplitter{headed: -1}
	at, fenced := 0, false
	for line := range strings.Lines(instruction) {
		bare := strings.TrimRight(line, "\r\n")
		inset := strings.TrimSpace(bare)
		item := findItem(bare)
		switch {
		case strings.HasPrefix(inset, "```") || strings.HasPrefix(inset, "~~~"):
			fenced = !fenced
		case fenced: // it stands in the instruction, literally
		case inset == "":
			p.endBlock()
		case isHeading(inset):
			p.endBlock()
			if p.headed < 0 {
				p.headed = at
			}
		case item > 0:
			p.endBlock()
			p.item = true
			p.addFields(bare[item:], at+item, at)
		default:
			p.addFields(bare, at, at)
		}
		at += len(line)
	}
	p.endBlock()
	if len(p.parts) < 2 || len(p.parts) > maxParts {
		return nil
	}
	for i := range p.parts {
		p.parts[i].To = len(instruction)
		if i > 0 {
			p.parts[i-1].To = p.parts[i].From
		}
	}
	p.parts[0].From = 0
	return p.parts
}

// findItem finds where the text of an item begins in a line, behind its sign and a box to tick; 0:
// the line begins none.
func findItem(line string) int {
	rest := strings.TrimLeft(line, " \t")
	sign := strings.TrimLeft(rest, "0123456789")
	switch digits := len(rest) - len(sign); {
	case digits == 0 && strings.IndexAny(sign, "-*+") == 0, digits >= 1 && digits <= 3 && strings.IndexAny(sign, ".)") == 0:
	default:
		return 0
	}
	text := strings.TrimLeft(sign[1:], " \t")
	if text == "" || len(text) == len(sign)-1 { // no blank behind the sign
		return 0
	}
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		if after := strings.TrimLeft(strings.TrimPrefix(text, box), " \t"); strings.HasPrefix(text, box) && after != "" {
			text = after
			break
		}
	}
	return len(line) - len(text)
}

// isHeading reports whether a line is a heading of Markdown.
func isHeading(line string) bool {
	text := strings.TrimLeft(line, "#")
	signs := len(line) - len(text)
	return signs >= 1 && signs <= 6 && strings.IndexAny(text, " \t") == 0
}

// isInitial reports whether a text is the initial of a name.
func isInitial(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) && text[size:] == "."
}

// partSplitter collects a paragraph or an item field by field, and makes parts of it.
type partSplitter struct {
	parts  []InstructionPart
	fields []field
	item   bool // the fields are those of an item of a list
	headed int  // where the headings above the fields begin; below 0: there are none
	begins int  // where the line of the first field begins
}

// field is text between white space, and where it begins.
type field struct {
	text string
	at   int
}

func (p *partSplitter) addFields(text string, at, lineAt int) {
	if len(p.fields) == 0 {
		p.begins = lineAt
	}
	for f := range strings.FieldsSeq(text) {
		i := strings.Index(text, f)
		p.fields = append(p.fields, field{f, at + i})
		text, at = text[i+len(f):], at+i+len(f)
	}
}

// endBlock makes the fields one part, or one part a sentence.
func (p *partSplitter) endBlock() {
	begin, open, left := 0, 0, 0 // open: brackets of the part; left: that close behind it
	for _, f := range p.fields {
		left -= closesBrackets(f.text)
	}
	for i, f := range p.fields {
		open, left = open-closesBrackets(f.text), left+closesBrackets(f.text)
		last := i == len(p.fields)-1
		if !last && (p.item || !(endsSentence(f.text) && beginsSentence(p.fields[i+1].text)) || open > 0 && -left >= open) {
			continue
		}
		open = 0
		p.addPart(p.fields[begin : i+1])
		begin = i + 1
	}
	p.fields, p.item = p.fields[:0], false
	if begin > 0 {
		p.headed = -1
	}
}

// closesBrackets counts how many brackets a text closes beyond those that it opens.
func closesBrackets(text string) int { return strings.Count(text, ")") - strings.Count(text, "(") }

func (p *partSplitter) addPart(fields []field) {
	texts := make([]string, len(fields))
	for i, w := range fields {
		texts[i] = w.text
	}
	part := InstructionPart{Text: strings.Join(texts, " "), At: fields[0].at, From: fields[0].at}
	if fields[0].at == p.fields[0].at { // the first of its block has the headings, and the sign of an item
		part.From = p.begins
		if p.headed >= 0 {
			part.From = p.headed
		}
	}
	p.parts = append(p.parts, part)
}

// abbreviated are abbreviations whose full stop ends no sentence.
var abbreviated = map[string]bool{"e.g.": true, "i.e.": true, "etc.": true, "vs.": true, "cf.": true, "approx.": true, "no.": true, "z.b.": true, "d.h.": true}

// endsSentence reports whether a field ends a sentence where a capital, a quotation or code follows.
func endsSentence(field string) bool {
	bare := strings.TrimRight(field, `)"'”’`+"`")
	r, _ := utf8.DecodeLastRuneInString(bare)
	if !strings.ContainsRune(".!?;。！？", r) {
		return false
	}
	bare = strings.TrimLeft(bare, `("'`)
	return !abbreviated[strings.ToLower(bare)] && !isInitial(bare)
}

func beginsSentence(field string) bool {
	r, _ := utf8.DecodeRuneInString(field)
	return !unicode.IsLower(r)
}

// Parts are the parts of a task's instruction. The text of a follow-up and of an issue is
// written by strangers: it stays where it is quoted, and has none.
func (t *Task) Parts() []InstructionPart {
	if t.Follows != "" || t.Issue != nil {
		return nil
	}
	return PartsOf(t.Instruction)
}

// NumberParts is the instruction with the number of each part before its text, from 1; the
// instruction as it is where it has none.
func (t *Task) NumberParts() (text string, parts int) {
	var b strings.Builder
	at := 0
	list := t.Parts()
	for i, p := range list {
		b.WriteString(t.Instruction[at:p.At] + "[" + itoa(i+1) + "] ")
		at = p.At
	}
	return b.String() + t.Instruction[at:], len(list)
}

// OwnPart is what a ticket carries out of the instruction, as it stands there, with its
// headings. Empty: the plan does not say, or the ticket has no others beside it.
func (t *Task) OwnPart(sub *Subtask) string {
	parts := t.ownParts(sub)
	if len(t.Subtasks) < 2 || len(parts) == 0 {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strings.TrimRight(t.Instruction[p.From:p.To], " \t\r\n") + "\n")
	}
	return b.String()
}

// ownParts are the parts that a ticket's plan names, in the order of the instruction.
func (t *Task) ownParts(sub *Subtask) (own []InstructionPart) {
	for i, p := range t.Parts() {
		if sub.Planned.doesPart(i + 1) {
			own = append(own, p)
		}
	}
	return own
}

// OwnDemands are the texts of the parts that a ticket carries out, where others do the rest.
func (t *Task) OwnDemands(sub *Subtask) (texts []string) {
	if len(t.Subtasks) < 2 {
		return nil
	}
	for _, p := range t.ownParts(sub) {
		texts = append(texts, p.Text)
	}
	return texts
}
