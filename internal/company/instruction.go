package company

import (
	"cmp"
	"slices"
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
	// Above are the texts under which the part stands: headings, the items that it is an item
	// of, and the paragraph before their list.
	Above []TextSpan
}

// TextSpan is where a piece of a text begins and ends, in bytes.
type TextSpan struct{ From, To int }

// PartsOf splits an instruction; none where it has one part, or more than a reader can check one by
// one.
func PartsOf(instruction string) []InstructionPart {
	if len(instruction) > maxPartsText {
		return nil
	}
	p := partSplitter{headed: -1}
	at := 0
	var open codeFence
	unclosed := map[string]int{} // by sign: fences of so many or more are closed nowhere behind here
	for line := range strings.Lines(instruction) {
		bare := strings.TrimRight(line, "\r\n")
		inset := strings.TrimSpace(bare)
		item := findItem(bare)
		switch fence := readFence(inset); {
		case open.length > 0: // it stands in the instruction, literally
			if fence.closesFence(open) {
				open = codeFence{}
			}
		case fence.length > 0 && hasClosing(instruction[at+len(line):], fence, unclosed):
			open = fence
		case inset == "":
			p.endBlock()
		case headingLevel(inset) > 0:
			p.endBlock()
			p.addHeading(headingLevel(inset), TextSpan{at, at + len(line)})
		case item > 0:
			p.endBlock()
			p.beginItem(len(bare)-len(strings.TrimLeft(bare, " \t")), at)
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
	for i := range p.parts { // a text above a part ends where the part that it is ends
		for j, s := range p.parts[i].Above {
			if s.To == 0 {
				p.parts[i].Above[j].To = p.endOf(s.From)
			}
		}
	}
	return p.parts
}

// endOf is where the part ends that has an item or a paragraph from here on.
func (p *partSplitter) endOf(from int) int {
	for _, part := range p.parts {
		if part.From <= from && from < part.To {
			return part.To
		}
	}
	return from
}

// codeFence is the line around code: its sign, and how often it stands there. Bare: nothing is behind it.
type codeFence struct {
	sign   string
	length int
	bare   bool
}

// readFence reads a line without the blanks around it; the zero value: it is no fence (CommonMark 4.5).
func readFence(line string) codeFence {
	for _, sign := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, sign)
		if n := len(line) - len(rest); n >= 3 && (sign == "~" || !strings.Contains(rest, "`")) {
			return codeFence{sign, n, rest == ""}
		}
	}
	return codeFence{}
}

func (f codeFence) closesFence(open codeFence) bool {
	return f.bare && f.sign == open.sign && f.length >= open.length
}

// hasClosing reports whether a fence is closed in the text behind it: one that is not is text. It notes those
// that are not, so that many of them are not looked for again.
func hasClosing(text string, open codeFence, unclosed map[string]int) bool {
	if most := unclosed[open.sign]; most > 0 && open.length >= most {
		return false
	}
	for line := range strings.Lines(text) {
		if readFence(strings.TrimSpace(line)).closesFence(open) {
			return true
		}
	}
	unclosed[open.sign] = open.length
	return false
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

// headingLevel is the level of a heading of Markdown; 0: the line is none.
func headingLevel(line string) int {
	text := strings.TrimLeft(line, "#")
	if signs := len(line) - len(text); signs >= 1 && signs <= 6 && strings.IndexAny(text, " \t") == 0 {
		return signs
	}
	return 0
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

	headings []above // that hold for the fields, the highest first
	items    []above // that the fields are below, with the present one
	intro    int     // 1 + where the paragraph before the list begins; 0: there is none
}

// above is a text under which others stand: a heading of a level, or an item at an indent.
type above struct {
	level int
	span  TextSpan
}

// field is text between white space, and where it begins.
type field struct {
	text string
	at   int
}

// pushAbove has a text stand above the ones that follow, in the place of those of its level and below.
func pushAbove(list []above, a above) []above {
	return append(slices.DeleteFunc(list, func(other above) bool { return other.level >= a.level }), a)
}

func (p *partSplitter) addHeading(level int, span TextSpan) {
	if p.headed < 0 {
		p.headed = span.From
	}
	p.headings, p.items, p.intro = pushAbove(p.headings, above{level, span}), nil, 0
}

func (p *partSplitter) beginItem(indent, at int) {
	p.item = true
	p.items = pushAbove(p.items, above{indent, TextSpan{From: at}})
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
	if len(p.fields) > 0 && !p.item { // a paragraph ends lists, and may begin one
		p.items, p.intro = nil, 0
	}
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
	if begin > 0 {
		p.headed = -1
		if last := p.parts[len(p.parts)-1]; !p.item && strings.HasSuffix(last.Text, ":") {
			p.intro = 1 + last.At
		}
	}
	p.fields, p.item = p.fields[:0], false
}

// closesBrackets counts how many brackets a text closes beyond those that it opens.
func closesBrackets(text string) int { return strings.Count(text, ")") - strings.Count(text, "(") }

func (p *partSplitter) addPart(fields []field) {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.text
	}
	part := InstructionPart{Text: strings.Join(texts, " "), At: fields[0].at, From: fields[0].at}
	if fields[0].at == p.fields[0].at { // the first of its block has the headings, and the sign of an item
		part.From = p.begins
		if p.headed >= 0 {
			part.From = p.headed
		}
	}
	for _, h := range p.headings {
		part.Above = append(part.Above, h.span)
	}
	if p.item && p.intro > 0 {
		part.Above = append(part.Above, TextSpan{From: p.intro - 1})
	}
	for _, item := range p.items[:max(0, len(p.items)-1)] {
		part.Above = append(part.Above, item.span)
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

// OwnPart is what a ticket carries out of the instruction, as it stands there, with the headings
// and the texts above it. Empty: the plan does not say, or the ticket has no others beside it.
func (t *Task) OwnPart(sub *Subtask) string {
	var spans []TextSpan
	for _, p := range t.ownParts(sub) {
		spans = append(append(spans, TextSpan{p.From, p.To}), p.Above...)
	}
	slices.SortFunc(spans, func(a, b TextSpan) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	var b strings.Builder
	end := 0
	for _, s := range spans {
		if s.From = max(s.From, end); s.From < s.To {
			b.WriteString(strings.TrimRight(t.Instruction[s.From:s.To], " \t\r\n") + "\n")
			end = s.To
		}
	}
	return b.String()
}

// ownParts are the parts that a ticket's plan names, in the order of the instruction; none where there is
// no other ticket.
func (t *Task) ownParts(sub *Subtask) (own []InstructionPart) {
	if len(t.Subtasks) < 2 {
		return nil
	}
	for i, p := range t.Parts() {
		if sub.Planned.doesPart(i + 1) {
			own = append(own, p)
		}
	}
	return own
}

// OwnDemands are the texts of the parts that a ticket carries out, where others do the rest.
func (t *Task) OwnDemands(sub *Subtask) (texts []string) {
	for _, p := range t.ownParts(sub) {
		texts = append(texts, p.Text)
	}
	return texts
}
