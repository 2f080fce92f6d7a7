package company

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An instruction is split into parts only if it has at least two and at most this many. More parts would not help a
// reader.
const (
	maxParts     = 20
	maxPartsText = 32 << 10 // bytes of an instruction that may be split
)

// InstructionPart is one part of an instruction: an item of a list, or a sentence. The reader decides which parts ask
// for work.
type InstructionPart struct {
	Text string // on one line, without fenced code
	At   int    // byte offset of the text
	From int    // byte offset of the part, including the headings above it
	To   int    // byte offset of the next part
	// Above holds the texts above the part: headings, the items that contain it, and the paragraph before their list.
	Above []TextSpan
}

// TextSpan holds the byte offsets of a piece of text.
type TextSpan struct{ From, To int }

// PartsOf splits an instruction into parts. It returns nil if there is one part, or more than a reader can check one by
// one.
func PartsOf(instruction string) []InstructionPart {
	if len(instruction) > maxPartsText {
		return nil
	}
	p := partSplitter{headed: -1}
	index := 0
	var open codeFence
	unclosed := map[string]int{} // by sign: no fence of this length or longer is closed after this line
	for line := range strings.Lines(instruction) {
		bare := strings.TrimRight(line, "\r\n")
		inset := strings.TrimSpace(bare)
		item := findItem(bare)
		switch fence := readFence(inset); {
		case open.length > 0: // code is part of the instruction as it stands
			if fence.closesFence(open) {
				open = codeFence{}
			}
		case fence.length > 0 && hasClosing(instruction[index+len(line):], fence, unclosed):
			open = fence
		case inset == "":
			p.endBlock()
		case headingLevel(inset) > 0:
			p.endBlock()
			p.addHeading(headingLevel(inset), TextSpan{index, index + len(line)})
		case item > 0:
			p.endBlock()
			p.beginItem(len(bare)-len(strings.TrimLeft(bare, " \t")), index)
			p.addFields(bare[item:], index+item, index)
		default:
			p.addFields(bare, index, index)
		}
		index += len(line)
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
	for i := range p.parts { // a text above a part ends with its own part
		for j, textSpan := range p.parts[i].Above {
			if textSpan.To == 0 {
				p.parts[i].Above[j].To = p.endOf(textSpan.From)
			}
		}
	}
	return p.parts
}

// endOf returns the end of the part that contains the offset from.
func (p *partSplitter) endOf(from int) int {
	for _, part := range p.parts {
		if part.From <= from && from < part.To {
			return part.To
		}
	}
	return from
}

// codeFence is a fence line around code: its sign and length. bare means that no text follows the sign.
type codeFence struct {
	sign   string
	length int
	bare   bool
}

// readFence parses a line without surrounding spaces. It returns the zero value if the line is no fence (CommonMark
// 4.5).
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

// hasClosing reports whether a fence is closed later in the text. An unclosed fence is plain text. It records unclosed
// fences, so that the search is not repeated for many of them.
func hasClosing(text string, open codeFence, unclosed map[string]int) bool {
	if limit := unclosed[open.sign]; limit > 0 && open.length >= limit {
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

// findItem returns the offset of an item's text in a line, after its bullet and check box. It returns 0 if the line
// does not begin an item.
func findItem(line string) int {
	rest := strings.TrimLeft(line, " \t")
	sign := strings.TrimLeft(rest, "0123456789")
	switch digits := len(rest) - len(sign); {
	case digits == 0 && strings.IndexAny(sign, "-*+") == 0,
		digits >= 1 && digits <= 3 && strings.IndexAny(sign, ".)") == 0:
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

// headingLevel returns the level of a Markdown heading, or 0 if the line is no heading.
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

// partSplitter collects the fields of a paragraph or an item, and splits them into parts.
type partSplitter struct {
	parts  []InstructionPart
	fields []field
	item   bool // the fields belong to an item of a list
	headed int  // offset of the headings above the fields; negative if there are none
	begins int  // offset of the line of the first field

	headings []above // headings above the fields, the highest first
	items    []above // items that contain the fields, including the present one
	intro    int     // 1 + offset of the paragraph before the list; 0 if there is none
}

// above is a text above others: a heading with its level, or an item with its indent.
type above struct {
	level int
	span  TextSpan
}

// field is a text without white space, and its offset.
type field struct {
	text string
	at   int
}

// pushAbove adds a text above the following ones. It replaces the texts of the same or a deeper level.
func pushAbove(list []above, a above) []above {
	return append(slices.DeleteFunc(list, func(other above) bool { return other.level >= a.level }), a)
}

func (p *partSplitter) addHeading(level int, span TextSpan) {
	if p.headed < 0 {
		p.headed = span.From
	}
	p.headings, p.items, p.intro = pushAbove(p.headings, above{level, span}), nil, 0
}

func (p *partSplitter) beginItem(indent, index int) {
	p.item = true
	p.items = pushAbove(p.items, above{indent, TextSpan{From: index}})
}

func (p *partSplitter) addFields(text string, index, lineAt int) {
	if len(p.fields) == 0 {
		p.begins = lineAt
	}
	for f := range strings.FieldsSeq(text) {
		i := strings.Index(text, f)
		p.fields = append(p.fields, field{f, index + i})
		text, index = text[i+len(f):], index+i+len(f)
	}
}

// endBlock turns the fields into one part (an item) or one part a sentence (a paragraph).
func (p *partSplitter) endBlock() {
	if len(p.fields) > 0 && !p.item { // a paragraph ends a list, and may introduce one
		p.items, p.intro = nil, 0
	}
	begin, open, left := 0, 0, 0 // open: brackets open in this part; left: brackets closed later
	for _, f := range p.fields {
		left -= closesBrackets(f.text)
	}
	for i, field := range p.fields {
		open, left = open-closesBrackets(field.text), left+closesBrackets(field.text)
		last := i == len(p.fields)-1
		if !last && (p.item || !(endsSentence(field.text) && beginsSentence(p.fields[i+1].text)) ||
			open > 0 && -left >= open) {
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

// closesBrackets returns how many more brackets a text closes than it opens.
func closesBrackets(text string) int { return strings.Count(text, ")") - strings.Count(text, "(") }

func (p *partSplitter) addPart(fields []field) {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.text
	}
	part := InstructionPart{Text: strings.Join(texts, " "), At: fields[0].at, From: fields[0].at}
	if fields[0].at == p.fields[0].at { // the first part of a block includes the headings and the item's bullet
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

// abbreviated holds abbreviations whose full stop does not end a sentence.
var abbreviated = map[string]bool{"e.g.": true, "i.e.": true, "etc.": true, "vs.": true, "cf.": true, "approx.": true,
	"no.": true, "z.b.": true, "d.h.": true}

// endsSentence reports whether a field ends a sentence if a capital letter, a quotation or code follows.
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

// Parts returns the parts of a task's instruction. It returns nil for a follow-up or an issue, because strangers wrote
// that text, so it must stay where it is quoted.
func (t *Task) Parts() []InstructionPart {
	if t.Follows != "" || t.Issue != nil {
		return nil
	}
	return PartsOf(t.Instruction)
}

// NumberParts returns the instruction with the number of each part before its text, from 1. It returns the instruction
// unchanged if it has no parts.
func (t *Task) NumberParts() (text string, parts int) {
	var b strings.Builder
	index := 0
	list := t.Parts()
	for i, part := range list {
		b.WriteString(t.Instruction[index:part.At] + "[" + itoa(i+1) + "] ")
		index = part.At
	}
	return b.String() + t.Instruction[index:], len(list)
}

// OwnPart returns the text of the instruction that a ticket carries out, with the headings and texts above it. It is
// empty if the plan does not tell, or if there is no other ticket.
func (t *Task) OwnPart(sub *Subtask) string {
	var spans []TextSpan
	for _, p := range t.ownParts(sub) {
		spans = append(append(spans, TextSpan{p.From, p.To}), p.Above...)
	}
	slices.SortFunc(spans, func(a, b TextSpan) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	var b strings.Builder
	end := 0
	for _, textSpan := range spans {
		if textSpan.From = max(textSpan.From, end); textSpan.From < textSpan.To {
			b.WriteString(strings.TrimRight(t.Instruction[textSpan.From:textSpan.To], " \t\r\n") + "\n")
			end = textSpan.To
		}
	}
	return b.String()
}

// ownParts returns the parts that the plan assigns to a ticket, in the order of the instruction. It returns nil if
// there is no other ticket.
func (t *Task) ownParts(sub *Subtask) (own []InstructionPart) {
	if len(t.Subtasks) < 2 {
		return nil
	}
	for i, part := range t.Parts() {
		if sub.Planned.doesPart(i + 1) {
			own = append(own, part)
		}
	}
	return own
}

// OwnDemands returns the texts of the parts that a ticket carries out. It returns nil if there is no other ticket.
func (t *Task) OwnDemands(sub *Subtask) (texts []string) {
	for _, p := range t.ownParts(sub) {
		texts = append(texts, p.Text)
	}
	return texts
}
